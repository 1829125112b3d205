// Reads cases and compares results.
#include "tests/conformance/case.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/errors/status.h"
#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"

namespace hlod::testing {
namespace {

using hlo::Literal;
using nlohmann::json;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("%s cannot be read", path);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

// Returns the text between `before` and `after` in a .npy header.
std::string Between(const std::string& header, std::string_view before, std::string_view after) {
  const size_t begin = header.find(before);
  if (begin == std::string::npos) return "";
  const size_t start = begin + before.size();
  return header.substr(start, header.find(after, start) - start);
}

absl::StatusOr<std::vector<Literal>> ReadArrays(const std::string& folder, const std::string& prefix,
                                                const json& entries) {
  std::vector<Literal> arrays;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string dtype = entries[i].at("dtype");
    const std::optional<hlo::PrimitiveType> type = hlo::ParsePrimitiveType(dtype);
    if (!type.has_value()) return DataLoss("%s: unknown element type %s", folder, dtype);
    ASSIGN_OR_RETURN(Literal array, ReadNpy(absl::StrFormat("%s/%s%d.npy", folder, prefix, i), *type));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

absl::Status Fill(const json& record, Case& result) {
  result.name = record.at("name");
  result.about = record.at("about");
  ASSIGN_OR_RETURN(result.arguments, ReadArrays(result.folder, "arg", record.at("parameters")));
  ASSIGN_OR_RETURN(result.expected, ReadArrays(result.folder, "out", record.at("results")));
  for (const json& entry : record.at("results")) {
    const json& rule = entry.at("tolerance");
    result.tolerances.push_back({.rtol = rule.at("rtol"), .atol = rule.at("atol")});
  }
  for (const json& entry : record.at("donated")) {
    result.donated.push_back({.result = entry.at("result"),
                              .parameter = entry.at("parameter"),
                              .must = entry.at("kind") == "must"});
  }
  result.opcodes = record.at("opcodes");
  return absl::OkStatus();
}

template <typename T>
std::complex<double> Number(T value) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  } else if constexpr (hlo::kIsSmallFloat<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

bool IsNan(std::complex<double> z) { return std::isnan(z.real()) || std::isnan(z.imag()); }

// Returns the part of the tolerance that an element uses; above 1 it does not match.
double Used(std::complex<double> got, std::complex<double> want, bool same_bits, const Tolerance& tolerance) {
  if (same_bits || (IsNan(got) && IsNan(want))) return 0;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (tolerance.exact()) return kInfinite;
  if (got == want) return 0;
  const double used = std::abs(got - want) / (tolerance.atol + tolerance.rtol * std::abs(want));
  return std::isnan(used) ? kInfinite : used;
}

std::string Show(std::complex<double> z, hlo::PrimitiveType type) {
  return hlo::IsComplex(type) ? absl::StrFormat("%.9g%+.9gi", z.real(), z.imag())
                              : absl::StrFormat("%.17g", z.real());
}

}  // namespace

std::vector<std::string> CaseNames(std::string_view corpus) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(CasesDir(corpus), error)) {
    if (std::filesystem::exists(entry.path() / "case.json", error)) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Case> LoadCase(std::string_view name, std::string_view corpus) {
  Case result;
  result.folder = (CasesDir(corpus) / name).string();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(result.folder + "/case.json"));
  const std::string proto = result.folder + "/module.pb", module_text = result.folder + "/module.txt";
  if (std::filesystem::exists(module_text)) {
    ASSIGN_OR_RETURN(result.module_text, ReadFile(module_text));
  }
  if (result.module_text.empty() || std::filesystem::exists(proto)) {
    ASSIGN_OR_RETURN(result.module_proto, ReadFile(proto));
  }
  try {
    RETURN_IF_ERROR(Fill(json::parse(text), result));
  } catch (const json::exception& error) {
    return DataLoss("%s/case.json: %s", result.folder, error.what());
  }
  return result;
}

absl::StatusOr<Literal> ReadNpy(const std::string& path, hlo::PrimitiveType type) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (bytes.size() < 10 || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0) {
    return DataLoss("%s is no .npy file of version 1.0", path);
  }
  const size_t length = static_cast<uint8_t>(bytes[8]) + 256u * static_cast<uint8_t>(bytes[9]);
  const std::string header = bytes.substr(10, length);
  const std::string_view payload = std::string_view(bytes).substr(std::min(bytes.size(), 10 + length));
  if (Between(header, "'fortran_order': ", ",") != "False")
    return DataLoss("%s is not in C order: %s", path, header);
  hlo::Shape shape{.type = type};
  std::istringstream sizes(Between(header, "'shape': (", ")"));
  for (std::string size; std::getline(sizes, size, ',');) {
    if (size.find_first_of("0123456789") != std::string::npos) shape.dims.push_back(std::stoll(size));
  }
  ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape, int64_t{1} << 30));
  if (payload.size() != literal.bytes().size()) {
    return DataLoss("%s holds %d bytes, and %s takes %d", path, payload.size(), ToString(shape),
                    literal.bytes().size());
  }
  std::memcpy(literal.bytes().data(), payload.data(), payload.size());
  return literal;
}

absl::Status CompareArrays(const Literal& got, const Literal& want, const Tolerance& tolerance) {
  if (!Compatible(got.shape(), want.shape())) {
    return InvalidArgument("got %s, want %s", ToStringNoLayout(got.shape()), ToStringNoLayout(want.shape()));
  }
  const hlo::PrimitiveType type = want.shape().type;
  int64_t wrong = 0, first = -1, worst = -1;
  double worst_used = 0;
  const auto used_at = [&]<typename T>(int64_t i) {
    const T a = got.data<T>()[i], b = want.data<T>()[i];
    return Used(Number(a), Number(b), std::memcmp(&a, &b, sizeof(T)) == 0, tolerance);
  };
  hlo::VisitType(type, [&]<typename T>() {
    for (int64_t i = 0; i < want.element_count(); ++i) {
      const double used = used_at.template operator()<T>(i);
      if (used <= 1) continue;
      ++wrong;
      if (first < 0) first = i;
      if (worst < 0 || used > worst_used) worst = i, worst_used = used;
    }
  });
  if (wrong == 0) return absl::OkStatus();
  std::string message =
      absl::StrFormat("%d of %d elements of %s differ (rtol %g, atol %g)", wrong, want.element_count(),
                      ToStringNoLayout(want.shape()), tolerance.rtol, tolerance.atol);
  hlo::VisitType(type, [&]<typename T>() {
    for (int64_t i : {first, worst}) {
      absl::StrAppendFormat(&message, "; [%d] got %s, want %s (%.3g of the tolerance)", i,
                            Show(Number(got.data<T>()[i]), type), Show(Number(want.data<T>()[i]), type),
                            used_at.template operator()<T>(i));
    }
  });
  return absl::InvalidArgumentError(message);
}

absl::Status CompareResult(const Literal& got, const Case& want) {
  const std::vector<const Literal*> leaves = got.Leaves();
  if (leaves.size() != want.expected.size()) {
    return InvalidArgument("got %d leaves, want %d", leaves.size(), want.expected.size());
  }
  std::string message;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const absl::Status status = CompareArrays(*leaves[i], want.expected[i], want.tolerances[i]);
    if (!status.ok()) absl::StrAppendFormat(&message, "result %d: %s\n", i, FromAbsl(status.message()));
  }
  return message.empty() ? absl::OkStatus() : absl::InvalidArgumentError(message);
}

hlo::Literal PartOf(const Literal& all, size_t participant) {
  hlo::Shape shape = all.shape();
  shape.dims.erase(shape.dims.begin());
  shape.layout.reset();
  Literal part(shape);
  std::memcpy(part.bytes().data(), all.bytes().data() + participant * part.bytes().size(),
              part.bytes().size());
  return part;
}

}  // namespace hlod::testing

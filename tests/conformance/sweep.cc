// Reads sweeps and compares their results.
#include "tests/conformance/sweep.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "tests/support/source_dir.h"

namespace hlod::testing {
namespace {

using hlo::Literal;

std::filesystem::path Root() { return SourceDir() / "tests/conformance/sweep/data"; }

// Reads lines of words, each followed by the number of bytes that its last word states and a line end.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : file_(path, std::ios::binary) {}
  // Returns false at the end.
  bool NextLine(std::vector<std::string>& words) {
    std::string line;
    if (!std::getline(file_, line)) return false;
    words = absl::StrSplit(line, ' ');
    return true;
  }
  absl::StatusOr<std::string> Payload(const std::string& size) {
    int64_t bytes = -1;
    if (!absl::SimpleAtoi(size, &bytes) || bytes < 0) return DataLoss("%s is not a size", size);
    std::string payload(static_cast<size_t>(bytes), '\0');
    if (!file_.read(payload.data(), bytes) || file_.get() != '\n') {
      return DataLoss("a payload of %d bytes is cut off", bytes);
    }
    return payload;
  }

 private:
  std::ifstream file_;
};

// `text` is a shape such as "f32[2,3]".
absl::StatusOr<Literal> MakeLiteral(const std::string& text, const std::string& bytes) {
  const size_t bracket = text.find('[');
  const std::optional<hlo::PrimitiveType> type = hlo::ParsePrimitiveType(text.substr(0, bracket));
  if (!type || bracket == std::string::npos) return DataLoss("%s is not a shape", text);
  hlo::Shape shape{.type = *type};
  std::istringstream sizes(text.substr(bracket + 1, text.size() - bracket - 2));
  for (std::string size; std::getline(sizes, size, ',');) shape.dims.push_back(std::stoll(size));
  ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape, int64_t{1} << 24));
  if (literal.bytes().size() != bytes.size()) return DataLoss("%s has %d bytes", text, bytes.size());
  std::memcpy(literal.bytes().data(), bytes.data(), bytes.size());
  return literal;
}

// Returns the tolerance of a type as the design states it; for f8 two steps of its mantissa.
template <typename T>
double Relative() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>) return 1e-5;
  else if constexpr (std::is_same_v<T, hlo::BF16>) return 2e-2;
  else if constexpr (std::is_same_v<T, hlo::F16>) return 4e-3;
  else if constexpr (hlo::kIsSmallFloat<T>) return std::ldexp(1.0, -T::kMantissaBits);
  else return 1e-12;
}
template <typename T>
double SmallestNormal() {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>) return 2.3e-308;
  else if constexpr (std::is_same_v<T, hlo::F16>) return 6.2e-5;
  else if constexpr (hlo::kIsSmallFloat<T> && sizeof(T) == 1)
    return std::ldexp(1.0, 2 - (1 << (T::kExponentBits - 1)));
  else return 1.2e-38;
}

template <typename T>
bool Matches(T got, T want, bool exact, double scale) {
  if (std::memcmp(&got, &want, sizeof(T)) == 0) return true;
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    const auto nan = [](T z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
    if (exact) return Matches(got.real(), want.real(), true, 0) && Matches(got.imag(), want.imag(), true, 0);
    if (nan(want) || nan(got)) return nan(want) == nan(got);
    return got == want ||
           std::abs(got - want) <=
               SmallestNormal<T>() + Relative<T>() * (scale + static_cast<double>(std::abs(want)));
  } else if constexpr (hlo::kIsSmallFloat<T> || std::is_floating_point_v<T>) {
    const auto a = static_cast<double>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(got)),
               b = static_cast<double>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(want));
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    // XLA's CPU backend flushes subnormal results to zero.
    if (b == 0 && std::abs(a) < SmallestNormal<T>()) return std::signbit(a) == std::signbit(b) || scale > 0;
    if (exact) return false;
    return a == b || (std::isfinite(a) && std::isfinite(b) &&
                      std::abs(a - b) <= SmallestNormal<T>() + Relative<T>() * (scale + std::abs(b)));
  } else {
    return false;
  }
}

// Returns the largest finite magnitude, which sums with cancelling terms are measured by.
template <typename T>
double Scale(absl::Span<const T> values) {
  double scale = 0;
  for (const T value : values) {
    double magnitude = 0;
    if constexpr (hlo::kIsSmallFloat<T>) magnitude = std::abs(static_cast<float>(value));
    else if constexpr (!hlo::kIsSmallInt<T>)
      magnitude = static_cast<double>(std::abs(std::complex<double>(value)));
    if (std::isfinite(magnitude)) scale = std::max(scale, magnitude);
  }
  return scale;
}

template <typename T>
std::string Show(T value) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return absl::StrFormat("%.9g%+.9gi", value.real(), value.imag());
  else if constexpr (hlo::kIsSmallFloat<T>) return absl::StrFormat("%.9g", static_cast<float>(value));
  else if constexpr (hlo::kIsSmallInt<T>) return absl::StrFormat("%d", static_cast<int>(value));
  else if constexpr (std::is_floating_point_v<T>) return absl::StrFormat("%.17g", value);
  else return absl::StrFormat("%d", value);
}

}  // namespace

absl::StatusOr<std::vector<SweepModule>> LoadSweep(std::string_view family) {
  Reader reader(Root() / absl::StrFormat("%s.sweep", family));
  std::vector<Literal> arrays;
  std::vector<SweepModule> modules;
  for (std::vector<std::string> words; reader.NextLine(words);) {
    if (words[0] == "refused") continue;
    if (words.size() < 3) return DataLoss("%s.sweep: a line of %d words", family, words.size());
    ASSIGN_OR_RETURN(const std::string payload, reader.Payload(words.back()));
    if (words[0] == "array") {
      ASSIGN_OR_RETURN(Literal array, MakeLiteral(words[1], payload));
      arrays.push_back(std::move(array));
    } else if (words[0] == "module") {
      SweepModule& module = modules.emplace_back();
      module.name = words[1];
      module.text = payload;
      if (words[2] == "-") continue;  // "-": no arguments.
      for (const auto number : absl::StrSplit(words[2], ',')) {
        size_t index = 0;
        if (!absl::SimpleAtoi(number, &index) || index >= arrays.size())
          return DataLoss("%s: array %s is unknown", module.name, FromAbsl(number));
        module.arguments.push_back(arrays[index]);
      }
    } else if (words[0] == "result" && !modules.empty()) {
      ASSIGN_OR_RETURN(Literal expected, MakeLiteral(words[3], payload));
      const SweepRule rule = words[2] == "exact"  ? SweepRule::kExact
                             : words[2] == "near" ? SweepRule::kNear
                                                  : SweepRule::kSum;
      modules.back().results.push_back({words[1], rule, std::move(expected)});
    } else {
      return DataLoss("%s.sweep: unknown line %s", family, words[0]);
    }
  }
  if (modules.empty()) return NotFound("%s.sweep is missing or empty", family);
  return modules;
}

std::vector<std::string> SweepFamilies() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(Root(), error)) {
    if (entry.path().extension() == ".sweep") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string SweepDifference(const Literal& got, const SweepResult& want) {
  if (!Compatible(got.shape(), want.expected.shape())) {
    return absl::StrFormat("the shape is %s, not %s", ToStringNoLayout(got.shape()),
                           ToStringNoLayout(want.expected.shape()));
  }
  int64_t wrong = 0;
  std::string text;
  hlo::VisitType(got.shape().type, [&]<typename T>() {
    const auto a = got.data<T>(), b = want.expected.data<T>();
    const double scale = want.rule == SweepRule::kSum ? Scale<T>(b) : 0;
    for (int64_t i = 0; i < want.expected.element_count(); ++i) {
      if (Matches<T>(a[i], b[i], want.rule == SweepRule::kExact, scale)) continue;
      if (++wrong <= 3) absl::StrAppendFormat(&text, "; [%d] is %s, not %s", i, Show(a[i]), Show(b[i]));
    }
  });
  if (wrong == 0) return "";
  return absl::StrFormat("%d of %d elements differ%s", wrong, want.expected.element_count(), text);
}

}  // namespace hlod::testing

// Writes numbers, lists of them, or bytes.
#include "client/import/program/dense_text.h"

#include <cmath>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/import/program/attribute_text.h"
#include "client/import/program/elements.h"

namespace hlod::stablehlo {
namespace {

// The largest number of elements that are written as numbers, for people to read.
constexpr int64_t kNumbersMax = 64;

// Returns a float by its digits, with a point, or by its bits: the two forms that MLIR accepts.
std::string FloatText(double value, uint64_t bits, int width, bool is_double) {
  if (!std::isfinite(value)) return absl::StrFormat("0x%0*X", width / 4, bits);
  return is_double ? absl::StrFormat("%.16e", value) : absl::StrFormat("%.8e", value);
}

template <typename T>
std::string ElementText(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return absl::StrCat(value);
  } else if constexpr (hlo::kIsSmallInt<T>) {
    return absl::StrCat(static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return absl::StrCat("(", ElementText(value.real()), ", ", ElementText(value.imag()), ")");
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return FloatText(static_cast<double>(value), bits, 8 * sizeof(T), std::is_same_v<T, double>);
  } else {
    // Floats below 32 bits: not every reader rounds their digits alike.
    return absl::StrFormat("0x%X", static_cast<uint64_t>(value.bits()));
  }
}

// Appends "[[1, 2], [3, 4]]", the elements from `next` on. Advances `next`.
template <typename T>
void AppendList(const hlo::Shape& shape, size_t dimension, const T*& next, std::string& text) {
  if (dimension == shape.dims.size()) return absl::StrAppend(&text, ElementText(*next++));
  text += '[';
  for (int64_t i = 0; i < shape.dims[dimension]; ++i) {
    if (i > 0) text += ", ";
    AppendList(shape, dimension + 1, next, text);
  }
  text += ']';
}

std::string ElementsText(const hlo::Literal& literal) {
  const int64_t count = literal.element_count();
  if (count == 0) return "";
  std::string text;
  const bool is_one = IsOneValue(literal);
  // Versions of MLIR differ in the bytes of bools.
  if (!is_one && count > kNumbersMax && literal.shape().type != hlo::kPred) {
    for (const std::byte byte : literal.bytes()) absl::StrAppendFormat(&text, "%02X", static_cast<int>(byte));
    return absl::StrCat("\"0x", text, "\"");
  }
  hlo::VisitType(literal.shape().type, [&]<typename T>() {
    const T* next = literal.data<T>().data();
    if (is_one) {
      text = ElementText(*next);
    } else {
      AppendList(literal.shape(), 0, next, text);
    }
  });
  return text;
}

}  // namespace

std::string DenseText(const hlo::Literal& literal) {
  return absl::StrCat("dense<", ElementsText(literal), "> : ", TypeText(literal.shape()));
}

std::string DenseText(const Splat& splat) {
  return absl::StrCat("dense<", ElementsText(splat.element), "> : ", TypeText(splat.type));
}

}  // namespace hlod::stablehlo

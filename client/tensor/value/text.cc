// Tensors as text, summarised when they are large.
#include "client/tensor/value/text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/hlo/text/text.h"

namespace hlod::lazy {
namespace {

constexpr int64_t kSummarisedAbove = 1000;
constexpr int64_t kEdge = 3;

std::string ElementText(const Literal& literal, int64_t index) {
  const PrimitiveType type = literal.shape().type;
  if (type == hlo::kPred) return literal.data<bool>()[index] ? "true" : "false";
  if (type == hlo::kS64) return absl::StrCat(literal.data<int64_t>()[index]);
  if (type == hlo::kU64) return absl::StrCat(literal.data<uint64_t>()[index]);
  if (hlo::IsInteger(type)) return absl::StrCat(static_cast<int64_t>(hlo::ElementAsDouble(literal, index)));
  if (type == hlo::kC64) {
    const std::complex<float> value = literal.data<std::complex<float>>()[index];
    return absl::StrFormat("%g%+gj", value.real(), value.imag());
  }
  if (type == hlo::kC128) {
    const std::complex<double> value = literal.data<std::complex<double>>()[index];
    return absl::StrFormat("%g%+gj", value.real(), value.imag());
  }
  const double value = hlo::ElementAsDouble(literal, index);
  return std::isnan(value) ? "nan" : absl::StrFormat("%.6g", value);  // NaN is printed without a sign.
}

// `indent`: the width of what stands before the text.
void Append(const Literal& literal, size_t dim, int64_t offset, int64_t stride, bool summarise,
            size_t indent, std::string& text) {
  const Dims& dims = literal.shape().dims;
  if (dim == dims.size()) {
    text += ElementText(literal, offset);
    return;
  }
  const int64_t size = dims[dim], inner = size == 0 ? 0 : stride / size;
  text += '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) text += dim + 1 < dims.size() ? absl::StrCat(",\n", std::string(dim + 1 + indent, ' ')) : ", ";
    if (summarise && size > 2 * kEdge && i == kEdge) {
      text += "...";
      i = size - kEdge - 1;
      continue;
    }
    Append(literal, dim + 1, offset + i * inner, inner, summarise, indent, text);
  }
  text += ']';
}

}  // namespace

std::string ValueText(const Literal& literal) {
  std::string text;
  const bool summarise = literal.element_count() > kSummarisedAbove;
  Append(literal, 0, 0, literal.element_count(), summarise, 0, text);
  return text;
}

std::string TensorText(const Literal& literal) {
  constexpr std::string_view kOpening = "tensor(";
  std::string text(kOpening);
  const bool summarise = literal.element_count() > kSummarisedAbove;
  Append(literal, 0, 0, literal.element_count(), summarise, kOpening.size(), text);
  return absl::StrCat(text, ", ", hlo::ToStringNoLayout(literal.shape()), ")");
}

}  // namespace hlod::lazy

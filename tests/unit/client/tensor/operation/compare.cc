// Tolerances depend on the type: PyTorch uses other approximations and sums in another order.
#include "tests/unit/client/tensor/operation/compare.h"

#include <cmath>
#include <complex>
#include <vector>

#include "absl/strings/str_format.h"
#include "common/base/text/strings.h"

namespace hlod {
namespace {

using nlohmann::json;

struct Tolerance {
  double relative = 0, absolute = 0;
};
Tolerance ToleranceOf(PrimitiveType type) {
  switch (type) {
    case kBF16: return {1.6e-2, 1e-2};
    case kF16: return {2e-3, 1e-3};
    case kF32:
    case kC64: return {1e-5, 1e-5};
    case kF64:
    case kC128: return {1e-7, 1e-7};
    default: return {};
  }
}

bool Near(double x, double y, const Tolerance& tolerance) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  return std::abs(x - y) <= tolerance.absolute + tolerance.relative * std::abs(x);
}

std::vector<std::complex<double>> Elements(const Literal& literal) {
  std::vector<std::complex<double>> elements;
  const PrimitiveType type = literal.shape().type;
  if (type == hlo::kS64) {  // Integers are compared exactly.
    for (const int64_t value : literal.data<int64_t>()) elements.emplace_back(static_cast<double>(value));
    return elements;
  }
  const Literal exact = hlo::Convert(literal, hlo::kC128).value();
  const auto data = exact.data<std::complex<double>>();
  return {data.begin(), data.end()};
}

std::string DifferenceOfArrays(const Literal& expected, const Literal& actual, double slack) {
  if (!(expected.shape() == actual.shape())) {
    return absl::StrFormat("%s instead of %s", hlo::ToStringNoLayout(actual.shape()),
                           hlo::ToStringNoLayout(expected.shape()));
  }
  Tolerance tolerance = ToleranceOf(expected.shape().type);
  tolerance.absolute *= slack;
  tolerance.relative *= slack;
  const std::vector<std::complex<double>> x = Elements(expected), y = Elements(actual);
  for (size_t i = 0; i < x.size(); ++i) {
    if (Near(x[i].real(), y[i].real(), tolerance) && Near(x[i].imag(), y[i].imag(), tolerance)) continue;
    // A small real or imaginary part beside a large one needs only the accuracy of the absolute value.
    if (std::abs(x[i] - y[i]) <= tolerance.relative * std::abs(x[i])) continue;
    return absl::StrFormat("%s: element %d is %.9g%+.9gi instead of %.9g%+.9gi",
                           hlo::ToStringNoLayout(expected.shape()), i, y[i].real(), y[i].imag(), x[i].real(),
                           x[i].imag());
  }
  return "";
}

// Appends the arrays of nested lists in order; a number is an array without dimensions, of any type.
void Flatten(const json& expected, std::vector<const json*>& flat) {
  if (expected.is_array()) {
    for (const json& one : expected) Flatten(one, flat);
  } else {
    flat.push_back(&expected);
  }
}

}  // namespace

std::string Difference(const json& expected, const Results& results, double slack) {
  std::vector<const json*> flat;
  Flatten(expected, flat);
  if (flat.size() != results.tensors.size()) {
    return absl::StrFormat("%d results instead of %d", results.tensors.size(), flat.size());
  }
  for (size_t i = 0; i < flat.size(); ++i) {
    const Literal actual = results.tensors[i].ToLiteral();
    std::string difference;
    if (IsArray(*flat[i])) {
      difference = DifferenceOfArrays(DecodeLiteral(*flat[i]), actual, slack);
    } else {
      const double value = DecodeNumber(*flat[i]);
      if (actual.element_count() != 1 || !Near(value, hlo::ElementAsDouble(actual, 0), {1e-5, 1e-5})) {
        difference = absl::StrFormat("%s instead of %g", results.tensors[i].ToString(), value);
      }
    }
    if (!difference.empty()) {
      return flat.size() == 1 ? difference : absl::StrFormat("result %d: %s", i, difference);
    }
  }
  return "";
}

}  // namespace hlod

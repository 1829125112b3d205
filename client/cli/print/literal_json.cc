// Arrays as JSON.
#include <charconv>
#include <cmath>
#include <complex>
#include <functional>

#include "client/cli/print/json.h"
#include "common/base/errors/status.h"

namespace hlod::cli {
namespace {

using hlo::Literal;

Json NotFinite(double value) { return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"; }
Json Number(double value) { return std::isfinite(value) ? Json(value) : NotFinite(value); }
// Returns the number with the fewest digits that rounds to this f32.
Json Number(float value) {
  if (!std::isfinite(value)) return NotFinite(value);
  char text[32];
  double shortest = value;
  std::from_chars(text, std::to_chars(text, std::end(text), value).ptr, shortest);
  return shortest;
}

// Returns the dimensions from `dim` on as nested lists of the elements from `next` on. Advances `next`.
Json Nested(const Dims& dims, size_t dim, int64_t& next, const std::function<Json(int64_t)>& element) {
  if (dim == dims.size()) return element(next++);
  Json list = Json::array();
  for (int64_t i = 0; i < dims[dim]; ++i) list.push_back(Nested(dims, dim + 1, next, element));
  return list;
}

template <typename T, typename F>
absl::StatusOr<Json> Elements(const Literal& value, hlo::PrimitiveType as, F element) {
  ASSIGN_OR_RETURN(const Literal converted, hlo::Convert(value, as));
  int64_t next = 0;
  return Nested(value.shape().dims, 0, next,
                [&](int64_t i) { return element(converted.data<T>()[static_cast<size_t>(i)]); });
}

}  // namespace

absl::StatusOr<Json> ToJson(const Literal& value) {
  if (!value.shape().IsArray()) {
    Json list = Json::array();
    for (const Literal& element : value.elements()) {
      ASSIGN_OR_RETURN(Json json, ToJson(element));
      list.push_back(std::move(json));
    }
    return list;
  }
  const hlo::PrimitiveType type = value.shape().type;
  const auto plain = [](auto x) { return Json(x); };
  const auto number = [](auto x) { return Number(x); };
  const auto pair = [](auto x) { return Json::array({Number(x.real()), Number(x.imag())}); };
  if (type == hlo::kPred) return Elements<bool>(value, type, plain);
  if (type == hlo::kC64) return Elements<std::complex<float>>(value, type, pair);
  if (hlo::IsComplex(type)) return Elements<std::complex<double>>(value, hlo::kC128, pair);
  if (hlo::IsSigned(type)) return Elements<int64_t>(value, hlo::kS64, plain);
  if (hlo::IsInteger(type)) return Elements<uint64_t>(value, hlo::kU64, plain);
  if (type == hlo::kF64) return Elements<double>(value, type, number);
  return Elements<float>(value, hlo::kF32, number);
}

}  // namespace hlod::cli

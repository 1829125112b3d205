// The element types that dot and convolution compute in, and conversions of whole arrays to and from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// A complex number whose product is the plain formula, without std::complex's recovery of infinities.
template <typename T>
struct PlainComplex {
  T re = 0, im = 0;
  PlainComplex& operator+=(PlainComplex b) {
    re += b.re;
    im += b.im;
    return *this;
  }
  friend PlainComplex operator*(PlainComplex a, PlainComplex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

// Returns the type in which products of lhs and rhs are summed for a result of type `result`: f32 for all
// floats up to it, f64, c64, c128; u32 or u64 for integers, which wrap in the same way whether signed or not.
// Returns kInvalid when there is none (pred, integers from floats).
hlo::PrimitiveType ContractionType(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType result);

// Converts `count` dense elements, where one of the two types is a contraction type. Integers wrap, floats
// are rounded to nearest even.
using ConvertFunction = void (*)(const std::byte* from, std::byte* to, int64_t count);
// Returns the conversion of an array before or after a contraction. It is null when elements of `from` can be
// read as `to` unchanged (the same type, or signed and unsigned integers of one width). Returns nullopt when
// no conversion exists.
std::optional<ConvertFunction> FindConversion(hlo::PrimitiveType from, hlo::PrimitiveType to);
// Converts on the context's team. Returns CANCELLED or DEADLINE_EXCEEDED when the run has to stop.
absl::Status ConvertParallel(ConvertFunction convert, const std::byte* from, int from_width, std::byte* to,
                             int to_width, int64_t count, const StepContext& context);

// Calls f.operator()<T>() with the arithmetic type of a contraction type: float, double, uint32_t, uint64_t,
// PlainComplex.
template <typename F>
void VisitContractionType(hlo::PrimitiveType type, F&& f) {
  switch (type) {
    case hlo::kF32: return f.template operator()<float>();
    case hlo::kF64: return f.template operator()<double>();
    case hlo::kU32: return f.template operator()<uint32_t>();
    case hlo::kU64: return f.template operator()<uint64_t>();
    case hlo::kC64: return f.template operator()<PlainComplex<float>>();
    case hlo::kC128: return f.template operator()<PlainComplex<double>>();
    default: return;
  }
}

}  // namespace hlod::engine

// Wide elements: every element type is computed in one of four carrier types, so that each rule is written at
// most four times instead of thirty.
//
//   pred, unsigned -> uint64_t    signed -> int64_t    floats -> double    complex -> std::complex<double>
//
// A block is an array of carriers of one kind. Storing rounds a float once, to nearest even, and wraps an
// integer to its width; for + - * / and sqrt on floats of at most 32 bits, computing in double and rounding
// once equals rounding the exact result.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/hlo/literal.h"
#include "common/hlo/primitive_type.h"

namespace hlod::evaluator {

using Complex = std::complex<double>;

enum class Carrier : uint8_t { kUnsigned, kSigned, kFloat, kComplex };

// Returns the carrier of an array type.
Carrier CarrierOf(hlo::PrimitiveType type);

template <typename C>
constexpr Carrier CarrierFor() {
  if (std::is_same_v<C, uint64_t>) return Carrier::kUnsigned;
  if (std::is_same_v<C, int64_t>) return Carrier::kSigned;
  if (std::is_same_v<C, double>) return Carrier::kFloat;
  return Carrier::kComplex;
}

// Returns the bytes of one element in a block.
constexpr int64_t CarrierBytes(Carrier carrier) { return carrier == Carrier::kComplex ? 16 : 8; }

// Calls f.template operator()<C>() with the carrier's C++ type, and returns its result.
template <typename F>
decltype(auto) VisitCarrier(Carrier carrier, F&& f) {
  switch (carrier) {
    case Carrier::kUnsigned: return f.template operator()<uint64_t>();
    case Carrier::kSigned: return f.template operator()<int64_t>();
    case Carrier::kFloat: return f.template operator()<double>();
    default: return f.template operator()<Complex>();
  }
}

// One element of any type: a block of length one.
struct alignas(16) Wide {
  std::byte bytes[16] = {};
  template <typename C>
  C as() const {
    C value;
    std::memcpy(static_cast<void*>(&value), bytes, sizeof(C));
    return value;
  }
  template <typename C>
  static Wide Of(C value) {
    Wide wide;
    std::memcpy(wide.bytes, &value, sizeof(C));
    return wide;
  }
};

// Reads `n` elements of `type` at `from` into the block `to` of the type's carrier.
void Load(hlo::PrimitiveType type, const std::byte* from, int64_t n, void* to);
// Writes a block as elements of `type`, rounding or wrapping.
void Store(hlo::PrimitiveType type, const void* from, int64_t n, std::byte* to);
// Rounds or wraps in place, like storing and loading again.
void Normalize(hlo::PrimitiveType type, void* block, int64_t n);

// Returns all elements of an array as carriers `C`, converting if the type's own carrier differs (from a
// complex value to its real part).
template <typename C>
std::vector<C> LoadAs(const hlo::Literal& literal);
extern template std::vector<uint64_t> LoadAs(const hlo::Literal&);
extern template std::vector<int64_t> LoadAs(const hlo::Literal&);
extern template std::vector<double> LoadAs(const hlo::Literal&);
extern template std::vector<Complex> LoadAs(const hlo::Literal&);

// Writes carriers of the literal's own kind to all of its elements. REQUIRES: there are as many values as
// elements.
template <typename C>
void StoreAll(const std::vector<C>& values, hlo::Literal& literal) {
  Store(literal.shape().type, values.data(), static_cast<int64_t>(values.size()), literal.bytes().data());
}

// Returns element `index` of an integer array, for reading indices. Unsigned values beyond int64 become
// INT64_MAX.
int64_t IndexAt(const hlo::Literal& literal, int64_t index);

}  // namespace hlod::evaluator

// The few functions of elements that reductions and contractions share with the elementwise kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "common/evaluator/elements/wide.h"
#include "common/hlo/elements/order.h"
#include "common/hlo/opcode.h"

namespace hlod::evaluator {

// Returns the value's lowest bits, with the others zero.
inline uint64_t LowBits(uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

// Integers wrap in two's complement. Complex products use the plain formula, without recovering infinities.
template <typename C>
C Sum(C a, C b) {
  if constexpr (std::is_same_v<C, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <typename C>
C Product(C a, C b) {
  if constexpr (std::is_same_v<C, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else if constexpr (std::is_same_v<C, Complex>) {
    return Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

using hlo::Less;

template <typename C>
bool HasNan(C a) {
  if constexpr (std::is_same_v<C, Complex>) {
    return std::isnan(a.real()) || std::isnan(a.imag());
  } else if constexpr (std::is_same_v<C, double>) {
    return std::isnan(a);
  } else {
    return false;
  }
}
// Calls f(combine) with the function of elements of an opcode that reducers use. Returns false for any other
// `opcode`. For pred, add and maximum are "or"; multiply and minimum are "and".
template <typename C, typename F>
bool VisitCombiner(hlo::Opcode opcode, bool is_pred, F&& f) {
  using enum hlo::Opcode;
  constexpr bool kInteger = std::is_integral_v<C>;
  switch (opcode) {
    case kAdd:
      if constexpr (std::is_same_v<C, uint64_t>) {
        if (is_pred) return f([](C a, C b) { return a | b; }), true;
      }
      return f([](C a, C b) { return Sum(a, b); }), true;
    case kMultiply: return f([](C a, C b) { return Product(a, b); }), true;
    case kMaximum: return f([](C a, C b) { return hlo::Maximum(a, b); }), true;
    case kMinimum: return f([](C a, C b) { return hlo::Minimum(a, b); }), true;
    case kAnd:
      if constexpr (kInteger) return f([](C a, C b) { return a & b; }), true;
      return false;
    case kOr:
      if constexpr (kInteger) return f([](C a, C b) { return a | b; }), true;
      return false;
    case kXor:
      if constexpr (kInteger) return f([](C a, C b) { return a ^ b; }), true;
      return false;
    default: return false;
  }
}

}  // namespace hlod::evaluator

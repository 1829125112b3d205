// The recognised reducers as element functions, for which reduce, reduce-window, select-and-scatter and
// scatter are instantiated.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/hlo/elements/order.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/small_floats.h"
#include "server/engine/tile/reducer.h"

namespace hlod::engine {

// An element type of reducers. Acc is the type of partial results: f32 for the narrower floats.
template <typename T>
struct ReducedElement {
  static constexpr bool kSmall = hlo::kIsSmallFloat<T>;
  // Sub-byte integers wrap when they are stored.
  using Acc = std::conditional_t<kSmall, float, std::conditional_t<hlo::kIsSmallInt<T>, int8_t, T>>;

  static HLOD_ALWAYS_INLINE Acc Load(T element) {
    if constexpr (kSmall) {
      return WidenSmall(element);
    } else if constexpr (hlo::kIsSmallInt<T>) {
      return static_cast<Acc>(static_cast<int>(element));
    } else {
      return static_cast<Acc>(element);
    }
  }
  template <typename A>
  static HLOD_ALWAYS_INLINE T Store(A value) {
    if constexpr (kSmall) {
      return RoundToSmall<T>(static_cast<float>(value));
    } else if constexpr (hlo::kIsSmallInt<T>) {
      return T(static_cast<int>(value));
    } else {
      return static_cast<T>(value);
    }
  }
};

// A reducer for one element type. Element is the type in memory, Acc that of partial results, and Total that
// in which many partial results are combined (f64 for sums of f32).
template <ScalarReducer kTheReducer, typename T>
struct ReducerOp : ReducedElement<T> {
  static constexpr ScalarReducer kReducer = kTheReducer;
  static constexpr bool kMaximum = kReducer == ScalarReducer::kMaximum;
  static constexpr bool kExtremum = kMaximum || kReducer == ScalarReducer::kMinimum;
  using Element = T;
  using Acc = typename ReducedElement<T>::Acc;
  using Total =
      std::conditional_t<kReducer == ScalarReducer::kAdd && std::is_same_v<Acc, float>, double, Acc>;

  static Acc Identity() {
    if constexpr (kReducer == ScalarReducer::kMultiply) {
      if constexpr (std::is_class_v<Acc>) {
        return {1, 0};
      } else {
        return Acc{1};
      }
    } else if constexpr (kReducer == ScalarReducer::kMinimum) {
      return std::numeric_limits<Acc>::has_infinity ? std::numeric_limits<Acc>::infinity()
                                                    : std::numeric_limits<Acc>::max();
    } else if constexpr (kReducer == ScalarReducer::kMaximum) {
      return std::numeric_limits<Acc>::has_infinity ? -std::numeric_limits<Acc>::infinity()
                                                    : std::numeric_limits<Acc>::lowest();
    } else if constexpr (kReducer == ScalarReducer::kAnd) {
      return static_cast<Acc>(~Acc{0});
    } else {
      return Acc{};
    }
  }

  template <typename A>
  static HLOD_ALWAYS_INLINE A Apply(A a, A b) {
    if constexpr (kReducer == ScalarReducer::kAdd) {
      if constexpr (std::is_class_v<A>) {
        a += b;
        return a;
      } else {
        return static_cast<A>(a + b);
      }
    } else if constexpr (kReducer == ScalarReducer::kMultiply) {
      if constexpr (std::is_same_v<A, uint16_t>) {
        // uint16_t would be promoted to a signed int, which could overflow.
        return static_cast<A>(uint32_t{a} * b);
      } else {
        return static_cast<A>(a * b);
      }
    } else if constexpr (kReducer == ScalarReducer::kMinimum) {
      return hlo::Minimum(a, b);
    } else if constexpr (kReducer == ScalarReducer::kMaximum) {
      return hlo::Maximum(a, b);
    } else if constexpr (kReducer == ScalarReducer::kAnd) {
      return static_cast<A>(a & b);
    } else if constexpr (kReducer == ScalarReducer::kOr) {
      return static_cast<A>(a | b);
    } else {
      return static_cast<A>(a ^ b);
    }
  }
};

// Maps floats to integers in the same order, with -0 before 0. Minima and maxima of integers can be
// vectorised, a comparison of floats that handles zeros and NaN cannot. 16-bit floats need not be widened.
template <typename Op>
struct OrderedKey {
  using Element = typename Op::Element;
  static constexpr bool kHalf = hlo::kIsSmallFloat<Element> && sizeof(Element) == 2;
  using Value = std::conditional_t<kHalf, uint16_t, typename Op::Acc>;  // The type that keys are made of.
  using Key = std::conditional_t<sizeof(Value) == 8, int64_t,
                                 std::conditional_t<sizeof(Value) == 4, int32_t, int16_t>>;
  static HLOD_ALWAYS_INLINE Value Load(Element element) {
    if constexpr (kHalf) return element.bits();
    else return Op::Load(element);
  }
  static HLOD_ALWAYS_INLINE Key Of(Value value) {
    const Key bits = std::bit_cast<Key>(value);
    return static_cast<Key>(bits ^ (bits >> (sizeof(Key) * 8 - 1) & std::numeric_limits<Key>::max()));
  }
  static HLOD_ALWAYS_INLINE Key IsNan(Value value) {
    if constexpr (kHalf) {
      constexpr int kInfinity = ((1 << Element::kExponentBits) - 1) << Element::kMantissaBits;
      return (value & 0x7fff) > kInfinity ? 1 : 0;
    } else {
      return value != value ? 1 : 0;
    }
  }
  static HLOD_ALWAYS_INLINE Key Join(Key a, Key b) { return (Op::kMaximum ? a < b : b < a) ? b : a; }
  static Key None() {
    return Op::kMaximum ? std::numeric_limits<Key>::min() : std::numeric_limits<Key>::max();
  }
  // The mapping is its own inverse.
  static HLOD_ALWAYS_INLINE typename Op::Acc Back(Key key, Key is_nan) {
    using Acc = typename Op::Acc;
    const Value value = std::bit_cast<Value>(Of(std::bit_cast<Value>(key)));
    if (is_nan != 0) return std::numeric_limits<Acc>::quiet_NaN();
    if constexpr (kHalf) return Op::Load(Element::FromBits(value));
    else return value;
  }
};

namespace reducer_internal {

template <ScalarReducer kReducer, typename F>
bool VisitFloats(hlo::PrimitiveType type, F& f) {
  switch (type) {
    case hlo::kF32: return f.template operator()<ReducerOp<kReducer, float>>(), true;
    case hlo::kF64: return f.template operator()<ReducerOp<kReducer, double>>(), true;
    case hlo::kBF16: return f.template operator()<ReducerOp<kReducer, hlo::BF16>>(), true;
    case hlo::kF16: return f.template operator()<ReducerOp<kReducer, hlo::F16>>(), true;
    default: return false;
  }
}
// Visits the 8-bit floats and the integers of fewer bits.
template <ScalarReducer kReducer, typename F>
bool VisitSmallest(hlo::PrimitiveType type, F& f) {
  bool found = false;
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr ((hlo::kIsSmallFloat<T> && sizeof(T) == 1) || hlo::kIsSmallInt<T>) {
      f.template operator()<ReducerOp<kReducer, T>>();
      found = true;
    }
  });
  return found;
}
template <ScalarReducer kReducer, typename F>
bool VisitUnsigned(int width, F& f) {
  switch (width) {
    case 1: return f.template operator()<ReducerOp<kReducer, uint8_t>>(), true;
    case 2: return f.template operator()<ReducerOp<kReducer, uint16_t>>(), true;
    case 4: return f.template operator()<ReducerOp<kReducer, uint32_t>>(), true;
    case 8: return f.template operator()<ReducerOp<kReducer, uint64_t>>(), true;
    default: return false;
  }
}
template <ScalarReducer kReducer, typename F>
bool VisitSigned(int width, F& f) {
  switch (width) {
    case 1: return f.template operator()<ReducerOp<kReducer, int8_t>>(), true;
    case 2: return f.template operator()<ReducerOp<kReducer, int16_t>>(), true;
    case 4: return f.template operator()<ReducerOp<kReducer, int32_t>>(), true;
    case 8: return f.template operator()<ReducerOp<kReducer, int64_t>>(), true;
    default: return false;
  }
}
template <ScalarReducer kReducer, typename F>
bool VisitArithmetic(hlo::PrimitiveType type, F& f) {
  if (type == hlo::kC64) return f.template operator()<ReducerOp<kReducer, PlainComplex<float>>>(), true;
  if (type == hlo::kC128) return f.template operator()<ReducerOp<kReducer, PlainComplex<double>>>(), true;
  // Sums and products wrap in the same way for signed and unsigned integers.
  return hlo::IsInteger(type) ? VisitUnsigned<kReducer>(hlo::ByteWidth(type), f)
                              : VisitFloats<kReducer>(type, f);
}
template <ScalarReducer kReducer, typename F>
bool VisitOrdered(hlo::PrimitiveType type, F& f) {
  if (hlo::IsSigned(type)) return VisitSigned<kReducer>(hlo::ByteWidth(type), f);
  if (hlo::IsUnsigned(type)) return VisitUnsigned<kReducer>(hlo::ByteWidth(type), f);
  return VisitFloats<kReducer>(type, f);
}

}  // namespace reducer_internal

// Calls f.operator()<Op>() with the ReducerOp of a reducer for an element type. Returns false if there is
// none (sub-byte types, f8, kNone, kSecond). For pred, add and maximum are "or", multiply and minimum are
// "and".
template <typename F>
bool VisitReducer(ScalarReducer reducer, hlo::PrimitiveType type, F&& f) {
  using namespace reducer_internal;
  using enum ScalarReducer;
  if (hlo::Info(type).bits < 8 || !hlo::IsArrayType(type)) return false;
  if (type == hlo::kPred) {
    if (reducer == kAdd || reducer == kMaximum) reducer = kOr;
    if (reducer == kMultiply || reducer == kMinimum) reducer = kAnd;
  }
  const bool bits = type == hlo::kPred || hlo::IsInteger(type);
  switch (reducer) {
    case kAdd: return VisitArithmetic<kAdd>(type, f);
    case kMultiply: return VisitArithmetic<kMultiply>(type, f);
    case kMinimum: return VisitOrdered<kMinimum>(type, f);
    case kMaximum: return VisitOrdered<kMaximum>(type, f);
    case kAnd: return bits && VisitUnsigned<kAnd>(hlo::ByteWidth(type), f);
    case kOr: return bits && VisitUnsigned<kOr>(hlo::ByteWidth(type), f);
    case kXor: return bits && VisitUnsigned<kXor>(hlo::ByteWidth(type), f);
    default: return false;
  }
}

// Does the same for the 8-bit floats and for sub-byte integers. It is separate, because these types double
// the compiled code.
template <typename F>
bool VisitSmallestReducer(ScalarReducer reducer, hlo::PrimitiveType type, F&& f) {
  using namespace reducer_internal;
  using enum ScalarReducer;
  switch (reducer) {
    case kAdd: return VisitSmallest<kAdd>(type, f);
    case kMultiply: return VisitSmallest<kMultiply>(type, f);
    case kMinimum: return VisitSmallest<kMinimum>(type, f);
    case kMaximum: return VisitSmallest<kMaximum>(type, f);
    default: return false;
  }
}

}  // namespace hlod::engine

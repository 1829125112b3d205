// One instruction set's tile functions. Included by ops_<set>.cc, which defines HLOD_TILE_SET (a namespace
// and the set's name), HLOD_TARGET (the function attribute, possibly empty) and, where the processor may
// convert f16 or count ones, HLOD_TARGET_HALF and HLOD_TARGET_POPCNT (the attributes with those), and
// HLOD_SPLIT_CONVERSIONS where no instruction converts vectors of floats to 64-bit integers, and
// HLOD_TILE_ROUNDS where instructions round vectors, and
// HLOD_TILE_FUSES where functions may fuse products with sums (assemble/lanes.h must do the same). The sets
// do not share functions here, because the linker must not keep a function compiled for AVX-512 for all of
// them.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/hlo/elements/complex_power.h"
#include "common/hlo/elements/order.h"
#include "common/hlo/elements/real_power.h"
#include "server/engine/run/small_floats.h"
#include "server/engine/tile/ops/ops.h"
#if defined(HLOD_TARGET_HALF)
#include <immintrin.h>
#endif

namespace hlod::engine {
namespace {
namespace HLOD_TILE_SET {

using hlo::Opcode;
using hlo::PrimitiveType;

// Each header builds on those before it.
// clang-format off
#include "server/engine/tile/math.h"
#include "server/engine/tile/ops/ops_loops.h"
#include "server/engine/tile/ops/ops_rules.h"
#include "server/engine/tile/ops/ops_math.h"
#include "server/engine/tile/ops/ops_compare.h"
#include "server/engine/tile/ops/ops_complex.h"
#include "server/engine/tile/ops/ops_native.h"
#include "server/engine/tile/ops/ops_convert.h"
#include "server/engine/tile/ops/ops_bits.h"
#include "server/engine/tile/ops/ops_fold.h"
// clang-format on

// Returns the tile function of an opcode that has only floats as operands and results; null for another.
TileFunction FunctionOfFloats(Opcode opcode, Carrier carrier) {
  switch (opcode) {
    case hlo::kExponential: return UnaryOf<MathExp, kFloats>(carrier);
    case hlo::kExponentialMinusOne: return UnaryOf<MathExpm1, kFloats>(carrier);
    case hlo::kLog: return UnaryOf<MathLog, kFloats>(carrier);
    case hlo::kLogPlusOne: return UnaryOf<MathLog1p, kFloats>(carrier);
    case hlo::kTanh: return UnaryOf<MathTanh, kFloats>(carrier);
    case hlo::kLogistic: return UnaryOf<MathLogistic, kFloats>(carrier);
    case hlo::kErf: return UnaryOf<MathErf, kFloats>(carrier);
    case hlo::kSqrt: return UnaryOf<MathSqrt, kFloats>(carrier);
    case hlo::kRsqrt: return UnaryOf<MathRsqrt, kFloats>(carrier);
    case hlo::kCbrt: return UnaryOf<MathCbrt, kFloats>(carrier);
    case hlo::kSine: return SineOf<0>(carrier);
    case hlo::kCosine: return SineOf<1>(carrier);
    case hlo::kTan: return UnaryOf<MathTan, kFloats>(carrier);
    case hlo::kAsin: return UnaryOf<MathAsin, kFloats>(carrier);
    case hlo::kAcos: return UnaryOf<MathAcos, kFloats>(carrier);
    case hlo::kAtan: return UnaryOf<MathAtan, kFloats>(carrier);
    case hlo::kSinh: return UnaryOf<MathSinh, kFloats>(carrier);
    case hlo::kCosh: return UnaryOf<MathCosh, kFloats>(carrier);
    case hlo::kAsinh: return UnaryOf<MathAsinh, kFloats>(carrier);
    case hlo::kAcosh: return UnaryOf<MathAcosh, kFloats>(carrier);
    case hlo::kAtanh: return UnaryOf<MathAtanh, kFloats>(carrier);
    case hlo::kCeil: return UnaryOf<MathCeil, kFloats>(carrier);
    case hlo::kFloor: return UnaryOf<MathFloor, kFloats>(carrier);
    case hlo::kRoundNearestAfz: return UnaryOf<MathRoundAfz, kFloats>(carrier);
    case hlo::kRoundNearestEven: return UnaryOf<MathRoundEven, kFloats>(carrier);
    default: return nullptr;
  }
}

TileFunction Elementwise(Opcode opcode, Carrier carrier) {
  if (carrier == Carrier::kC64) return ComplexElementwise<float>(opcode);
  if (carrier == Carrier::kC128) return ComplexElementwise<double>(opcode);
  switch (opcode) {
    case hlo::kComplex:
      if (carrier == Carrier::kF32) return &Binary<MakeComplex, Complex<float>, float>;
      return carrier == Carrier::kF64 ? &Binary<MakeComplex, Complex<double>, double> : nullptr;
    case hlo::kAdd: return BinaryOf<Add, kAny>(carrier);
    case hlo::kSubtract: return BinaryOf<Subtract, kNumber>(carrier);
    case hlo::kMultiply: return BinaryOf<Multiply, kAny>(carrier);
    case hlo::kMulhi: return BinaryOf<MultiplyHigh, kIntegers>(carrier);
    case hlo::kDivide: return BinaryOf<Divide, kNumber>(carrier);
    case hlo::kRemainder:
      return carrier == Carrier::kF32 ? &FastSingle<SingleRemainder, 2> : BinaryOf<Remainder, kReal>(carrier);
    case hlo::kPower:
      if (carrier == Carrier::kF32) return &FastSingle<SinglePower, 2>;
      return ByCarrier<TileFunction>(carrier, []<typename T>() -> TileFunction {
        if constexpr (kIsFloat<T>) return &Binary<Power, T, T>;
        else if constexpr (kIsInteger<T>) return &PowerOfIntegers<T>;
        else return nullptr;
      });
    case hlo::kMaximum: return BinaryOf<Maximum, kAny>(carrier);
    case hlo::kMinimum: return BinaryOf<Minimum, kAny>(carrier);
    case hlo::kAtan2: return BinaryOf<Atan2, kFloats>(carrier);
    case hlo::kAnd: return BinaryOf<And, kBits>(carrier);
    case hlo::kOr: return BinaryOf<Or, kBits>(carrier);
    case hlo::kXor: return BinaryOf<Xor, kBits>(carrier);
    case hlo::kShiftLeft: return BinaryOf<ShiftLeft, kIntegers>(carrier);
    case hlo::kShiftRightLogical: return BinaryOf<ShiftRightLogical, kIntegers>(carrier);
    case hlo::kShiftRightArithmetic: return BinaryOf<ShiftRightArithmetic, kIntegers>(carrier);
    case hlo::kAbs: return UnaryOf<AbsoluteValue, kNumber>(carrier);
    case hlo::kNegate: return UnaryOf<Negate, kNumber>(carrier);
    case hlo::kNot: return UnaryOf<Not, kBits>(carrier);
    case hlo::kSign: return UnaryOf<Sign, kNumber>(carrier);
    case hlo::kPopcnt:
      if (const TileFunction native = NativePopcnt(carrier)) return native;
      return UnaryOf<Popcnt, kIntegers>(carrier);
    case hlo::kClz: return UnaryOf<Clz, kIntegers>(carrier);
    case hlo::kReducePrecision: return UnaryOf<ReducePrecision, kFloats>(carrier);
    case hlo::kIsFinite:
      if (carrier == Carrier::kF32) return &Unary<IsFinite, uint8_t, float>;
      return carrier == Carrier::kF64 ? &Unary<IsFinite, uint8_t, double> : nullptr;
    case hlo::kCompare:
      return ByCarrier<TileFunction>(carrier, []<typename T>() -> TileFunction { return &CompareAny<T>; });
    case hlo::kSelect:
      return ByCarrier<TileFunction>(
          carrier, []<typename T>() -> TileFunction { return &Ternary<SelectElement, T, uint8_t, T>; });
    case hlo::kClamp:
      return ByCarrier<TileFunction>(
          carrier, []<typename T>() -> TileFunction { return &Ternary<ClampElement, T, T, T>; });
    default: return FunctionOfFloats(opcode, carrier);
  }
}

#undef HLOD_INLINE

#define HLOD_STRING_(x) #x
#define HLOD_STRING(x) HLOD_STRING_(x)
const TileOps kSet = {HLOD_STRING(HLOD_TILE_SET),
                      &Elementwise,
                      &Convert,
                      &Load,
                      &Store,
                      &Narrow,
                      &Odd,
                      &OnBits,
                      &FoldFor<false>,
                      &FoldFor<true>,
                      &FoldRowsFor,
                      &FoldGroupsFor};

}  // namespace HLOD_TILE_SET
}  // namespace
}  // namespace hlod::engine

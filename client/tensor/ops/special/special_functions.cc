// Lowerings of special functions, and the special cases in which PyTorch differs from XLA.
#include "client/tensor/ops/special/special_functions.h"
#include "client/tensor/value/numbers.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "common/hlo/math/special_functions.h"

namespace hlod::lazy {
namespace {

// At 0 the result is an infinity of the opposite sign of that zero, as in PyTorch.
Op DigammaValue(Lowering& l, Op x) {
  return SelectOps(l, CompareOps(l, x, 0, Order::kEq), N(l, x, -1) / x, hlo::Digamma(x));
}

}  // namespace

Op ErfinvOps(Lowering& l, Op x) {
  return OwnDerivative(l, "erfinv", {x}, [&](absl::Span<const Op> o) { return hlo::ErfInv(o[0]); });
}
Op LgammaOps(Lowering& l, Op x) {
  return OwnDerivative(l, "lgamma", {x}, [&](absl::Span<const Op> o) { return hlo::Lgamma(o[0]); });
}
Op DigammaOps(Lowering& l, Op x) {
  return OwnDerivative(l, "digamma", {x}, [&](absl::Span<const Op> o) { return DigammaValue(l, o[0]); });
}

Op SincOps(Lowering& l, Op x) {
  return OwnDerivative(l, "sinc", {x}, [&](absl::Span<const Op> o) {
    const Op at = o[0] * N(l, x, std::numbers::pi);
    const Op zero = CompareOps(l, o[0], N(l, x, 0), Order::kEq);
    return SelectOps(l, zero, N(l, x, 1), l.b.Unary(hlo::kSine, at) / at);
  });
}

Op AngleOps(Lowering& l, Op x) {
  if (hlo::IsComplex(l.type(x))) {
    // At 0 the derivative is 0, as in PyTorch. The angle there depends on the signs of the zeros: it is that
    // of 1 or -1 with the sign of the imaginary part, of which sign() is a copy without derivative.
    const Op re = l.b.Unary(hlo::kReal, x), im = l.b.Unary(hlo::kImag, x), one = N(l, re, 1);
    const Op zero = l.b.Binary(hlo::kAnd, CompareOps(l, re, 0, Order::kEq), CompareOps(l, im, 0, Order::kEq));
    const Op side = SelectOps(l, SignBitOps(l, re), l.b.Unary(hlo::kNegate, one), one);
    return l.b.Binary(hlo::kAtan2, SelectOps(l, zero, l.b.Unary(hlo::kSign, im), im),
                      SelectOps(l, zero, side, re));
  }
  if (!hlo::IsFloat(l.type(x))) x = l.b.Convert(x, hlo::kF32);
  const Op angle = SelectOps(l, CompareOps(l, x, 0, Order::kLt), N(l, x, std::numbers::pi), N(l, x, 0));
  return SelectOps(l, NanOps(l, x), N(l, x, std::numeric_limits<double>::quiet_NaN()), angle);
}

Literal LargestLiteral(PrimitiveType type) {
  switch (type) {
    case hlo::kF64: return NumberLiteral(type, std::numeric_limits<double>::max());
    case hlo::kF32: return NumberLiteral(type, static_cast<double>(std::numeric_limits<float>::max()));
    case hlo::kBF16: return NumberLiteral(type, 0x1.FEp127);
    case hlo::kF16: return NumberLiteral(type, 65504.0);
    default: Refuse("the greatest number of %s is not known here", hlo::Name(type));
  }
}

}  // namespace hlod::lazy

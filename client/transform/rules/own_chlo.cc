// Derivatives of the special functions of CHLO, as JAX defines them. Each derivative is computed in f64 and
// rounded once. The functions in a derivative have rules, too, so that higher derivatives are also formulas.
#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/special/special_series.h"
#include "client/transform/rules/own.h"
#include "common/hlo/literal.h"
#include "common/hlo/math/math.h"
#include "common/hlo/math/special_functions.h"

namespace hlod::lazy {
namespace {

using hlo::Negative;

template <Op (*function)(Op)>
Op Ruled(std::string_view rule, Op x) {
  return hlo::OwnDerivative(rule, {x}, [](absl::Span<const Op> o) { return function(o[0]); });
}
template <Op (*function)(Op, Op)>
Op Ruled(std::string_view rule, Op x, Op y) {
  return hlo::OwnDerivative(rule, {x, y}, [](absl::Span<const Op> o) { return function(o[0], o[1]); });
}

// Returns operand i of a rule in f64: operand 0 is the result, the others are the arguments.
Op Wide(const TangentArgs& c, size_t i) { return c.l.Convert(c.x[i], hlo::kF64); }
Tangents TimesSlope(const TangentArgs& c, size_t i, Op slope) {
  return {c.t[i] * c.l.Convert(slope, c.l.type(c.t[i]))};
}

// The rule of a function of one operand, whose derivative is an expression of the result y and the operand x.
template <Op (*slope)(Lowering& l, Op y, Op x)>
Tangents BySlope(const TangentArgs& c) {
  return TimesSlope(c, 1, slope(c.l, Wide(c, 0), Wide(c, 1)));
}

Op DErfInv(Lowering&, Op y, Op) { return Exp(y * y) * (std::sqrt(std::numbers::pi) / 2); }
Op DErfc(Lowering&, Op, Op x) { return Exp(Negative(x * x)) * (-2 / std::sqrt(std::numbers::pi)); }
Op DLgamma(Lowering&, Op, Op x) { return Ruled<hlo::Digamma>("chlo.digamma", x); }
Op DDigamma(Lowering& l, Op, Op x) {
  return Ruled<hlo::Polygamma>("chlo.polygamma", l.Full(hlo::kF64, l.dims(x), 1), x);
}
// The derivative I0e(x) - y (sign(x) + 1 / x), which is 1/2 at 0.
Op DBesselI1e(Lowering& l, Op y, Op x) {
  const Op is_small =
      hlo::Not(Is(Abs(x), hlo::ComparisonDirection::kGt, std::numeric_limits<double>::epsilon()));
  const Op divisor = Where(is_small, 1, x);
  return Where(is_small, 0.5, ScaledI(l, divisor, 0) - y * (Sign(divisor) + 1 / divisor));
}

Op DBesselI0e(Lowering&, Op y, Op x) { return Ruled<hlo::BesselI1e>("chlo.bessel_i1e", x) - Sign(x) * y; }

Tangents ChloPolygamma(const TangentArgs& c) {
  if (!IsZero(c.t[1])) Refuse("polygamma has no derivative rule for its order");
  return TimesSlope(c, 2, Ruled<hlo::Polygamma>("chlo.polygamma", Wide(c, 1) + 1, Wide(c, 2)));
}

Tangents ChloZeta(const TangentArgs& c) {
  if (!IsZero(c.t[1])) Refuse("zeta has no derivative rule for its exponent");
  const Op x = Wide(c, 1);
  return TimesSlope(c, 2, Negative(x) * Ruled<hlo::Zeta>("chlo.zeta", x + 1, Wide(c, 2)));
}

}  // namespace

absl::Span<const OwnRow> ChloOwnRules() {
  static constexpr OwnRow kRows[] = {
      {"bessel_i0e", BySlope<DBesselI0e>}, {"chlo.bessel_i1e", BySlope<DBesselI1e>},
      {"chlo.digamma", BySlope<DDigamma>}, {"chlo.erf_inv", BySlope<DErfInv>},
      {"chlo.erfc", BySlope<DErfc>},       {"chlo.lgamma", BySlope<DLgamma>},
      {"chlo.polygamma", ChloPolygamma},   {"chlo.zeta", ChloZeta},
  };
  return kRows;
}

namespace {

using hlo::Instruction;

// Returns true for a constant, or a broadcast of one, that is the wanted number to the precision of f32.
bool IsNumberNear(Instruction x, double wanted) {
  if (x.opcode() == hlo::kBroadcast) x = x.operand(0);
  if (x.opcode() != hlo::kConstant || !x.shape().dims.empty() || !hlo::IsFloat(x.shape().type)) return false;
  return std::abs(hlo::ElementAsDouble(x.literal(), 0) - wanted) <= 1e-6 * std::abs(wanted);
}

// Returns true for 0.5 * ((_ + last) - _), the end of Clenshaw's recurrence.
bool IsChebyshev(Instruction x, double last) {
  if (x.opcode() != hlo::kMultiply || !IsNumberNear(x.operand(0), 0.5)) return false;
  const Instruction difference = x.operand(1);
  if (difference.opcode() != hlo::kSubtract) return false;
  const Instruction sum = difference.operand(0);
  return sum.opcode() == hlo::kAdd && IsNumberNear(sum.operand(1), last);
}

}  // namespace

std::optional<hlo::NodeId> AppendBesselI0e(hlo::Computation& to, hlo::NodeId node) {
  // The last coefficients of Cephes' approximation.
  constexpr double kNear = 0.6767952744094761, kFar = 0.8044904110141088;
  const Instruction select = to[node];
  if (select.opcode() != hlo::kSelect || select.operand(2).opcode() != hlo::kDivide) return std::nullopt;
  const Instruction pred = select.operand(0), far = select.operand(2);
  if (pred.opcode() != hlo::kCompare || !IsNumberNear(pred.operand(1), 8)) return std::nullopt;
  const Instruction size = pred.operand(0);
  if (size.opcode() != hlo::kAbs || hlo::IsComplex(size.operand(0).shape().type)) return std::nullopt;
  if (far.operand(1).opcode() != hlo::kSqrt || far.operand(1).operands()[0] != size.id()) return std::nullopt;
  if (!IsChebyshev(select.operand(1), kNear) || !IsChebyshev(far.operand(0), kFar)) return std::nullopt;
  const hlo::NodeId x = size.operands()[0];
  hlo::Builder b(TraceTables::Get().callees(), to);
  const hlo::Op elements[] = {hlo::StopGradient({&b, node}), {&b, x}};
  return b.GetTupleElement(hlo::TupleWithRule("bessel_i0e", elements, 1), 0).id;
}

}  // namespace hlod::lazy

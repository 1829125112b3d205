// A gamma variate of concentration a is d v boost, where a loop draws v until it accepts one (Marsaglia and
// Tsang), d is a - 1/3, or a + 2/3 if a < 1, and boost is 1, or u^(1 / a) if a < 1; its logarithm is the sum
// of the logarithms. The derivative of these instructions is another one than JAX's: what the loop accepts
// depends on a, too, and jumps. JAX takes the derivative of the variate at which the distribution function
// has the same value, as client/transform/rules/own_gamma.cc does.
//
// log_ndtr and betainc select among expansions. Where two of them meet, a maximum in one and a minimum in the
// other each pass half of the derivative, and one of the halves is not selected; at the ends of betainc's
// interval the derivative of the logarithm in a branch is infinite. Both have the derivative by x of their
// density; that of betainc by the other arguments is the one of the instructions.
#include "client/transform/foreign/distributions.h"

#include <cmath>

#include "client/tensor/trace/trace_tables.h"
#include "client/transform/foreign/patterns.h"
#include "common/hlo/builder.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// Returns a when the instruction is select(a >= 1, a, a + 1) - 1/3. The constants may be those of bf16.
std::optional<Instruction> ConcentrationOf(const Instruction& d) {
  if (d.opcode() != hlo::kSubtract || d.operand(0).opcode() != hlo::kSelect ||
      std::abs(ConstantNumber(d.operand(1)).value_or(0) - 1.0 / 3) > 0.01) {
    return std::nullopt;
  }
  const Instruction select = d.operand(0);
  const std::optional<Instruction> a = ComparedWith(1, select.operand(0), hlo::ComparisonDirection::kGe);
  const Instruction raised = select.operand(2);
  if (!a.has_value() || !IsSame(select.operand(1), *a) || raised.opcode() != hlo::kAdd ||
      !IsSame(raised.operand(0), *a) || ConstantNumber(raised.operand(1)) != 1.0) {
    return std::nullopt;
  }
  return a;
}

bool IsInverseOf(const Instruction& x, const Instruction& a) {
  return x.opcode() == hlo::kDivide && ConstantNumber(x.operand(0)) == 1.0 && IsSame(x.operand(1), a);
}

// Stops derivatives at the instructions by which the value depends on a, the last of which `d` and `inverse`
// are, so that none are taken of the loop, and returns the value under the rule.
std::optional<NodeId> Implicit(hlo::Computation& to, std::string_view rule, NodeId value, NodeId d,
                               NodeId inverse, NodeId a) {
  hlo::Builder b(TraceTables::Get().callees(), to);
  hlo::Stop({&b, d});
  hlo::Stop({&b, inverse});
  return ValueWithRule(to, rule, value, {a});
}

// Returns x when `pred` is x > number, for a number of this sign.
std::optional<Instruction> Exceeds(const Instruction& pred, double sign) {
  if (pred.opcode() != hlo::kCompare) return std::nullopt;
  const double number = ConstantNumber(pred.operand(1)).value_or(0);
  return number * sign > 0 ? ComparedWith(number, pred, hlo::ComparisonDirection::kGt) : std::nullopt;
}

// Returns the select between x and 1 - x, of which the value of betainc(a, b, x) is
// r = fraction * exp(log(select) * a' + log1p(-select) * b' - _) / a', or 1 - r.
std::optional<Instruction> SideOf(const Instruction& r) {
  if (r.opcode() != hlo::kMultiply || r.operand(1).opcode() != hlo::kSelect) return std::nullopt;
  const Instruction factor = r.operand(1).operand(2);
  if (factor.opcode() != hlo::kDivide) return std::nullopt;
  const std::optional<Instruction> difference = Through(factor.operand(0), {hlo::kExponential});
  if (!difference.has_value() || difference->opcode() != hlo::kSubtract) return std::nullopt;
  const Instruction sum = difference->operand(0);
  if (sum.opcode() != hlo::kAdd || sum.operand(0).opcode() != hlo::kMultiply) return std::nullopt;
  const std::optional<Instruction> side = Through(sum.operand(0).operand(0), {hlo::kLog});
  return side.has_value() && side->opcode() == hlo::kSelect ? side : std::nullopt;
}

}  // namespace

std::optional<NodeId> AppendLogNdtr(hlo::Computation& to, const Instruction& select) {
  if (select.opcode() != hlo::kSelect || select.operand(2).opcode() != hlo::kSelect) return std::nullopt;
  const Instruction below = select.operand(2);
  const std::optional<Instruction> x = Exceeds(select.operand(0), 1), middle = Exceeds(below.operand(0), -1);
  const std::optional<Instruction> upper = Through(select.operand(1), {hlo::kNegate}),
                                   inner = Through(below.operand(1), {hlo::kLog});
  if (!x.has_value() || !middle.has_value() || !IsSame(*x, *middle) || !upper.has_value() ||
      !inner.has_value() || !IsSame(*upper, *inner)) {
    return std::nullopt;
  }
  // Left of the lower end the value is -x^2 / 2 - log(-x) - log(2 pi) / 2 + log(_).
  const Instruction tail = below.operand(2), half = *upper;
  if (tail.opcode() != hlo::kAdd || tail.operand(1).opcode() != hlo::kLog ||
      half.opcode() != hlo::kMultiply || ConstantNumber(half.operand(0)) != 0.5 ||
      half.operand(1).opcode() != hlo::kSelect) {
    return std::nullopt;
  }
  return ValueWithRule(to, "log_ndtr", select.id(), {x->id()});
}

std::optional<NodeId> AppendBetainc(hlo::Computation& to, const Instruction& select) {
  std::optional<Instruction> value = Otherwise(select, std::nan(""));
  for (const double number : {1.0, 0.0}) {
    if (value.has_value()) value = Otherwise(*value, number);
  }
  if (!value.has_value() || value->opcode() != hlo::kSelect) return std::nullopt;
  const Instruction pred = value->operand(0), r = value->operand(1), rest = value->operand(2);
  if (rest.opcode() != hlo::kSubtract || !IsSame(rest.operand(1), r) || pred.opcode() != hlo::kCompare) {
    return std::nullopt;
  }
  // The expansion is that of betainc(a, b, x) if x < (a + 1) / ((a + b) + 2).
  const Instruction bound = pred.operand(1);
  const std::optional<Instruction> side = SideOf(r);
  if (!side.has_value() || bound.opcode() != hlo::kDivide || bound.operand(0).opcode() != hlo::kAdd ||
      bound.operand(1).opcode() != hlo::kAdd || bound.operand(1).operand(0).opcode() != hlo::kAdd) {
    return std::nullopt;
  }
  const Instruction a = bound.operand(0).operand(0), sum = bound.operand(1).operand(0), x = pred.operand(0);
  if (!IsSame(sum.operand(0), a) || !IsSame(side->operand(1), x)) return std::nullopt;
  const NodeId node = select.id(), of[] = {a.id(), sum.operands()[1], x.id()}, stopped = side->id();
  hlo::Builder b(TraceTables::Get().callees(), to);
  hlo::Stop({&b, stopped});
  return ValueWithRule(to, "betainc", node, {node, of[0], of[1], of[2]});
}

std::optional<NodeId> AppendGammaVariate(hlo::Computation& to, const Instruction& multiply) {
  const Instruction scaled = multiply.operand(0), boost = multiply.operand(1);
  if (scaled.opcode() != hlo::kMultiply || boost.opcode() != hlo::kSelect ||
      ConstantNumber(boost.operand(1)) != 1.0 || boost.operand(2).opcode() != hlo::kPower) {
    return std::nullopt;
  }
  const Instruction d = scaled.operand(0), inverse = boost.operand(2).operand(1);
  const std::optional<Instruction> a = ConcentrationOf(d);
  if (!a.has_value() || !IsInverseOf(inverse, *a)) return std::nullopt;
  return Implicit(to, "gamma_variate", multiply.id(), d.id(), inverse.id(), a->id());
}

std::optional<NodeId> AppendLogGammaVariate(hlo::Computation& to, const Instruction& add) {
  const Instruction scaled = add.operand(0), boost = add.operand(1);
  if (scaled.opcode() != hlo::kAdd || scaled.operand(0).opcode() != hlo::kLog ||
      boost.opcode() != hlo::kSelect || ConstantNumber(boost.operand(1)) != 0.0 ||
      boost.operand(2).opcode() != hlo::kMultiply) {
    return std::nullopt;
  }
  const Instruction d = scaled.operand(0).operand(0), inverse = boost.operand(2).operand(1);
  const std::optional<Instruction> a = ConcentrationOf(d);
  if (!a.has_value() || !IsInverseOf(inverse, *a)) return std::nullopt;
  return Implicit(to, "log_gamma_variate", add.id(), d.id(), inverse.id(), a->id());
}

}  // namespace hlod::lazy

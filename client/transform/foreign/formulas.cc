// A formula keeps its instructions, which compute its value, and gets a rule of its own in terms of what it
// is a function of. Its derivative by the rules of its instructions would be wrong at single points: max(x,
// y) and |x - y| have no second derivative at x = y, and select(x == 0, 0, x * f(y)) has none by x at 0,
// where the branch that is chosen is a constant.
//
// JAX repeats constants and broadcasts of them: softplus(x) = logaddexp(x, 0) has one 0 in the maximum and
// another in the difference. Operands are therefore compared by what they compute.
#include "client/transform/foreign/formulas.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "client/tensor/trace/trace_tables.h"
#include "client/transform/foreign/distributions.h"
#include "client/transform/foreign/patterns.h"
#include "client/transform/foreign/special.h"
#include "common/hlo/builder.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// max(x, y) + log1p(exp(k * -|x - y|)) / k, where k is 1 or, with logaddexp2, log(2). x - 0 may be written x.
std::optional<NodeId> AppendLogAddExp(hlo::Computation& to, const Instruction& add) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Instruction larger = add.operand(i);
    if (larger.opcode() != hlo::kMaximum) continue;
    const Multiple log = MultipleOf(add.operand(1 - i));
    const std::optional<Instruction> power = Through(log.of, {hlo::kLogPlusOne, hlo::kExponential});
    if (!power.has_value()) continue;
    const Multiple distance = MultipleOf(*power);
    // The constants are those of bf16, too.
    if (std::abs(distance.factor * log.factor - 1) > 0.01) continue;
    const std::optional<Instruction> difference = Through(distance.of, {hlo::kNegate, hlo::kAbs});
    if (!difference.has_value()) continue;
    const Instruction x = larger.operand(0), y = larger.operand(1);
    const bool subtracts = difference->opcode() == hlo::kSubtract;
    const auto is_difference = [&](const Instruction& a, const Instruction& b) {
      if (subtracts) return IsSame(difference->operand(0), a) && IsSame(difference->operand(1), b);
      return IsSame(*difference, a) && ConstantNumber(b) == 0.0;
    };
    if (!is_difference(x, y) && !is_difference(y, x)) continue;
    std::vector<NodeId> of = {x.id(), y.id()};
    if (distance.of.id() != power->id()) {
      const size_t number = ConstantNumber(power->operand(0)).has_value() ? 0 : 1;
      of.push_back(power->operands()[number]);
    }
    return ValueWithRule(to, "log_add_exp", add.id(), of);
  }
  return std::nullopt;
}

// Returns x when `size` is |x| or a broadcast of it.
std::optional<Instruction> Sized(Instruction size) {
  if (size.opcode() == hlo::kBroadcast) size = size.operand(0);
  return Through(size, {hlo::kAbs});
}

// The larger of |x| and |y|, m, times sqrt(1 + q * q), where q is the smaller one divided by m, or by 1 where
// m is 0.
std::optional<NodeId> AppendHypot(hlo::Computation& to, const Instruction& multiply) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Instruction larger = multiply.operand(i);
    if (larger.opcode() != hlo::kMaximum) continue;
    const std::optional<Instruction> sum = Through(multiply.operand(1 - i), {hlo::kSqrt});
    if (!sum.has_value() || sum->opcode() != hlo::kAdd) continue;
    const size_t one = ConstantNumber(sum->operand(0)) == 1.0 ? 0 : 1;
    const Instruction square = sum->operand(1 - one);
    if (ConstantNumber(sum->operand(one)) != 1.0 || square.opcode() != hlo::kMultiply ||
        !IsSame(square.operand(0), square.operand(1)) || square.operand(0).opcode() != hlo::kDivide) {
      continue;
    }
    const Instruction smaller = square.operand(0).operand(0), divisor = square.operand(0).operand(1);
    const bool by_larger =
        IsSame(divisor, larger) || (divisor.opcode() == hlo::kSelect && IsSame(divisor.operand(2), larger) &&
                                    ConstantNumber(divisor.operand(1)) == 1.0);
    if (!by_larger || smaller.opcode() != hlo::kMinimum || !IsSame(smaller.operand(0), larger.operand(0)) ||
        !IsSame(smaller.operand(1), larger.operand(1))) {
      continue;
    }
    const NodeId value = multiply.id(), sizes[] = {larger.operands()[0], larger.operands()[1]};
    if (!Sized(to[sizes[0]]).has_value() || !Sized(to[sizes[1]]).has_value()) continue;
    std::vector<NodeId> of;
    for (const NodeId node : sizes) {
      const Instruction size = to[node];
      const NodeId x = Sized(size)->id();
      const bool wide = size.opcode() == hlo::kBroadcast;
      of.push_back(wide ? to.Append(hlo::kBroadcast, size.shape_id(), size.attributes_id(), {x}) : x);
    }
    return ValueWithRule(to, "hypot", value, of);
  }
  return std::nullopt;
}

// Returns true when x is sin(zero) or -sin(zero).
bool IsSineOf(Instruction x, const Instruction& zero) {
  if (x.opcode() == hlo::kNegate) x = x.operand(0);
  return x.opcode() == hlo::kSine && IsSame(x.operand(0), zero);
}

// The sine and the cosine of a complex number x + iy: select(x == 0, 0 + ib, a + ib), where a is sin(x) times
// a function of y, and select(x == 0, b + 0i, b + ia). The part that is 0 has the derivative of a.
std::optional<NodeId> AppendSine(hlo::Computation& to, const Instruction& select) {
  const Instruction chosen = select.operand(1), other = select.operand(2);
  if (chosen.opcode() != hlo::kComplex || other.opcode() != hlo::kComplex) return std::nullopt;
  const std::optional<Instruction> zero = ComparedWith(0, select.operand(0), hlo::ComparisonDirection::kEq);
  if (!zero.has_value()) return std::nullopt;
  for (const size_t part : {size_t{0}, size_t{1}}) {
    const Instruction a = other.operand(part);
    if (ConstantNumber(chosen.operand(part)) != 0.0 ||
        !IsSame(chosen.operand(1 - part), other.operand(1 - part)) || a.opcode() != hlo::kMultiply ||
        !(IsSineOf(a.operand(0), *zero) || IsSineOf(a.operand(1), *zero))) {
      continue;
    }
    const NodeId pred = select.operands()[0], zeros = chosen.operands()[part];
    const NodeId kept = other.operands()[1 - part];
    // The instructions above are views, which are invalid once the builder appends.
    hlo::Builder b(TraceTables::Get().callees(), to);
    const hlo::Op value = b.Select({&b, pred}, {&b, zeros}, {&b, a.id()});
    if (!b.status().ok()) return std::nullopt;
    const std::optional<NodeId> ruled = ValueWithRule(to, "same_as", value.id, {a.id()});
    if (!ruled.has_value()) return std::nullopt;
    const hlo::Op parts[] = {{&b, part == 0 ? *ruled : kept}, {&b, part == 0 ? kept : *ruled}};
    return b.Binary(hlo::kComplex, parts[0], parts[1]).id;
  }
  return std::nullopt;
}

// select(x != 0 or y is NaN, x * log(y), 0), which is 0 at x = 0 but has the slope log(y) there; the same of
// log1p. With x for y, as in entr, the slope is log(x) + 1.
std::optional<NodeId> AppendXlogy(hlo::Computation& to, const Instruction& select) {
  const Instruction product = select.operand(1);
  if (product.opcode() != hlo::kMultiply || ConstantNumber(select.operand(2)) != 0.0) return std::nullopt;
  Instruction pred = select.operand(0);
  if (pred.opcode() == hlo::kOr) pred = pred.operand(0);
  const std::optional<Instruction> x = ComparedWith(0, pred, hlo::ComparisonDirection::kNe);
  Instruction log = product.operand(1);
  if (log.opcode() == hlo::kBroadcast) log = log.operand(0);
  if (!x.has_value() || !IsSame(*x, product.operand(0))) return std::nullopt;
  if (log.opcode() != hlo::kLog && log.opcode() != hlo::kLogPlusOne) return std::nullopt;
  if (log.opcode() == hlo::kLog && IsSame(log.operand(0), *x)) {
    return ValueWithRule(to, "x_log_x", select.id(), {x->id()});
  }
  return ValueWithRule(to, "same_as", select.id(), {product.id()});
}

// select(x == 0, x * 0 + 1, sin(v) / v), where v is x times a number, or 1 where x is 0.
std::optional<NodeId> AppendSinc(hlo::Computation& to, const Instruction& select) {
  const Instruction quotient = select.operand(2);
  if (quotient.opcode() != hlo::kDivide || quotient.operand(0).opcode() != hlo::kSine) return std::nullopt;
  const std::optional<Instruction> x = ComparedWith(0, select.operand(0), hlo::ComparisonDirection::kEq);
  const Instruction safe = quotient.operand(1);
  if (!x.has_value() || !IsSame(quotient.operand(0).operand(0), safe) || safe.opcode() != hlo::kSelect ||
      !IsSame(safe.operand(0), select.operand(0)) || !IsSame(MultipleOf(safe.operand(2)).of, *x)) {
    return std::nullopt;
  }
  return ValueWithRule(to, "spherical_bessel_j0", select.id(), {safe.operands()[2]});
}

// The test by which the continued fraction of gammaincc(a, x) goes on: its relative change, or 1 where it is
// not defined, exceeds a number. The loop also carries the fraction's derivative by a, whose change, which
// nothing reads, has the same form. At integers a the fraction ends long before its derivative does: the loop
// must go on until both have converged, as the loop of JAX's derivative does.
std::optional<NodeId> AppendConvergence(hlo::Computation& to, const Instruction& compare) {
  const Instruction change = compare.operand(0);
  if (compare.attributes<hlo::CompareAttributes>().direction != hlo::ComparisonDirection::kGt ||
      change.opcode() != hlo::kSelect || ConstantNumber(change.operand(2)) != 1.0) {
    return std::nullopt;
  }
  const std::optional<Instruction> quotient = Through(change.operand(1), {hlo::kAbs});
  if (!quotient.has_value() || quotient->opcode() != hlo::kDivide ||
      quotient->operand(0).opcode() != hlo::kSubtract ||
      !IsSame(quotient->operand(0).operand(1), quotient->operand(1))) {
    return std::nullopt;
  }
  for (NodeId node = change.id() + 1; node < compare.id(); ++node) {
    const Instruction other = to[node];
    if (other.opcode() != hlo::kSelect || !IsSame(other.operand(0), change.operand(0)) ||
        !IsSame(other.operand(2), change.operand(2))) {
      continue;
    }
    const std::optional<Instruction> difference = Through(other.operand(1), {hlo::kAbs});
    if (!difference.has_value() || difference->opcode() != hlo::kSubtract) continue;
    const NodeId number = compare.operands()[1], first = compare.id();
    hlo::Builder b(TraceTables::Get().callees(), to);
    const hlo::Op second = b.Compare({&b, node}, {&b, number}, hlo::ComparisonDirection::kGt);
    return b.Binary(hlo::kOr, {&b, first}, second).id;
  }
  return std::nullopt;
}

}  // namespace

std::optional<NodeId> AppendFormula(hlo::Computation& to, NodeId node) {
  const Instruction last = to[node];
  if (last.opcode() == hlo::kCompare) return AppendConvergence(to, last);
  const hlo::PrimitiveType type = last.shape().type;
  if (last.opcode() == hlo::kSelect && hlo::IsComplex(type)) return AppendSine(to, last);
  if (!hlo::IsFloat(type)) return std::nullopt;
  switch (last.opcode()) {
    case hlo::kAdd: {
      const std::optional<NodeId> sum = AppendLogAddExp(to, last);
      return sum.has_value() ? sum : AppendLogGammaVariate(to, last);
    }
    case hlo::kLog: return AppendLogit(to, last);
    case hlo::kMultiply: {
      const std::optional<NodeId> product = AppendHypot(to, last);
      if (product.has_value()) return product;
      for (const auto append : {AppendDawson, AppendErfcx, AppendGammaVariate}) {
        const std::optional<NodeId> ruled = append(to, last);
        if (ruled.has_value()) return ruled;
      }
      return std::nullopt;
    }
    case hlo::kSelect: {
      for (const auto append : {AppendXlogy, AppendSinc, AppendLogNdtr, AppendBetainc, AppendIncompleteGamma,
                                AppendMantissa, AppendFresnel, AppendPoch, AppendOwensT}) {
        const std::optional<NodeId> ruled = append(to, last);
        if (ruled.has_value()) return ruled;
      }
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

}  // namespace hlod::lazy

// gammainc(a, x) and gammaincc(a, x) select between a series and a continued fraction, each of which a loop
// computes from exp(a log(x) - x - lgamma(a)). The derivative of these by x is NaN at x = 0, where the
// logarithm is infinite, and its second derivative loses digits. Here x has the derivative of the density,
// and only `a` that of the instructions, which are copied with an x through which no derivative passes, and
// which is inside of its interval: at the ends, where the value does not depend on a, their derivative is
// NaN.
#include <cmath>
#include <limits>
#include <vector>

#include "client/tensor/trace/copy_nodes.h"
#include "client/tensor/trace/trace_tables.h"
#include "client/transform/foreign/distributions.h"
#include "client/transform/foreign/patterns.h"
#include "common/hlo/builder.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// The arguments, and whether the function is gammaincc.
struct Incomplete {
  NodeId a, x;
  bool is_upper;
};

// Returns y when x is 1 - y.
std::optional<Instruction> Complemented(const Instruction& x) {
  if (x.opcode() != hlo::kSubtract || ConstantNumber(x.operand(0)) != 1.0) return std::nullopt;
  return x.operand(1);
}

// Reads select(x >= 1 and x > a, 1 - fraction, series / a) of gammainc, and select(x < 1 or x < a, 1 - series
// / a, fraction) of gammaincc.
std::optional<Incomplete> IncompleteOf(const Instruction& select) {
  if (select.opcode() != hlo::kSelect) return std::nullopt;
  const Instruction pred = select.operand(0);
  const bool is_upper = pred.opcode() == hlo::kOr;
  if (!is_upper && pred.opcode() != hlo::kAnd) return std::nullopt;
  const auto direction = is_upper ? hlo::ComparisonDirection::kLt : hlo::ComparisonDirection::kGe;
  const auto than_a = is_upper ? hlo::ComparisonDirection::kLt : hlo::ComparisonDirection::kGt;
  const std::optional<Instruction> x = ComparedWith(1, pred.operand(0), direction);
  const Instruction compare = pred.operand(1);
  if (!x.has_value() || compare.opcode() != hlo::kCompare || !IsSame(*x, compare.operand(0)) ||
      compare.attributes<hlo::CompareAttributes>().direction != than_a) {
    return std::nullopt;
  }
  const Instruction a = compare.operand(1);
  const std::optional<Instruction> complement = Complemented(select.operand(1));
  if (!complement.has_value()) return std::nullopt;
  const Instruction series = is_upper ? *complement : select.operand(2);
  if (series.opcode() != hlo::kDivide || !IsSame(series.operand(1), a)) return std::nullopt;
  return Incomplete{a.id(), x->id(), is_upper};
}

// Copies `root` and what it is made of from a and x, its parameters 0 and 1, into a computation of its own.
hlo::Computation Extracted(const hlo::Computation& from, NodeId root, NodeId a, NodeId x) {
  std::vector<bool> used(root + 1);
  used[root] = true;
  for (NodeId node = root + 1; node-- > 0;) {
    if (!used[node] || node == a || node == x) continue;
    for (const NodeId operand : from[node].operands()) used[operand] = true;
  }
  hlo::Computation to(TraceTables::Get().tables(), "incomplete_gamma");
  hlo::Builder b(TraceTables::Get().callees(), to);
  const NodeId parameters[] = {b.Parameter(0, from[a].shape(), "a").id,
                               b.Parameter(1, from[x].shape(), "x").id};
  const auto given = [&](NodeId node, const Instruction&) -> std::optional<NodeId> {
    if (node == a) return parameters[0];
    if (node == x) return parameters[1];
    return used[node] ? std::nullopt : std::optional<NodeId>(0);
  };
  to.set_root(CopyNodes(from, root + 1, given, AppendingTo(to, from))[root]);
  return to;
}

}  // namespace

std::optional<NodeId> AppendIncompleteGamma(hlo::Computation& to, const Instruction& select) {
  std::optional<Instruction> value = Otherwise(select, std::nan(""));
  for (const double number : {1.0, 0.0}) {
    if (!value.has_value()) return std::nullopt;
    const std::optional<Instruction> inner = Otherwise(*value, number);
    if (inner.has_value()) value = inner;
  }
  const std::optional<Incomplete> found = IncompleteOf(*value);
  if (!found.has_value() || found->a == found->x) return std::nullopt;
  const hlo::Computation f = Extracted(to, select.id(), found->a, found->x);
  const NodeId node = select.id();
  NodeId inside = found->x;
  {
    hlo::Builder b(TraceTables::Get().callees(), to);
    const hlo::Op x{&b, found->x};
    const hlo::Shape& shape = b.shape(x);
    const auto number = [&](double value) {
      const hlo::Op scalar = b.Convert(b.Constant(static_cast<float>(value)), shape.type);
      return shape.dims.empty() ? scalar : b.Broadcast(scalar, shape.dims, {});
    };
    const auto is = [&](double value) { return b.Compare(x, number(value), hlo::ComparisonDirection::kEq); };
    const hlo::Op end = b.Binary(hlo::kOr, is(0), is(std::numeric_limits<double>::infinity()));
    inside = hlo::StopGradient(b.Select(end, number(0.5), x)).id;
    if (!b.status().ok()) return std::nullopt;
  }
  const NodeId arguments[] = {found->a, inside};
  const NodeId by_a = CopyNodes(f, f.size(), InPlaceOfParameters(arguments), AppendingTo(to, f))[f.root_id()];
  return ValueWithRule(to, found->is_upper ? "gammaincc" : "gammainc", node, {by_a, found->a, found->x});
}

}  // namespace hlod::lazy

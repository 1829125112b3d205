// Compares instructions by what they compute: JAX repeats constants and broadcasts of them.
#include "client/transform/foreign/patterns.h"

#include <cmath>

#include "client/tensor/trace/trace_tables.h"
#include "common/hlo/builder.h"
#include "common/hlo/literal.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {

using hlo::Instruction;
using hlo::NodeId;

bool IsSame(const Instruction& a, const Instruction& b, int depth) {
  if (a.id() == b.id()) return true;
  const size_t count = a.operands().size();
  const bool alike = a.opcode() == b.opcode() && a.shape_id() == b.shape_id() &&
                     a.attributes_id() == b.attributes_id() && count == b.operands().size();
  const bool pure = a.opcode() == hlo::kConstant || hlo::HasTrait(a.opcode(), hlo::kElementwise) ||
                    a.opcode() == hlo::kBroadcast || a.opcode() == hlo::kReshape;
  if (!alike || !pure || depth == 0) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!IsSame(a.operand(i), b.operand(i), depth - 1)) return false;
  }
  return true;
}

std::optional<double> ConstantNumber(Instruction x) {
  while (x.opcode() == hlo::kBroadcast || x.opcode() == hlo::kReshape || x.opcode() == hlo::kConvert) {
    x = x.operand(0);
  }
  if (x.opcode() != hlo::kConstant || !hlo::IsFloat(x.shape().type)) return std::nullopt;
  const hlo::Literal& literal = x.literal();
  const int64_t count = literal.element_count();
  if (count == 0) return std::nullopt;
  const double first = hlo::ElementAsDouble(literal, 0);
  for (int64_t i = 1; i < count; ++i) {
    if (hlo::ElementAsDouble(literal, i) != first) return std::nullopt;
  }
  return first;
}

std::optional<Instruction> Through(Instruction x, std::initializer_list<hlo::Opcode> opcodes) {
  for (const hlo::Opcode opcode : opcodes) {
    if (x.opcode() != opcode) return std::nullopt;
    x = x.operand(0);
  }
  return x;
}

Multiple MultipleOf(const Instruction& x) {
  if (x.opcode() == hlo::kMultiply) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const std::optional<double> factor = ConstantNumber(x.operand(i));
      if (factor.has_value()) return {*factor, x.operand(1 - i)};
    }
  }
  return {1, x};
}

std::optional<Instruction> Otherwise(const Instruction& select, double number) {
  if (select.opcode() != hlo::kSelect) return std::nullopt;
  const std::optional<double> chosen = ConstantNumber(select.operand(1));
  if (!chosen.has_value() || !(*chosen == number || (std::isnan(*chosen) && std::isnan(number)))) {
    return std::nullopt;
  }
  return select.operand(2);
}

std::optional<NodeId> ValueWithRule(hlo::Computation& to, std::string_view rule, NodeId value,
                                    const std::vector<NodeId>& of) {
  hlo::Builder b(TraceTables::Get().callees(), to);
  std::vector<hlo::Op> elements = {hlo::StopGradient({&b, value})};
  for (const NodeId x : of) elements.push_back({&b, x});
  const hlo::Op result = b.GetTupleElement(hlo::TupleWithRule(rule, elements, 1), 0);
  if (!b.status().ok()) return std::nullopt;
  return result.id;
}

std::optional<Instruction> ComparedWith(double number, const Instruction& pred,
                                        hlo::ComparisonDirection direction) {
  if (pred.opcode() != hlo::kCompare || pred.attributes<hlo::CompareAttributes>().direction != direction ||
      ConstantNumber(pred.operand(1)) != number) {
    return std::nullopt;
  }
  return pred.operand(0);
}

}  // namespace hlod::lazy

// Recognizes max(x, y) + log1p(exp(-|x - y|)).
#include "client/transform/functions/foreign_log_add_exp.h"

#include "client/tensor/trace/trace_tables.h"
#include "common/hlo/builder.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {
namespace {

// Follows a chain of unary instructions with these opcodes from `node` down; returns the operand at its end,
// or nullopt when the opcodes differ.
std::optional<hlo::NodeId> Through(const hlo::Computation& computation, hlo::NodeId node,
                                   std::initializer_list<hlo::Opcode> opcodes) {
  for (const hlo::Opcode opcode : opcodes) {
    const hlo::Instruction instruction = computation[node];
    if (instruction.opcode() != opcode) return std::nullopt;
    node = instruction.operands()[0];
  }
  return node;
}

hlo::Op LogAddExpOf(absl::Span<const hlo::Op> x) {
  hlo::Builder& b = *x[0].builder;
  const hlo::Op distance = b.Unary(hlo::kAbs, b.Binary(hlo::kSubtract, x[0], x[1]));
  return b.Binary(hlo::kAdd, b.Binary(hlo::kMaximum, x[0], x[1]),
                  b.Unary(hlo::kLogPlusOne, b.Unary(hlo::kExponential, b.Unary(hlo::kNegate, distance))));
}

}  // namespace

std::optional<hlo::NodeId> AppendAsLogAddExp(hlo::Computation& to, const hlo::Instruction& add,
                                             absl::Span<const hlo::NodeId> operands) {
  if (add.opcode() != hlo::kAdd || !hlo::IsFloat(add.shape().type)) return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const hlo::Instruction larger = to[operands[i]];
    if (larger.opcode() != hlo::kMaximum) continue;
    const std::optional<hlo::NodeId> difference =
        Through(to, operands[1 - i], {hlo::kLogPlusOne, hlo::kExponential, hlo::kNegate, hlo::kAbs});
    if (!difference.has_value() || to[*difference].opcode() != hlo::kSubtract) continue;
    const hlo::NodeId x = larger.operands()[0], y = larger.operands()[1];
    const absl::Span<const hlo::NodeId> terms = to[*difference].operands();
    if (!(terms[0] == x && terms[1] == y) && !(terms[0] == y && terms[1] == x)) continue;
    hlo::Builder b(TraceTables::Get().callees(), to);
    const hlo::Op both[] = {{&b, x}, {&b, y}};
    const hlo::Op result = hlo::OwnDerivative("log_add_exp", both, LogAddExpOf);
    if (!b.status().ok()) return std::nullopt;
    return result.id;
  }
  return std::nullopt;
}

}  // namespace hlod::lazy

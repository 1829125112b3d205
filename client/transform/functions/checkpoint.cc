// Checkpoint records the function as one call. The call returns the function's results and the values that
// the policy may keep; rules/call.cc recomputes all other values from the arguments.
#include "hlod/transform/checkpoint.h"

#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function.h"
#include "client/transform/autodiff/control_rules.h"
#include "client/transform/functions/prints_of.h"
#include "client/transform/functions/suspend.h"
#include "common/hlo/instruction_cloner.h"

namespace hlod {
namespace lazy {
namespace {

constexpr char kName[] = "checkpoint_name";

bool IsKept(const hlo::Computation& computation, NodeId node, const CheckpointPolicy& policy) {
  if (policy.dots && computation[node].opcode() == hlo::kDot) return true;
  const hlo::Notes* const notes = computation.notes(node);
  if (notes == nullptr) return false;
  const auto name = notes->frontend_attributes.find(kName);
  return name != notes->frontend_attributes.end() &&
         std::find(policy.names.begin(), policy.names.end(), name->second) != policy.names.end();
}

// Returns a callee of the function, which returns a tuple: the results, then the other values that the policy
// keeps. Sets `kept` to the indices of the elements that the policy keeps, including results.
hlo::ComputationId CalleeOf(const Function& function, const CheckpointPolicy& policy,
                            std::vector<size_t>& kept) {
  const hlo::Computation& from = *function.computation;
  hlo::Computation callee(from.shared_tables(), "checkpoint");
  hlo::InstructionCloner(from, callee).CloneAll();
  std::vector<NodeId> elements = function.outputs;
  for (NodeId node = 0; node < from.size(); ++node) {
    const bool result = std::find(elements.begin(), elements.end(), node) != elements.end();
    if (!result && from[node].shape().IsArray() && IsKept(from, node, policy)) elements.push_back(node);
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    if (IsKept(from, elements[i], policy)) kept.push_back(i);
  }
  std::vector<Shape> shapes;
  for (const NodeId element : elements) shapes.push_back(from[element].shape());
  const hlo::ShapeId tuple = callee.tables().Intern(Shape::Tuple(std::move(shapes)));
  callee.set_root(callee.Append(hlo::kTuple, tuple, 0, elements));
  return TraceTables::Get().Callee(callee);
}

}  // namespace

std::vector<Tensor> CallCheckpointed(const Traced& traced, const std::vector<Tensor>& arguments,
                                     const CheckpointPolicy& policy, const Caller& caller) {
  if (policy.everything) return CallTraced(traced, arguments, caller);
  RefusePrints(traced, "checkpoint", caller);
  static constexpr Operation kCheckpoint = {"Checkpoint", "checkpoint", Promotion::kNone,
                                            "computed again for gradients"};
  const AutocastSuspension suspension;
  const Function& function = traced.function();
  const std::vector<Tensor> captured = function.Captured();
  std::vector<Operand> operands = OperandsOf(arguments, caller);
  for (const Tensor& tensor : captured) operands.emplace_back(tensor, caller);
  return CallSeveral(kCheckpoint, operands, [&](Lowering& l, Operands o) {
    std::vector<Op> all(o.begin(), o.begin() + static_cast<std::ptrdiff_t>(arguments.size()));
    const std::vector<Op> extra = ExtraArguments(l, function, o.subspan(arguments.size()));
    all.insert(all.end(), extra.begin(), extra.end());
    std::vector<size_t> kept;
    const Op call = l.b.Add(hlo::kCall, all, hlo::CallAttributes{true}, {CalleeOf(function, policy, kept)});
    SetKept(l.graph.mutable_notes(call.id), kept);
    std::vector<Op> results;
    for (size_t i = 0; i < function.outputs.size(); ++i) {
      results.push_back(l.b.GetTupleElement(call, static_cast<int64_t>(i)));
    }
    return results;
  });
}

}  // namespace lazy

Tensor CheckpointName(const Operand& x, const std::string& name) {
  static constexpr lazy::Operation kOperation = {"CheckpointName", "checkpoint_name", lazy::Promotion::kNone,
                                                 "named for Checkpoint()"};
  return lazy::Call(kOperation, {x}, [&](lazy::Lowering& l, lazy::Operands o) {
    const lazy::Op named = l.b.Unary(hlo::kCopy, o[0]);
    l.graph.mutable_notes(named.id).frontend_attributes[lazy::kName] = name;
    return named;
  });
}

}  // namespace hlod

// Subgraphs of computations: finds their active nodes, and names nodes in errors.
#include <string>

#include "client/tensor/function/function.h"
#include "client/transform/autodiff/differentiate.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

Subgraph SubgraphOf(const CalleeBody& body, std::vector<bool> wanted, const Subgraph& around, NodeId caller) {
  return {body.computation, 0,     body.computation.size(), body.parameters, std::move(wanted), nullptr,
          &around,          caller};
}

std::string OriginText(const Subgraph& part, NodeId node) {
  const Subgraph* at = &part;
  while (at->graph == nullptr && at->around != nullptr) {
    node = at->caller;
    at = at->around;
  }
  if (at->graph == nullptr) return "";
  const OriginRow& row = at->graph->origin(node);
  return std::string(", of ") + row.operation + " (" + LineText(row.caller) + "),";
}

void RefuseRule(const Subgraph& part, NodeId node, const char* rule) {
  const hlo::Instruction instruction = part.computation[node];
  std::string text(hlo::Name(instruction.opcode()));
  if (instruction.opcode() == hlo::kCustomCall) {
    text += " (" + instruction.attributes<hlo::CustomCallAttributes>().target + ")";
  }
  const bool is_call = instruction.opcode() == hlo::kCustomCall;
  Refuse("%s has no %s rule%s", text + OriginText(part, node), rule,
         is_call ? "; CustomVjp() and CustomJvp() give one to the function that calls it" : "");
}

std::vector<bool> ActiveNodes(const Subgraph& part) {
  absl::flat_hash_map<NodeId, bool> inputs;
  for (size_t i = 0; i < part.inputs.size(); ++i) inputs.try_emplace(part.inputs[i], part.wanted[i]);
  std::vector<bool> active(part.limit - part.first, false);
  const auto is_active = [&](NodeId node) {
    if (node >= part.first && node < part.limit) return static_cast<bool>(active[node - part.first]);
    const auto input = inputs.find(node);
    return input != inputs.end() && input->second;
  };
  for (NodeId node = part.first; node < part.limit; ++node) {
    if (const auto input = inputs.find(node); input != inputs.end()) {
      active[node - part.first] = input->second;
      continue;
    }
    const hlo::Instruction instruction = part.computation[node];
    bool any = false;
    for (const NodeId operand : instruction.operands()) any = any || is_active(operand);
    if (any && instruction.shape().IsArray()) any = IsDifferentiable(instruction.shape().type);
    active[node - part.first] = any && !IsStopped(part.computation, node);
  }
  return active;
}

}  // namespace hlod::lazy

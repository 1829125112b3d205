// Extracts a function from a trace, and appends one to a trace.
#include "client/tensor/function/function.h"

#include <algorithm>
#include <string>

#include "client/tensor/dispatch/generator.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/function/extra_arguments.h"
#include "client/tensor/ops/shape/stop.h"
#include "client/tensor/trace/copy_nodes.h"
#include "client/tensor/value/impl.h"
#include "common/hlo/instruction_cloner.h"

namespace hlod::lazy {
namespace {

// Marks the nodes that the outputs need, stopping at the inputs.
std::vector<bool> Needed(const hlo::Computation& from, const hlo::InstructionCloner& cloner,
                         absl::Span<const NodeId> outputs) {
  NodeId last = 0;
  for (const NodeId output : outputs) last = std::max(last, output);
  std::vector<bool> needed(from.size() == 0 ? 0 : last + 1, false);
  for (const NodeId output : outputs) needed[output] = true;
  for (NodeId node = static_cast<NodeId>(needed.size()); node-- > 0;) {
    if (!needed[node] || cloner.has(node)) continue;
    for (const NodeId operand : from[node].operands()) needed[operand] = true;
  }
  return needed;
}

}  // namespace

std::vector<Tensor> Function::Captured() const {
  std::vector<Tensor> tensors;
  for (const Parameter& parameter : extra) {
    if (parameter.literal == nullptr) tensors.push_back(parameter.captured);
  }
  return tensors;
}

Function Extract(const Trace& graph, absl::Span<const NodeId> inputs, absl::Span<const NodeId> outputs) {
  const hlo::Computation& from = graph.computation();
  Function function;
  function.computation = std::make_unique<hlo::Computation>(from.shared_tables(), "function");
  function.arguments = inputs.size();
  hlo::Computation& to = *function.computation;
  hlo::InstructionCloner cloner(from, to);
  uint32_t number = 0;
  const auto append_parameter = [&](hlo::ShapeId shape) {
    return to.Append(hlo::kParameter, shape, TraceTables::Get().ParameterNumber(number++), {});
  };
  for (const NodeId input : inputs) {
    const NodeId copy = append_parameter(from[input].shape_id());
    // An input that is listed twice is represented by its first occurrence.
    if (!cloner.has(input)) cloner.set_node(input, copy);
  }
  const std::vector<bool> needed = Needed(from, cloner, outputs);
  for (NodeId node = 0; node < needed.size(); ++node) {
    if (!needed[node] || cloner.has(node)) continue;
    if (const Parameter* parameter = graph.ParameterAt(node); parameter != nullptr) {
      Parameter extra = *parameter;
      if (extra.value && !extra.captured.defined()) extra.captured = MakeTensor(extra.value);
      extra.value = Ref<Value>();
      extra.node = append_parameter(from[node].shape_id());
      cloner.set_node(node, extra.node);
      function.extra.push_back(std::move(extra));
      continue;
    }
    const uint32_t origin = graph.origins().At(node);
    if (function.origins.empty() || function.origins.back().second != origin) {
      function.origins.emplace_back(to.size(), origin);
    }
    cloner.Clone(node);
  }
  for (const NodeId output : outputs) function.outputs.push_back(cloner.node(output));
  return function;
}

std::vector<Op> ExtraArguments(Lowering& l, const Function& function, absl::Span<const Op> captured,
                               uint64_t repeats) {
  const RandomState random =
      function.random_steps == 0 ? RandomState{} : Advance(l.graph.place, function.random_steps * repeats);
  return ExtraArgumentsFrom(l, function, captured, random, repeats);
}

std::vector<Op> ExtraArgumentsFrom(Lowering& l, const Function& function, absl::Span<const Op>& captured,
                                   const RandomState& random, uint64_t repeats) {
  std::vector<Op> extra;
  for (const Parameter& parameter : function.extra) {
    if (parameter.literal == nullptr) {
      extra.push_back(captured.front());
      captured.remove_prefix(1);
    } else if (parameter.random) {
      const absl::Span<const uint64_t> position = parameter.literal->data<uint64_t>();
      const uint64_t offset = random.offset + position[1] * repeats;
      extra.push_back(l.graph.op(
          l.graph.NumberParameter(Literal::Array<uint64_t>({3}, {random.seed, offset, position[2]}), true)));
    } else {
      extra.push_back(l.graph.op(l.graph.NumberParameter(*parameter.literal)));
    }
  }
  return extra;
}

std::vector<Op> Inline(Lowering& l, const Function& function, absl::Span<const Op> arguments,
                       absl::Span<const Op> captured) {
  const hlo::Computation& from = *function.computation;
  Trace& graph = l.graph;
  std::vector<NodeId> parameters;
  for (const Op argument : arguments) parameters.push_back(argument.id);
  for (const Op extra : ExtraArguments(l, function, captured)) parameters.push_back(extra.id);
  size_t next_origin = 0;
  const std::vector<NodeId> copy_of = CopyNodes(
      from, from.size(), InPlaceOfParameters(parameters),
      [&](NodeId node, absl::Span<const NodeId> operands) {
        while (next_origin < function.origins.size() && function.origins[next_origin].first <= node) {
          const OriginRow& row = TraceTables::Get().origin(function.origins[next_origin++].second);
          graph.SetOrigin(row.caller, row.operation);
        }
        return graph.AppendCopy(from, node, operands);
      });
  std::vector<Op> results;
  for (const NodeId output : function.outputs) results.push_back(graph.op(copy_of[output]));
  return results;
}

Op WithoutGradient(Lowering&, Op made, Op from) {
  if (made.id != from.id) hlo::Stop(made);
  return made;
}

}  // namespace hlod::lazy

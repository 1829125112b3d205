// Makes canonical forms and modules from a part of an open trace.
#include "client/tensor/program/canonical.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "client/tensor/mesh/sharding_call.h"
#include "client/tensor/mesh/trace_mesh.h"
#include "client/tensor/ops/linalg/routine.h"
#include "client/tensor/trace/decompose_for_xla.h"
#include "common/hlo/instruction_cloner.h"
#include "common/lapack/routine_call.h"

namespace hlod::lazy {
namespace {

// Appends `instruction` in the form for the daemon's module: the instruction itself, or a call that replaces
// it.
NodeId AppendPortable(hlo::Computation& to, const hlo::Instruction& instruction,
                      absl::Span<const NodeId> operands, const DecomposeForXla& portable,
                      const std::map<hlo::ComputationId, hlo::ComputationId>& callees) {
  if (const auto call = portable.Find(instruction))
    return to.Append(hlo::kCall, instruction.shape_id(), to.tables().Intern(hlo::CallAttributes{}), operands,
                     {*call});
  absl::InlinedVector<hlo::ComputationId, 2> called;
  for (const hlo::ComputationId callee : instruction.called()) called.push_back(callees.at(callee));
  if (IsRoutine(instruction)) {
    const NodeId call = to.Append(hlo::kCall, instruction.shape_id(),
                                  to.tables().Intern(hlo::CallAttributes{}), operands, called);
    lapack::NameRoutine(to.mutable_notes(call), instruction.attributes<hlo::CustomCallAttributes>());
    return call;
  }
  // The mark of a checkpoint has done its work in the trace; XLA takes it for a composite, which has a name.
  if (instruction.opcode() == hlo::kCall && instruction.attributes<hlo::CallAttributes>().is_composite)
    return to.Append(hlo::kCall, instruction.shape_id(), to.tables().Intern(hlo::CallAttributes{}), operands,
                     called);
  if (IsShardingCall(instruction)) {
    hlo::CustomCallAttributes attributes = instruction.attributes<hlo::CustomCallAttributes>();
    attributes.backend_config.clear();
    const NodeId stated = to.Append(hlo::kCustomCall, instruction.shape_id(),
                                    to.tables().Intern(hlo::Attributes(attributes)), operands);
    const ShardingCall call = ReadShardingCall(instruction);
    to.mutable_notes(stated).sharding =
        StatedSharding(call.sharding, instruction.shape().dims.size(), call.devices.size());
    return stated;
  }
  return hlo::CloneInstruction(instruction, operands, to, hlo::ClonedNotes::kNone, {.called = called});
}

// Copies the computations that `computation` calls, directly or not, into `module`, in the order of their
// ids, which puts callees before their callers. Returns their new ids.
std::map<hlo::ComputationId, hlo::ComputationId> CopyCallees(const hlo::Computation& computation,
                                                             Module& module, DecomposeForXla& portable) {
  const Module& callees = TraceTables::Get().callees();
  std::map<hlo::ComputationId, hlo::ComputationId> copies;
  std::vector<const hlo::Computation*> pending = {&computation};
  while (!pending.empty()) {
    const hlo::Computation& caller = *pending.back();
    pending.pop_back();
    for (NodeId node = 0; node < caller.size(); ++node) {
      for (const hlo::ComputationId id : caller[node].called()) {
        if (copies.emplace(id, 0).second) pending.push_back(&callees.computation(id));
      }
    }
  }
  for (auto& [id, copy] : copies) {
    const hlo::Computation& from = callees.computation(id);
    portable.Prepare(from);
    hlo::Computation& to = module.AddComputation(from.name());
    copy = module.computation_count() - 1;
    for (NodeId node = 0; node < from.size(); ++node) {
      const NodeId added = AppendPortable(to, from[node], from[node].operands(), portable, copies);
      // A callee is identified by its words and its shardings (SameNotes in trace_tables.cc), so the copy
      // keeps the shardings.
      const hlo::Notes* const notes = from.notes(node);
      if (notes != nullptr && !notes->sharding.empty()) to.mutable_notes(added).sharding = notes->sharding;
    }
    to.set_root(from.root_id());
  }
  return copies;
}

}  // namespace

Canonical Canonicalise(const Trace& graph, absl::Span<const NodeId> outputs) {
  const hlo::Computation& from = graph.computation();
  Canonical result;
  result.computation = std::make_unique<hlo::Computation>(from.shared_tables(), "main");
  hlo::InstructionCloner cloner(from, *result.computation, {.notes = false});
  std::vector<std::pair<NodeId, uint32_t>> stack;  // Pairs of a node and the number of its operands visited.
  for (const NodeId output : outputs) {
    stack.emplace_back(output, 0);
    while (!stack.empty()) {
      auto& [node, visited] = stack.back();
      const hlo::Instruction instruction = from[node];
      if (cloner.has(node)) {
        stack.pop_back();
      } else if (visited < instruction.operand_count()) {
        const NodeId operand = instruction.operands()[visited++];
        if (!cloner.has(operand)) stack.emplace_back(operand, 0);
      } else {
        if (instruction.opcode() == hlo::kParameter) {
          const auto number = static_cast<uint32_t>(result.parameters.size());
          result.parameters.push_back(static_cast<uint32_t>(instruction.parameter_number()));
          cloner.Clone(node, {.attributes = TraceTables::Get().ParameterNumber(number)});
        } else {
          cloner.Clone(node);
        }
        result.nodes.push_back(node);
        stack.pop_back();
      }
    }
    result.outputs.push_back(cloner.node(output));
  }
  return result;
}

std::unique_ptr<Module> MakeModule(std::string name, const Trace& graph, const Canonical& canonical,
                                   absl::Span<const uint32_t> donated,
                                   absl::Span<const std::string> output_shardings) {
  const hlo::Computation& from = *canonical.computation;
  auto module = std::make_unique<Module>(std::move(name), from.shared_tables());
  DecomposeForXla portable(*module);
  const auto callees = CopyCallees(from, *module, portable);
  portable.Prepare(from);
  hlo::Computation& main = module->AddComputation("main");
  module->set_entry(module->computation_count() - 1);
  std::vector<NodeId> recorded(from.size()), placed(from.size());
  std::iota(recorded.begin(), recorded.end(), NodeId{0});
  // Parameters that were added come first. Nodes that were added beside another one stay after it.
  std::ranges::stable_sort(recorded, {}, [&](NodeId node) {
    return canonical.nodes[node] == kNoNode ? NodeId{0} : canonical.nodes[node] + 1;
  });
  absl::InlinedVector<NodeId, 8> operands;
  for (const NodeId node : recorded) {
    operands.clear();
    for (const NodeId operand : from[node].operands()) operands.push_back(placed[operand]);
    placed[node] = AppendPortable(main, from[node], operands, portable, callees);
    if (canonical.nodes[node] == kNoNode) continue;
    if (const Parameter* parameter = graph.ParameterAt(canonical.nodes[node]); parameter != nullptr) {
      if (std::string sharding = ShardingOf(*parameter); !sharding.empty())
        main.mutable_notes(placed[node]).sharding = std::move(sharding);
    }
    const OriginRow& row = graph.origin(canonical.nodes[node]);
    if (row.caller.line == 0) continue;
    hlo::Metadata& metadata = main.mutable_notes(placed[node]).metadata;
    metadata.op_type = metadata.op_name = row.operation;
    metadata.source_file = row.caller.file;
    metadata.source_line = row.caller.line;
  }
  std::vector<Shape> elements;
  std::vector<NodeId> outputs;
  for (size_t i = 0; i < canonical.outputs.size(); ++i) {
    const NodeId output = canonical.outputs[i];
    elements.push_back(from[output].shape());
    outputs.push_back(placed[output]);
    if (i >= output_shardings.size() || output_shardings[i].empty()) continue;
    outputs[i] = main.Append(hlo::kCustomCall, from[output].shape_id(),
                             main.tables().Intern(hlo::Attributes(
                                 hlo::CustomCallAttributes{.target = "Sharding", .api_version = 1})),
                             {&outputs[i], 1});
    main.mutable_notes(outputs[i]).sharding = output_shardings[i];
  }
  if (outputs.size() == 1) {
    main.set_root(outputs[0]);
  } else {
    const hlo::ShapeId tuple = main.tables().Intern(Shape::Tuple(std::move(elements)));
    main.set_root(main.Append(hlo::kTuple, tuple, 0, outputs));
  }
  for (const uint32_t parameter : donated) {
    module->config.buffer_donors.push_back({static_cast<int64_t>(parameter), {}});
  }
  return module;
}

}  // namespace hlod::lazy

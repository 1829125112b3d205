// Walks over each computation in the order of its units, and maps every node to the values of its array
// leaves. Instructions that only rename bytes (tuples, reshapes, calls, loop variables that never change) are
// mapped to existing values.
#include "server/engine/plan/lowering/lowering.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "common/hlo/analysis/aliases.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/flat_signature.h"
#include "server/engine/plan/lowering/lowering_internal.h"
#include "server/engine/plan/lowering/lowering_order.h"
#include "server/engine/plan/lowering/lowering_steps.h"

namespace hlod::engine {

using hlo::Computation;
using hlo::Instruction;
using hlo::NodeId;
using hlo::Shape;

namespace {

int32_t CountLeaves(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int32_t count = 0;
  for (const Shape& element : shape.tuple) count += CountLeaves(element);
  return count;
}

// Returns the instruction that computes a leaf of a result, looking through the tuples at its end.
Instruction MakerOf(Instruction root, absl::Span<const int64_t> index) {
  for (const int64_t i : index) {
    if (root.opcode() != hlo::kTuple) break;
    root = root.operand(static_cast<uint32_t>(i));
  }
  return root;
}

}  // namespace

const TupleLeaves& Lowering::LeavesOfShape(hlo::ShapeId id, const Shape& shape) {
  auto [it, inserted] = tuple_leaves_.try_emplace(id);
  if (inserted) {
    for (const Shape& element : shape.tuple) {
      it->second.begin.push_back(it->second.count);
      it->second.count += CountLeaves(element);
    }
  }
  return it->second;
}

absl::StatusOr<ValueId> Lowering::NewValue(const Shape& shape, int32_t loop) {
  const std::optional<int64_t> bytes = hlo::ByteSize(shape);
  if (!bytes.has_value()) return ResourceExhausted("The bytes of %s overflow.", hlo::ToStringNoLayout(shape));
  if (*bytes > kValueBytesMax) {
    return ResourceExhausted("The bytes (%d) of %s exceed the limit (%d) of one array.", *bytes,
                             hlo::ToStringNoLayout(shape), kValueBytesMax);
  }
  RETURN_IF_ERROR(Spend(1));
  const ValueId id = static_cast<ValueId>(program_.values.size());
  Value& value = program_.values.emplace_back();
  value.bytes = *bytes;
  value.home = loop;
  forward_.push_back(id);
  return id;
}

absl::Status Lowering::Spend(size_t leaves) {
  leaves_ += static_cast<int64_t>(leaves);
  if (leaves_ <= kLoweredLeavesMax) return absl::OkStatus();
  return ResourceExhausted(
      "Module %s uses more than %d array values once calls are inlined: leaves of tuples count "
      "at each use.",
      module_->name(), kLoweredLeavesMax);
}

ValueId Lowering::NewConstant(std::shared_ptr<const hlo::Literal> literal) {
  const ValueId id = static_cast<ValueId>(program_.values.size());
  Value& value = program_.values.emplace_back();
  value.bytes = static_cast<int64_t>(literal->bytes().size());
  value.space = Space::kConstant;
  value.index = static_cast<int32_t>(program_.constants.size());
  program_.constants.push_back(std::move(literal));
  forward_.push_back(id);
  return id;
}

void Lowering::AddConstantLeaves(const std::shared_ptr<const hlo::Literal>& literal, ValueIds& leaves) {
  if (!literal->shape().IsTuple()) {
    leaves.push_back(NewConstant(literal));
    return;
  }
  for (const hlo::Literal& element : literal->elements()) {
    AddConstantLeaves(std::shared_ptr<const hlo::Literal>(literal, &element), leaves);
  }
}

absl::StatusOr<const Schedule*> Lowering::ScheduleOf(const Computation& computation) {
  std::unique_ptr<Schedule>& schedule = schedules_[&computation];
  if (schedule == nullptr) {
    auto made = std::make_unique<Schedule>();
    const std::vector<bool> live = LiveInstructions(computation, effects_);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (!live[id]) continue;
      ++made->live_count;
      made->live_leaves += LeafCount(computation[id]);
    }
    if (!options_.reference_only) {
      made->reads = StepReads(*module_, computation);
      made->groups = PlanFusion(*module_, computation, live, effects_, made->reads);
    }
    // Broadcasts and slices that are read only by fused steps are never computed.
    ASSIGN_OR_RETURN(
        made->units,
        OrderUnits(computation, NeededNodes(computation, live, effects_, made->groups, made->reads),
                   made->groups, made->reads));
    schedule = std::move(made);
  }
  return schedule.get();
}

absl::StatusOr<ValueIds> Lowering::LowerComputation(const Computation& computation,
                                                    absl::Span<const ValueId> parameters, int32_t loop) {
  ASSIGN_OR_RETURN(const Schedule* schedule, ScheduleOf(computation));
  lowered_instructions_ += schedule->live_count;
  if (lowered_instructions_ > instructions_max_) {
    return ResourceExhausted(
        "Module %s, which has %d instructions, has more than %d once calls and branches are inlined.",
        module_->name(), module_->instruction_count(), instructions_max_);
  }
  // Counts the leaves that the computation's instructions will hold in the frame.
  RETURN_IF_ERROR(Spend(schedule->live_leaves));
  Frame frame{computation,    std::vector<int32_t>(computation.size(), 0), {}, parameters, {}, loop,
              schedule->reads};
  frame.leaves.reserve(computation.size());
  int32_t begin = 0;
  for (NodeId parameter : computation.parameters()) {
    frame.parameter_begin.push_back(begin);
    begin += LeafCount(computation[parameter]);
  }
  for (const Unit& unit : schedule->units) {
    // Making a step takes up to a millisecond.
    RETURN_IF_ERROR(Interrupted(options_));
    if (unit.group >= 0) {
      RETURN_IF_ERROR(LowerGroup(frame, schedule->groups[unit.group]));
    } else {
      RETURN_IF_ERROR(LowerInstruction(frame, computation[unit.node]));
    }
  }
  const absl::Span<const ValueId> root = LeavesOf(frame, computation.root_id());
  return ValueIds(root.begin(), root.end());
}

// Replaces values by those that they are equal to, and drops moves of a value into itself.
void Lowering::ResolveAll() {
  for (Op& op : program_.ops) {
    for (ValueId& value : op.inputs) value = Resolve(value);
    for (ValueId& value : op.outputs) value = Resolve(value);
    if (!op.IsMove()) continue;
    size_t kept = 0;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (op.inputs[k] == op.outputs[k] || program_.values[op.outputs[k]].bytes == 0) continue;
      op.inputs[kept] = op.inputs[k];
      op.outputs[kept] = op.outputs[k];
      ++kept;
    }
    op.inputs.resize(kept);
    op.outputs.resize(kept);
  }
}

absl::StatusOr<FlatProgram> Lowering::Run() {
  const Computation& entry = module_->entry();
  program_.instructions = module_->instruction_count();
  const hlo::FlatSignature signature(entry);
  for (const hlo::FlatSignature::Leaf& leaf : signature.arguments) {
    ASSIGN_OR_RETURN(const ValueId value, NewValue(leaf.shape, kNone));
    program_.values[value].space = Space::kArgument;
    program_.values[value].index = static_cast<int32_t>(program_.arguments.size());
    program_.arguments.push_back(leaf.shape);
    program_.argument_values.push_back(value);
  }
  for (const hlo::FlatSignature::Leaf& leaf : signature.results)
    program_.results.push_back(hlo::StoredShape(MakerOf(entry.root(), leaf.index)).value_or(leaf.shape));
  program_.aliases = hlo::ResolveAliases(*module_, signature);

  ASSIGN_OR_RETURN(const ValueIds results, LowerComputation(entry, program_.argument_values, kNone));

  // Results are moved to the caller's memory. Most of these moves disappear when buffers are assigned.
  absl::InlinedVector<ValueId, 3> places;
  for (size_t r = 0; r < results.size(); ++r) {
    ASSIGN_OR_RETURN(const ValueId place, NewValue(signature.results[r].shape, kNone));
    const int alias = program_.aliases[r];
    program_.values[place].space = alias >= 0 ? Space::kArgument : Space::kResult;
    program_.values[place].index = alias >= 0 ? alias : static_cast<int32_t>(r);
    places.push_back(place);
  }
  Op& end = AddOp(Op::Kind::kReturn, kNone);
  end.inputs.assign(results.begin(), results.end());
  end.outputs = std::move(places);

  // From here on, ops are not added or removed.
  ResolveAll();
  return std::move(program_);
}

absl::StatusOr<FlatProgram> Lower(std::shared_ptr<const hlo::Module> module, const CompileOptions& options,
                                  int threads) {
  return Lowering(std::move(module), options, threads).Run();
}

}  // namespace hlod::engine

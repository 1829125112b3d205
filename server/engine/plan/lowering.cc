// Walks over each computation in the order of its units, and maps every node to the values of its array
// leaves. Instructions that only rename bytes (tuples, reshapes, calls, loop variables that never change) are
// mapped to existing values.
#include "server/engine/plan/lowering.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/base/text/utf8.h"
#include "common/evaluator/evaluator.h"
#include "common/evaluator/random_counters.h"
#include "common/hlo/analysis/aliases.h"
#include "common/hlo/analysis/effects.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/flat_signature.h"
#include "server/engine/plan/collective_step.h"
#include "server/engine/plan/lowering_order.h"
#include "server/engine/plan/lowering_steps.h"
#include "server/engine/plan/runnable.h"
#include "server/engine/plan/transfer_step.h"
#include "server/engine/run/reference_step.h"
#include "server/engine/tile/fusion.h"
#include "server/engine/tile/random.h"

namespace hlod::engine {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::NodeId;
using hlo::Shape;

using ValueIds = std::vector<ValueId>;

// The number of leaves of a tuple shape, and the leaf at which each of its elements begins.
struct TupleLeaves {
  int32_t count = 0;
  std::vector<int32_t> begin;
};

int32_t CountLeaves(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int32_t count = 0;
  for (const Shape& element : shape.tuple) count += CountLeaves(element);
  return count;
}

// The limit on the bytes of a file name, because sessions keep these texts.
constexpr size_t kSourceFileMax = 256;

// Returns the text of Op::slow for a step; empty when `reason` is empty.
std::string SlowText(Instruction instruction, const std::string& reason) {
  if (reason.empty()) return "";
  std::string text(hlo::Name(instruction.opcode()));
  const hlo::Notes* const notes = instruction.computation().notes(instruction.id());
  if (notes != nullptr && !notes->metadata.source_file.empty())
    absl::StrAppend(&text, " (", ToAbsl(ClipUtf8(notes->metadata.source_file, kSourceFileMax)), ":",
                    notes->metadata.source_line, ")");
  return absl::StrCat(text, ": ", reason);
}

// The order in which a computation runs. It is made once and used at each call.
struct Schedule {
  std::vector<FusionGroup> groups;
  std::vector<Unit> units;
  int64_t live_count = 0;   // The number of live instructions.
  int64_t live_leaves = 0;  // The number of their leaves.
};

class Lowering {
 public:
  Lowering(std::shared_ptr<const hlo::Module> module, const CompileOptions& options, int threads)
      : module_(std::move(module)), options_(options), threads_(threads) {}

  absl::StatusOr<FlatProgram> Run();

 private:
  // The values of the leaves of every node of one computation.
  struct Frame {
    const Computation& computation;
    std::vector<int32_t> first;  // By node, the index of its first leaf in `leaves`.
    ValueIds leaves;
    absl::Span<const ValueId> parameters;  // The leaves that the computation was called with.
    std::vector<int32_t> parameter_begin;  // By parameter, the index of its first leaf in `parameters`.
    int32_t loop;

    void Define(NodeId node, absl::Span<const ValueId> values) {
      first[node] = static_cast<int32_t>(leaves.size());
      leaves.insert(leaves.end(), values.begin(), values.end());
    }
  };

  // Appends the ops of `computation`, called with the concatenated leaves of its parameters. Returns the
  // leaves of its root.
  absl::StatusOr<ValueIds> LowerComputation(const Computation& computation,
                                            absl::Span<const ValueId> parameters, int32_t loop);
  absl::StatusOr<const Schedule*> ScheduleOf(const Computation& computation);
  absl::Status LowerGroup(Frame& frame, const FusionGroup& group);
  absl::Status LowerInstruction(Frame& frame, Instruction instruction);
  absl::Status LowerStep(Frame& frame, Instruction instruction);
  absl::Status LowerWhile(Frame& frame, Instruction instruction);
  absl::Status LowerConditional(Frame& frame, Instruction instruction);

  absl::Span<const ValueId> LeavesOf(const Frame& frame, NodeId node) {
    return absl::MakeConstSpan(frame.leaves).subspan(frame.first[node], LeafCount(frame.computation[node]));
  }
  int32_t LeafCount(Instruction instruction) {
    return instruction.shape().IsTuple() ? LeavesOfShape(instruction.shape_id(), instruction.shape()).count
                                         : 1;
  }
  const TupleLeaves& LeavesOfShape(hlo::ShapeId id, const Shape& shape);

  // Uses the budget kLoweredLeavesMax. Returns RESOURCE_EXHAUSTED when it is used up.
  absl::Status Spend(size_t leaves);
  absl::StatusOr<ValueId> NewValue(const Shape& shape, int32_t loop);
  ValueId NewConstant(std::shared_ptr<const hlo::Literal> literal);
  void AddConstantLeaves(const std::shared_ptr<const hlo::Literal>& literal, ValueIds& leaves);
  Op& AddOp(Op::Kind kind, int32_t loop, int32_t control = kNone) {
    Op& op = program_.ops.emplace_back();
    op.kind = kind;
    op.loop = loop;
    op.control = control;
    return op;
  }
  int32_t Now() const { return static_cast<int32_t>(program_.ops.size()); }

  // Returns the value that `value` is equal to: a loop variable that never changes equals its initial value,
  // and the result of a conditional whose branches agree equals theirs.
  ValueId Resolve(ValueId value) {
    while (forward_[value] != value) value = forward_[value] = forward_[forward_[value]];
    return value;
  }
  void ResolveAll();

  const std::shared_ptr<const hlo::Module> module_;
  const std::vector<bool> effects_ = hlo::FindSideEffects(*module_);  // By computation.
  const CompileOptions& options_;
  const int threads_;
  // An instruction has one counter for all calls that reach it.
  const std::shared_ptr<RandomCounters> random_ = std::make_shared<RandomCounters>();
  FlatProgram program_;
  ValueIds forward_;
  absl::flat_hash_map<const Computation*, std::unique_ptr<Schedule>> schedules_;
  absl::flat_hash_map<hlo::ShapeId, TupleLeaves> tuple_leaves_;
  absl::flat_hash_map<const hlo::Literal*, ValueIds> constants_;
  int64_t lowered_instructions_ = 0;
  const int64_t instructions_max_ = LoweredInstructionsMax(module_->instruction_count());
  int64_t leaves_ = 0;  // The number of values and of uses of values by ops and frames. The leaves of tuples
                        // count at each use.
};

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
    if (!options_.reference_only) made->groups = PlanFusion(*module_, computation, live, effects_);
    // Broadcasts and slices that are read only by fused steps are never computed.
    ASSIGN_OR_RETURN(
        made->units,
        OrderUnits(computation, NeededNodes(computation, live, effects_, made->groups), made->groups));
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
  Frame frame{computation, std::vector<int32_t>(computation.size(), 0), {}, parameters, {}, loop};
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

absl::Status Lowering::LowerGroup(Frame& frame, const FusionGroup& group) {
  std::unique_ptr<Step> step = MakeFusedStep(*module_, frame.computation, group, threads_);
  if (step == nullptr) {
    return Internal("The fusion group around %s of computation %s has no step.",
                    frame.computation[group.nodes.front()].name(), frame.computation.name());
  }
  absl::InlinedVector<ValueId, 3> inputs, outputs;
  RETURN_IF_ERROR(Spend(group.inputs.size()));
  for (NodeId input : group.inputs) inputs.push_back(LeavesOf(frame, input)[0]);
  for (NodeId output : group.outputs) {
    ASSIGN_OR_RETURN(const ValueId value, NewValue(frame.computation[output].shape(), frame.loop));
    outputs.push_back(value);
    frame.Define(output, {value});
  }
  Op& op = AddOp(Op::Kind::kStep, frame.loop);
  op.step = std::move(step);
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  return absl::OkStatus();
}

absl::Status Lowering::LowerInstruction(Frame& frame, Instruction instruction) {
  const NodeId id = instruction.id();
  // The values are copied, because Define may reallocate the memory that LeavesOf points to.
  const auto define = [&](absl::Span<const ValueId> values) {
    frame.Define(id, ValueIds(values.begin(), values.end()));
  };
  if (IsAlias(instruction)) {
    define(LeavesOf(frame, instruction.operands()[0]));
    return absl::OkStatus();
  }
  switch (instruction.opcode()) {
    case hlo::kParameter:
      define(frame.parameters.subspan(frame.parameter_begin[instruction.parameter_number()],
                                      LeafCount(instruction)));
      return absl::OkStatus();
    case hlo::kConstant: {
      const auto& literal =
          module_->tables().shared_literal(instruction.attributes<hlo::ConstantAttributes>().literal);
      ValueIds& leaves = constants_[literal.get()];
      if (leaves.empty()) AddConstantLeaves(literal, leaves);
      frame.Define(id, leaves);
      return absl::OkStatus();
    }
    case hlo::kAfterAll: {  // A token has no bytes, and programs run in order, so it has nothing to wait for.
      ASSIGN_OR_RETURN(const ValueId token, NewValue(instruction.shape(), frame.loop));
      frame.Define(id, {token});
      return absl::OkStatus();
    }
    case hlo::kTuple: {
      ValueIds leaves;
      for (NodeId operand : instruction.operands()) {
        const absl::Span<const ValueId> values = LeavesOf(frame, operand);
        leaves.insert(leaves.end(), values.begin(), values.end());
      }
      frame.Define(id, leaves);
      return absl::OkStatus();
    }
    case hlo::kGetTupleElement: {
      const Instruction tuple = instruction.operand(0);
      const int32_t begin = LeavesOfShape(tuple.shape_id(), tuple.shape())
                                .begin[instruction.attributes<hlo::TupleIndexAttributes>().index];
      define(LeavesOf(frame, tuple.id()).subspan(begin, LeafCount(instruction)));
      return absl::OkStatus();
    }
    case hlo::kGetDimensionSize: {
      const int64_t size = instruction.operand(0).shape().dims[instruction.dimensions()[0]];
      frame.Define(id, {NewConstant(std::make_shared<hlo::Literal>(
                           hlo::Literal::Scalar<int32_t>(static_cast<int32_t>(size))))});
      return absl::OkStatus();
    }
    case hlo::kCall:
    case hlo::kFusion: {
      ValueIds arguments;
      for (NodeId operand : instruction.operands()) {
        const absl::Span<const ValueId> values = LeavesOf(frame, operand);
        arguments.insert(arguments.end(), values.begin(), values.end());
      }
      ASSIGN_OR_RETURN(const ValueIds results, LowerComputation(module_->computation(instruction.called()[0]),
                                                                arguments, frame.loop));
      frame.Define(id, results);
      return absl::OkStatus();
    }
    case hlo::kWhile: return LowerWhile(frame, instruction);
    case hlo::kConditional: return LowerConditional(frame, instruction);
    default: return LowerStep(frame, instruction);
  }
}

absl::Status Lowering::LowerStep(Frame& frame, Instruction instruction) {
  std::unique_ptr<Step> step;
  if (HasTrait(instruction.opcode(), hlo::kCollective) && !hlo::IsCollectiveEnd(instruction.opcode()) &&
      hlo::ParticipantsOf(*module_).count() > 1) {
    ASSIGN_OR_RETURN(step, MakeCollectiveStep(*module_, instruction, options_));
  } else if (hlo::IsTransfer(instruction.opcode())) {
    ASSIGN_OR_RETURN(step, MakeTransferStep(*module_, instruction));
  } else if (instruction.opcode() == hlo::kCustomCall && !CanEvaluate(instruction)) {
    // Checked again here, because an optimised module may come from the cache of a daemon with other kernels.
    RETURN_IF_ERROR(CheckCustomCall(instruction, options_.kernels.get()));
    const std::string& target = instruction.attributes<hlo::CustomCallAttributes>().target;
    step = MakeNativeStep(instruction, *options_.kernels->Find(target));
  } else if (instruction.opcode() == hlo::kRngGetAndUpdateState) {
    step =
        MakeRandomStateStep(instruction, std::shared_ptr<RandomCounter>(random_, &random_->Of(instruction)));
  } else if (!options_.reference_only || instruction.opcode() == hlo::kPartitionId ||
             instruction.opcode() == hlo::kReplicaId) {
    step = MakeSingleStep(*module_, instruction, threads_);
  }
  const bool reference = step == nullptr;
  if (reference) step = MakeReferenceStep(module_, instruction, random_);
  absl::InlinedVector<ValueId, 3> inputs, outputs;
  for (NodeId operand : instruction.operands()) {
    for (ValueId value : LeavesOf(frame, operand)) inputs.push_back(value);
  }
  if (instruction.shape().IsTuple()) {
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape())) {
      ASSIGN_OR_RETURN(const ValueId value, NewValue(*leaf.shape, frame.loop));
      outputs.push_back(value);
    }
  } else {
    ASSIGN_OR_RETURN(const ValueId value, NewValue(instruction.shape(), frame.loop));
    outputs.push_back(value);
  }
  frame.Define(instruction.id(), outputs);
  RETURN_IF_ERROR(Spend(inputs.size()));
  Op& op = AddOp(Op::Kind::kStep, frame.loop);
  op.step = std::move(step);
  op.slow = SlowText(instruction, op.step->slow_reason());
  // The table's names are null-terminated literals.
  if (reference) op.reference_opcode = hlo::Name(instruction.opcode()).data();
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  return absl::OkStatus();
}

absl::Status Lowering::LowerWhile(Frame& frame, Instruction instruction) {
  const Computation& body = module_->computation(instruction.called()[0]);
  const Computation& condition = module_->computation(instruction.called()[1]);
  const int32_t id = static_cast<int32_t>(program_.loops.size());
  program_.loops.emplace_back().parent = frame.loop;

  const absl::Span<const ValueId> operand = LeavesOf(frame, instruction.operands()[0]);
  const ValueIds initial(operand.begin(), operand.end());
  ValueIds states;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape())) {
    ASSIGN_OR_RETURN(const ValueId value, NewValue(*leaf.shape, id));
    program_.values[value].role = Value::Role::kState;
    program_.values[value].owner = id;
    states.push_back(value);
  }

  // The states are written before the loop and after each iteration.
  RETURN_IF_ERROR(Spend(4 * states.size()));
  program_.loops[id].begin = Now();
  Op& begin = AddOp(Op::Kind::kLoopBegin, frame.loop, id);
  begin.inputs.assign(initial.begin(), initial.end());
  begin.outputs.assign(states.begin(), states.end());

  ASSIGN_OR_RETURN(const ValueIds predicate, LowerComputation(condition, states, id));
  program_.loops[id].test = Now();
  AddOp(Op::Kind::kLoopTest, id, id).inputs.push_back(predicate[0]);

  ASSIGN_OR_RETURN(const ValueIds results, LowerComputation(body, states, id));
  program_.loops[id].back = Now();
  Op& back = AddOp(Op::Kind::kLoopBack, id, id);
  back.inputs.assign(results.begin(), results.end());
  back.outputs.assign(states.begin(), states.end());

  program_.loops[id].exit = Now();
  AddOp(Op::Kind::kLoopExit, frame.loop, id);

  // A variable that the body returns unchanged is its initial value.
  for (size_t i = 0; i < states.size(); ++i) {
    if (Resolve(results[i]) == states[i]) forward_[states[i]] = Resolve(initial[i]);
  }
  frame.Define(instruction.id(), states);
  return absl::OkStatus();
}

absl::Status Lowering::LowerConditional(Frame& frame, Instruction instruction) {
  const int32_t id = static_cast<int32_t>(program_.switches.size());
  program_.switches.emplace_back().on_pred = instruction.operand(0).shape().type == hlo::kPred;

  ValueIds joins;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape())) {
    ASSIGN_OR_RETURN(const ValueId value, NewValue(*leaf.shape, frame.loop));
    program_.values[value].role = Value::Role::kJoin;
    program_.values[value].owner = id;
    joins.push_back(value);
  }

  program_.switches[id].begin = Now();
  const ValueId selector = LeavesOf(frame, instruction.operands()[0])[0];
  AddOp(Op::Kind::kSwitch, frame.loop, id).inputs.push_back(selector);

  std::vector<ValueIds> results;
  for (size_t b = 0; b < instruction.called().size(); ++b) {
    program_.switches[id].branches.push_back(Now());
    AddOp(Op::Kind::kBranchBegin, frame.loop, id);
    const absl::Span<const ValueId> operand = LeavesOf(frame, instruction.operands()[b + 1]);
    ASSIGN_OR_RETURN(ValueIds result, LowerComputation(module_->computation(instruction.called()[b]),
                                                       ValueIds(operand.begin(), operand.end()), frame.loop));
    RETURN_IF_ERROR(Spend(2 * joins.size()));
    Op& end = AddOp(Op::Kind::kBranchEnd, frame.loop, id);
    end.inputs.assign(result.begin(), result.end());
    end.outputs.assign(joins.begin(), joins.end());
    results.push_back(std::move(result));
  }
  program_.switches[id].end = Now();
  AddOp(Op::Kind::kSwitchEnd, frame.loop, id);

  // A result that is the same value in every branch is that value.
  for (size_t i = 0; i < joins.size(); ++i) {
    bool same = !results.empty();
    for (const ValueIds& result : results) same = same && Resolve(result[i]) == Resolve(results[0][i]);
    if (same) forward_[joins[i]] = Resolve(results[0][i]);
  }
  frame.Define(instruction.id(), joins);
  return absl::OkStatus();
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

// Returns the instruction that computes a leaf of a result, looking through the tuples at its end.
Instruction MakerOf(Instruction root, absl::Span<const int64_t> index) {
  for (const int64_t i : index) {
    if (root.opcode() != hlo::kTuple) break;
    root = root.operand(static_cast<uint32_t>(i));
  }
  return root;
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

}  // namespace

absl::StatusOr<FlatProgram> Lower(std::shared_ptr<const hlo::Module> module, const CompileOptions& options,
                                  int threads) {
  return Lowering(std::move(module), options, threads).Run();
}

}  // namespace hlod::engine

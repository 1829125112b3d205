// The state of a lowering: the program so far, and what is known of its computations, values and leaves.
// lowering.cc walks over computations, lowering_instruction.cc lowers instructions and fused groups to steps,
// lowering_control.cc loops and branches to markers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/evaluator/random_counters.h"
#include "common/hlo/analysis/effects.h"
#include "server/engine/plan/lowering/lowering.h"
#include "server/engine/plan/lowering/lowering_order.h"
#include "server/engine/tile/fusion.h"

namespace hlod::engine {

using ValueIds = std::vector<ValueId>;

// The number of leaves of a tuple shape, and the leaf at which each of its elements begins.
struct TupleLeaves {
  int32_t count = 0;
  std::vector<int32_t> begin;
};

// The order in which a computation runs. It is made once and used at each call.
struct Schedule {
  std::vector<FusionGroup> groups;
  StepReads reads;
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
    const hlo::Computation& computation;
    std::vector<int32_t> first;  // By node, the index of its first leaf in `leaves`.
    ValueIds leaves;
    absl::Span<const ValueId> parameters;  // The leaves that the computation was called with.
    std::vector<int32_t> parameter_begin;  // By parameter, the index of its first leaf in `parameters`.
    int32_t loop;
    const StepReads& reads;  // The schedule's.

    void Define(hlo::NodeId node, absl::Span<const ValueId> values) {
      first[node] = static_cast<int32_t>(leaves.size());
      leaves.insert(leaves.end(), values.begin(), values.end());
    }
  };

  // Appends the ops of `computation`, called with the concatenated leaves of its parameters. Returns the
  // leaves of its root.
  absl::StatusOr<ValueIds> LowerComputation(const hlo::Computation& computation,
                                            absl::Span<const ValueId> parameters, int32_t loop);
  absl::StatusOr<const Schedule*> ScheduleOf(const hlo::Computation& computation);
  absl::Status LowerGroup(Frame& frame, const FusionGroup& group);
  absl::Status LowerInstruction(Frame& frame, hlo::Instruction instruction);
  absl::Status LowerStep(Frame& frame, hlo::Instruction instruction);
  absl::Status LowerWhile(Frame& frame, hlo::Instruction instruction);
  absl::Status LowerConditional(Frame& frame, hlo::Instruction instruction);

  absl::Span<const ValueId> LeavesOf(const Frame& frame, hlo::NodeId node) {
    return absl::MakeConstSpan(frame.leaves).subspan(frame.first[node], LeafCount(frame.computation[node]));
  }
  // Returns the leaves of all operands, one after the other.
  ValueIds OperandLeaves(const Frame& frame, hlo::Instruction instruction);
  int32_t LeafCount(hlo::Instruction instruction) {
    return instruction.shape().IsTuple() ? LeavesOfShape(instruction.shape_id(), instruction.shape()).count
                                         : 1;
  }
  const TupleLeaves& LeavesOfShape(hlo::ShapeId id, const hlo::Shape& shape);

  // Uses the budget kLoweredLeavesMax. Returns RESOURCE_EXHAUSTED when it is used up.
  absl::Status Spend(size_t leaves);
  absl::StatusOr<ValueId> NewValue(const hlo::Shape& shape, int32_t loop);
  ValueId NewConstant(std::shared_ptr<const hlo::Literal> literal);
  void AddConstantLeaves(const std::shared_ptr<const hlo::Literal>& literal, ValueIds& leaves);
  // Sets an op's fields for profiles. AddLine may be called for each of its instructions.
  void AddLine(Op& op, hlo::Instruction instruction);
  static void NoteWork(Op& op, hlo::Instruction instruction);
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
  absl::flat_hash_map<const hlo::Computation*, std::unique_ptr<Schedule>> schedules_;
  absl::flat_hash_map<hlo::ShapeId, TupleLeaves> tuple_leaves_;
  absl::flat_hash_map<const hlo::Literal*, ValueIds> constants_;
  absl::flat_hash_map<std::string, int32_t> files_;  // By name, the index in FlatProgram::files.
  int64_t lowered_instructions_ = 0;
  const int64_t instructions_max_ = LoweredInstructionsMax(module_->instruction_count());
  int64_t leaves_ = 0;  // The number of values and of uses of values by ops and frames. The leaves of tuples
                        // count at each use.
};

}  // namespace hlod::engine

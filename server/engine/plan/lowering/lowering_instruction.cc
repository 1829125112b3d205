// One instruction, or one fused group: a step, or values that exist already.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/base/text/utf8.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/collectives/channels.h"
#include "server/engine/plan/lowering/collective_step.h"
#include "server/engine/plan/lowering/lowering_internal.h"
#include "server/engine/plan/lowering/lowering_steps.h"
#include "server/engine/plan/lowering/transfer_step.h"
#include "server/engine/plan/runnable.h"
#include "server/engine/run/reference_step.h"
#include "server/engine/tile/random.h"

namespace hlod::engine {

using hlo::Instruction;
using hlo::NodeId;

namespace {

constexpr size_t kTargetMax = 80;  // The most of a custom call's target that a text shows.

// Returns the text of Op::slow for a step; empty when `reason` is empty.
std::string SlowText(Instruction instruction, const std::string& reason) {
  if (reason.empty()) return "";
  std::string text(hlo::Name(instruction.opcode()));
  if (instruction.opcode() == hlo::kCustomCall) {
    absl::StrAppend(&text, " ",
                    ToAbsl(ClipUtf8(instruction.attributes<hlo::CustomCallAttributes>().target, kTargetMax)));
  }
  const hlo::Notes* const notes = instruction.computation().notes(instruction.id());
  if (notes != nullptr && !notes->metadata.source_file.empty())
    absl::StrAppend(&text, " (", ToAbsl(ClipUtf8(notes->metadata.source_file, kSourceFileMax)), ":",
                    notes->metadata.source_line, ")");
  return absl::StrCat(text, ": ", reason);
}

// Returns the bytes that a group's step reads at least: of each input one element per element that it
// computes, which is less than the input where it reads through a slice, and no more than the input where it
// reads through a broadcast.
int64_t ReadBytes(const hlo::Computation& computation, const FusionGroup& group) {
  int64_t elements = 0;
  for (NodeId node : group.nodes) {
    const Instruction instruction = computation[node];
    const bool reduces = instruction.opcode() == hlo::kReduce;
    const hlo::Shape& domain = reduces ? instruction.operand(0).shape() : instruction.shape();
    if (domain.IsArray()) elements = std::max(elements, hlo::ElementCount(domain).value_or(0));
  }
  double bytes = 0;
  for (NodeId input : group.inputs) {
    const hlo::Shape& shape = computation[input].shape();
    const auto whole = static_cast<double>(hlo::ByteSize(shape).value_or(0));
    const int64_t count = hlo::ElementCount(shape).value_or(0);
    bytes += count > elements ? whole / static_cast<double>(count) * static_cast<double>(elements) : whole;
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace

void Lowering::AddLine(Op& op, Instruction instruction) {
  const hlo::Notes* const notes = instruction.computation().notes(instruction.id());
  if (notes == nullptr || notes->metadata.source_file.empty() || op.lines.size() >= Op::kLinesMax) return;
  std::string file(ClipUtf8(notes->metadata.source_file, kSourceFileMax));
  if (program_.files.size() >= kSourceFilesMax && !files_.contains(file)) return;
  const auto [found, added] =
      files_.try_emplace(std::move(file), static_cast<int32_t>(program_.files.size()));
  if (added) program_.files.push_back(found->first);
  const SourceLine line{found->second, notes->metadata.source_line};
  if (std::find(op.lines.begin(), op.lines.end(), line) == op.lines.end()) op.lines.push_back(line);
}

void Lowering::NoteWork(Op& op, Instruction instruction) {
  const auto array_type = [](const hlo::Shape& shape) {
    return shape.IsArray() ? shape.type : hlo::kInvalid;
  };
  op.type = array_type(instruction.shape());
  switch (instruction.opcode()) {
    case hlo::kDot:
    case hlo::kRaggedDot:
    case hlo::kConvolution: op.type = array_type(instruction.operand(0).shape()); break;
    case hlo::kSlice:
    case hlo::kDynamicSlice:
    case hlo::kGather: op.part_bytes = hlo::ByteSize(instruction.shape()).value_or(-1); break;
    case hlo::kDynamicUpdateSlice:
      op.part_bytes = hlo::ByteSize(instruction.operand(1).shape()).value_or(-1);
      op.writes_part = true;
      break;
    case hlo::kScatter:
      if (instruction.operands().size() != 3) break;
      op.part_bytes = hlo::ByteSize(instruction.operand(2).shape()).value_or(-1);
      op.writes_part = true;
      break;
    default: break;
  }
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
  for (NodeId node : group.nodes) AddLine(op, frame.computation[node]);
  if (!group.outputs.empty()) op.type = frame.computation[group.outputs[0]].shape().type;
  op.part_bytes = ReadBytes(frame.computation, group);
  return absl::OkStatus();
}

ValueIds Lowering::OperandLeaves(const Frame& frame, Instruction instruction) {
  ValueIds leaves;
  for (NodeId operand : instruction.operands()) {
    const absl::Span<const ValueId> values = LeavesOf(frame, operand);
    leaves.insert(leaves.end(), values.begin(), values.end());
  }
  return leaves;
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
    case hlo::kTuple: frame.Define(id, OperandLeaves(frame, instruction)); return absl::OkStatus();
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
      ASSIGN_OR_RETURN(const ValueIds results,
                       LowerComputation(module_->computation(instruction.called()[0]),
                                        OperandLeaves(frame, instruction), frame.loop));
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
  for (size_t k = 0; k < instruction.operand_count(); ++k) {
    // The first operand stands for one that is not read, and may not exist.
    const NodeId read = frame.reads.Of(instruction, k);
    const bool unread = read == hlo::Computation::kNoNode;
    for (ValueId value : LeavesOf(frame, unread ? instruction.operands()[0] : read)) inputs.push_back(value);
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
  AddLine(op, instruction);
  NoteWork(op, instruction);
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  return absl::OkStatus();
}

}  // namespace hlod::engine

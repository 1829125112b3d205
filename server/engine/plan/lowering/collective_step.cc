// The computation of a group is a plan of its own, which the participant that arrives last runs on the memory
// of all.
#include "server/engine/plan/lowering/collective_step.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/base/system/rendezvous.h"
#include "common/hlo/collectives/collective.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

using hlo::Collective;
using Results = hlo::GroupProgram::Results;

// The memory that a participant brings to the rendezvous.
struct Part {
  const std::byte* const* inputs;
  std::byte* const* outputs;  // Without the outputs that are copies of operands, or tokens.
};

const Part& PartOf(void* brought) { return *static_cast<const Part*>(brought); }

class CollectiveStep final : public Step {
 public:
  CollectiveStep(hlo::Instruction instruction, Collective collective, Results results,
                 std::unique_ptr<const Plan> plan)
      : Step(StepKind::kMovement, DescribeStep(instruction)),
        what_(absl::StrFormat("%s (%s)", Name(instruction.opcode()), instruction.name())),
        collective_(std::move(collective)),
        results_(results),
        plan_(std::move(plan)) {
    for (uint32_t i = 0; i < instruction.operand_count(); ++i)
      operand_bytes_.push_back(Bytes(instruction.operand(i).shape()));
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape()))
      output_bytes_.push_back(Bytes(*leaf.shape));
    if (hlo::KeepsOperands(instruction.opcode())) first_result_ = operand_bytes_.size();
    result_count_ = first_result_ > 0 ? operand_bytes_.size() : output_bytes_.size();
    if (plan_ != nullptr) set_scratch_bytes(ScratchAlign(plan_->memory().temporary_bytes));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    RunContext& run = context.run;
    if (run.rendezvous == nullptr)
      return Unimplemented("%s is of several participants, and this run is of one.", what_);
    for (size_t i = 0; i < first_result_; ++i)
      RETURN_IF_ERROR(CopyBytes(inputs[i], outputs[i], operand_bytes_[i], run));
    for (size_t i = first_result_ + result_count_; i < output_bytes_.size(); ++i)
      std::memset(outputs[i], 0, static_cast<size_t>(output_bytes_[i]));
    Part own{inputs, outputs + first_result_};
    const int group_number = collective_.group_of[static_cast<size_t>(run.participant)];
    if (group_number < 0) {
      Zero(own);
      return absl::OkStatus();
    }
    const std::vector<int>& group = collective_.groups[static_cast<size_t>(group_number)];
    return run.rendezvous->Meet(
        run.participant, this, what_, group, &own, [&run] { return StopCheck::Verdict(run); },
        [&](absl::Span<void* const> brought) {
          return plan_ == nullptr ? Copy(group, brought, run) : Compute(brought, context);
        });
  }

 private:
  void Zero(const Part& part) const {
    for (size_t i = 0; i < result_count_; ++i)
      std::memset(part.outputs[i], 0, static_cast<size_t>(output_bytes_[first_result_ + i]));
  }
  absl::Status CopyTo(const Part& part, const std::byte* const* from, const RunContext& run) const {
    for (size_t i = 0; i < result_count_; ++i)
      RETURN_IF_ERROR(CopyBytes(from[i], part.outputs[i], output_bytes_[first_result_ + i], run));
    return absl::OkStatus();
  }

  absl::Status Copy(absl::Span<const int> group, absl::Span<void* const> brought,
                    const RunContext& run) const {
    for (size_t rank = 0; rank < group.size(); ++rank) {
      const Part& part = PartOf(brought[rank]);
      const int source = collective_.sources[static_cast<size_t>(group[rank])];
      if (source < 0) {
        Zero(part);
      } else {
        const auto at = static_cast<size_t>(collective_.rank_of[static_cast<size_t>(source)]);
        RETURN_IF_ERROR(CopyTo(part, PartOf(brought[at]).inputs, run));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Compute(absl::Span<void* const> brought, StepContext& context) const {
    std::vector<const std::byte*> arguments;
    std::vector<std::byte*> results;
    for (size_t rank = 0; rank < brought.size(); ++rank) {
      const Part& part = PartOf(brought[rank]);
      arguments.insert(arguments.end(), part.inputs, part.inputs + operand_bytes_.size());
      if (results_ == Results::kEach || rank == 0)
        results.insert(results.end(), part.outputs, part.outputs + result_count_);
    }
    RunContext alone = context.run;
    alone.rendezvous = nullptr;
    RETURN_IF_ERROR(plan_->Run(arguments, absl::MakeSpan(results), context.scratch, alone));
    for (size_t rank = 1; rank < brought.size(); ++rank) {
      const Part& part = PartOf(brought[rank]);
      if (results_ == Results::kForFirst) Zero(part);
      if (results_ == Results::kShared) RETURN_IF_ERROR(CopyTo(part, results.data(), context.run));
    }
    return absl::OkStatus();
  }

  const std::string what_;
  const Collective collective_;
  const Results results_;
  const std::unique_ptr<const Plan> plan_;  // Null if the results are copies of operands.
  std::vector<int64_t> operand_bytes_, output_bytes_;
  size_t first_result_ = 0, result_count_ = 0;  // Positions among the outputs.
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeCollectiveStep(const hlo::Module& module,
                                                         hlo::Instruction instruction,
                                                         const CompileOptions& options) {
  ASSIGN_OR_RETURN(Collective collective, hlo::ReadCollective(instruction, hlo::ParticipantsOf(module)));
  Results results = Results::kEach;
  std::unique_ptr<const Plan> plan;
  if (collective.sources.empty()) {
    ASSIGN_OR_RETURN(const hlo::GroupProgram group, hlo::MakeGroupProgram(module, instruction, collective));
    results = group.results;
    ASSIGN_OR_RETURN(plan, Compile(*group.module, options));
  }
  return std::make_unique<CollectiveStep>(instruction, std::move(collective), results, std::move(plan));
}

}  // namespace hlod::engine

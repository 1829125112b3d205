// Moves values between a step's memory and the run's channels.
#include "server/engine/plan/lowering/transfer_step.h"

#include <cstring>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/hlo/collectives/channels.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

class TransferStep final : public Step {
 public:
  TransferStep(hlo::Instruction instruction, hlo::Transfer transfer)
      : Step(StepKind::kMovement, DescribeStep(instruction)), transfer_(std::move(transfer)) {
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape()))
      output_bytes_.push_back(Bytes(*leaf.shape));
    // The operand of a send is also an element of its result.
    if (instruction.opcode() == hlo::kSend) kept_ = transfer_.shapes.size();
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    RunContext& run = context.run;
    const std::optional<hlo::Channel> channel = transfer_.Of(run.participant);
    const bool takes = transfer_.action == hlo::Transfer::Action::kTake && channel;
    for (size_t i = takes ? transfer_.shapes.size() : 0; i < output_bytes_.size(); ++i) {
      if (i < kept_) {
        RETURN_IF_ERROR(CopyBytes(inputs[i], outputs[i], output_bytes_[i], run));
      } else {
        std::memset(outputs[i], 0, static_cast<size_t>(output_bytes_[i]));
      }
    }
    if (transfer_.action == hlo::Transfer::Action::kNothing || !channel) return absl::OkStatus();
    if (run.channels == nullptr)
      return Unimplemented("%s uses %s, and this run has no channels.", text(), channel->ToString());
    const auto stop = [&run] { return StopCheck::Verdict(run); };
    const absl::Span<const hlo::Shape> shapes = transfer_.shapes;
    return takes ? run.channels->Take(*channel, shapes, absl::MakeSpan(outputs, shapes.size()), stop)
                 : run.channels->Put(*channel, shapes, absl::MakeSpan(inputs, shapes.size()), stop);
  }

 private:
  const hlo::Transfer transfer_;
  std::vector<int64_t> output_bytes_;
  size_t kept_ = 0;  // The first kept_ outputs are copies of the inputs with the same indices.
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeTransferStep(const hlo::Module& module,
                                                       hlo::Instruction instruction) {
  ASSIGN_OR_RETURN(hlo::Transfer transfer, hlo::ReadTransfer(instruction, hlo::ParticipantsOf(module)));
  return std::make_unique<TransferStep>(instruction, std::move(transfer));
}

}  // namespace hlod::engine

// Infeed, outfeed, send and recv: exchange values over the channels of a run.
#include <cstring>
#include <utility>

#include "common/base/errors/status.h"
#include "common/evaluator/dynamic_shapes.h"
#include "common/evaluator/participants.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/collectives/channels.h"

namespace hlod::evaluator {
namespace {

using hlo::Literal;
using hlo::Shape;

void CollectLeaves(const Value& value, std::vector<const std::byte*>& leaves) {
  if (value.tuple == nullptr) return leaves.push_back(value.array->bytes().data());
  for (const Value& element : *value.tuple) CollectLeaves(element, leaves);
}

void CollectLeaves(Literal& literal, std::vector<std::byte*>& leaves) {
  if (!literal.shape().IsTuple()) return leaves.push_back(literal.bytes().data());
  for (Literal& element : literal.elements()) CollectLeaves(element, leaves);
}

}  // namespace

absl::StatusOr<Value> RunTransfer(Evaluation& evaluation, hlo::Instruction instruction,
                                  std::vector<Value>& operands) {
  const EvaluateOptions& options = evaluation.options();
  const ParticipantRun* const run = options.participant;
  const hlo::Participants participants = run != nullptr ? run->participants : hlo::Participants();
  ASSIGN_OR_RETURN(const hlo::Transfer transfer, hlo::ReadTransfer(instruction, participants));
  const std::optional<hlo::Channel> channel = transfer.Of(run != nullptr ? run->participant : 0);
  const auto stop = [&]() -> absl::Status {
    RETURN_IF_ERROR(evaluation.CheckInterrupt());
    return run != nullptr ? run->rendezvous->cause() : absl::OkStatus();
  };
  if (HasDynamicShapes(instruction)) {
    return Unimplemented("%s: %s is not run on dynamic dimensions, and this is %s", instruction.name(),
                         Name(instruction.opcode()), ToStringNoLayout(instruction.shape()));
  }
  if (transfer.action != hlo::Transfer::Action::kNothing && options.channels == nullptr) {
    return Unimplemented("%s: %s uses %s, and this run has no channels", instruction.name(),
                         Name(instruction.opcode()), transfer.channel.ToString());
  }
  if (transfer.action == hlo::Transfer::Action::kPut && channel) {
    std::vector<const std::byte*> leaves;
    CollectLeaves(operands[0], leaves);
    RETURN_IF_ERROR(options.channels->Put(*channel, transfer.shapes, leaves, stop));
  }
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  if (transfer.action == hlo::Transfer::Action::kTake && channel) {
    std::vector<std::byte*> leaves;
    CollectLeaves(result.elements()[0], leaves);
    RETURN_IF_ERROR(options.channels->Take(*channel, transfer.shapes, absl::MakeSpan(leaves), stop));
  }
  if (instruction.opcode() != hlo::kSend) return Value::Own(std::move(result));
  // The sent value is the first element of the result.
  std::vector<Value> elements = {operands[0]};
  for (size_t i = 1; i < result.elements().size(); ++i)
    elements.push_back(Value::Own(std::move(result.elements()[i])));
  return Value::Tuple(std::move(elements));
}

}  // namespace hlod::evaluator

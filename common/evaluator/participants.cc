// Threads of participants, and the rule that all collectives among them share.
#include "common/evaluator/participants.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "common/base/errors/status.h"
#include "common/evaluator/local_channels.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/collectives/group_program.h"

namespace hlod {
namespace evaluator {
namespace {

using hlo::Collective;
using hlo::Instruction;
using hlo::Literal;

// A participant's operands and results at a rendezvous.
struct Part {
  const std::vector<Value>* operands = nullptr;
  std::vector<Literal> results;  // One literal per result of the collective.
};

Part& PartOf(void* brought) { return *static_cast<Part*>(brought); }

void Zero(Instruction instruction, Part& part) {
  const hlo::Shape& given = hlo::GivenShape(instruction);
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(given)) part.results.emplace_back(*leaf.shape);
}

// Each participant gets a copy, because literals are not shared between threads.
void CopyParts(Instruction instruction, const Collective& collective, absl::Span<const int> group,
               absl::Span<void* const> brought) {
  for (size_t rank = 0; rank < group.size(); ++rank) {
    Part& part = PartOf(brought[rank]);
    const int source = collective.sources[static_cast<size_t>(group[rank])];
    if (source < 0) {
      Zero(instruction, part);
      continue;
    }
    const auto at = static_cast<size_t>(collective.rank_of[static_cast<size_t>(source)]);
    for (const Value& operand : *PartOf(brought[at]).operands) part.results.push_back(*operand.array);
  }
}

absl::Status RunGroup(const hlo::Module& module, Instruction instruction, const Collective& collective,
                      const EvaluateOptions& options, absl::Span<void* const> brought) {
  ASSIGN_OR_RETURN(const hlo::GroupProgram program,
                   hlo::MakeGroupProgram(module, instruction, collective, brought.size()));
  std::vector<const Literal*> operands;
  for (void* const part : brought) {
    for (const Value& operand : *PartOf(part).operands) operands.push_back(operand.array.get());
  }
  EvaluateOptions alone = options;
  alone.participant = nullptr;
  alone.random = nullptr;
  ASSIGN_OR_RETURN(const Literal all, Evaluate(*program.module, operands, alone));
  const std::vector<Literal>& results = all.elements();
  using Results = hlo::GroupProgram::Results;
  const size_t each = program.results == Results::kEach ? results.size() / brought.size() : results.size();
  for (size_t rank = 0; rank < brought.size(); ++rank) {
    Part& part = PartOf(brought[rank]);
    if (program.results == Results::kForFirst && rank > 0) {
      Zero(instruction, part);
      continue;
    }
    const size_t first = program.results == Results::kEach ? rank * each : 0;
    for (size_t i = 0; i < each; ++i) part.results.push_back(results[first + i]);
  }
  return absl::OkStatus();
}

Value OneOrTuple(std::vector<Value> values, bool tuple) {
  return tuple ? Value::Tuple(std::move(values)) : std::move(values[0]);
}

}  // namespace

absl::StatusOr<Value> MeetParticipants(Evaluation& evaluation, Instruction instruction,
                                       std::vector<Value>& operands) {
  const ParticipantRun& run = *evaluation.options().participant;
  ASSIGN_OR_RETURN(const Collective collective, hlo::ReadCollective(instruction, run.participants));
  Part own{&operands, {}};
  const int group_number = collective.group_of[static_cast<size_t>(run.participant)];
  if (group_number < 0) {
    Zero(instruction, own);
  } else {
    const std::vector<int>& group = collective.groups[static_cast<size_t>(group_number)];
    const std::string what = absl::StrFormat("%s (%s)", Name(instruction.opcode()), instruction.name());
    // Within one module, the address of an instruction's operands identifies it for all participants.
    RETURN_IF_ERROR(run.rendezvous->Meet(
        run.participant, instruction.operands().data(), what, group, &own,
        [&] { return evaluation.CheckInterrupt(); },
        [&](absl::Span<void* const> brought) {
          if (collective.sources.empty())
            return RunGroup(evaluation.module(), instruction, collective, evaluation.options(), brought);
          CopyParts(instruction, collective, group, brought);
          return absl::OkStatus();
        }));
  }
  std::vector<Value> given;
  for (Literal& result : own.results) given.push_back(Value::Own(std::move(result)));
  const hlo::Shape& shape = instruction.shape();
  const hlo::Shape& given_shape = hlo::GivenShape(instruction);
  Value value = OneOrTuple(std::move(given), given_shape.IsTuple());
  if (&given_shape == &shape) return value;
  std::vector<Value> elements = {OneOrTuple(operands, shape.tuple[0].IsTuple()), std::move(value)};
  for (size_t i = elements.size(); i < shape.tuple.size(); ++i)
    elements.push_back(Value::Own(Literal(shape.tuple[i])));
  return Value::Tuple(std::move(elements));
}

// Runs replica-id and partition-id.
absl::StatusOr<Value> DeviceId(Evaluation& evaluation, Instruction instruction, std::vector<Value>&) {
  int64_t id = 0;
  if (const ParticipantRun* run = evaluation.options().participant; run != nullptr) {
    id = instruction.opcode() == hlo::kReplicaId ? run->participant / run->participants.partitions
                                                 : run->participant % run->participants.partitions;
  }
  return Value::Own(Literal::Scalar<uint32_t>(static_cast<uint32_t>(id)));
}

}  // namespace evaluator

absl::StatusOr<std::vector<hlo::Literal>> EvaluateParticipants(
    const hlo::Module& module, absl::Span<const std::vector<const hlo::Literal*>> arguments,
    const EvaluateOptions& options) {
  RETURN_IF_ERROR(hlo::CheckParticipants(module));
  const hlo::Participants participants = hlo::ParticipantsOf(module);
  if (static_cast<int64_t>(arguments.size()) != participants.count()) {
    return InvalidArgument("%s has %d participants, and arguments of %d were given", module.name(),
                           participants.count(), arguments.size());
  }
  std::vector<std::string> names;
  for (int64_t m = 0; m < participants.count(); ++m) names.push_back(participants.Name(m));
  Rendezvous rendezvous(std::move(names));
  // Channels between the participants. If one ends without sending, the others do not wait for long.
  LocalChannels between(absl::Seconds(10));
  std::vector<absl::StatusOr<hlo::Literal>> results(arguments.size(), absl::UnknownError("It did not run."));
  {
    std::vector<std::jthread> threads;
    for (size_t m = 0; m < arguments.size(); ++m) {
      threads.emplace_back([&, m] {
        const ParticipantRun participant{&rendezvous, participants, static_cast<int>(m)};
        EvaluateOptions own = options;
        own.participant = &participant;
        own.random = nullptr;
        if (own.channels == nullptr) own.channels = &between;
        results[m] = Evaluate(module, arguments[m], own);
        rendezvous.Leave(static_cast<int>(m), results[m].status());
      });
    }
  }
  RETURN_IF_ERROR(Annotate(rendezvous.cause(), rendezvous.context()));
  std::vector<hlo::Literal> literals;
  for (absl::StatusOr<hlo::Literal>& result : results) {
    RETURN_IF_ERROR(result.status());
    literals.push_back(*std::move(result));
  }
  return literals;
}

}  // namespace hlod

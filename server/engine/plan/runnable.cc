// Checks every instruction that the entry could reach.
#include "server/engine/plan/runnable.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/errors/status.h"
#include "common/base/text/edit_distance.h"
#include "common/evaluator/custom_calls.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/bitcast.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/collectives/group_program.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/passes/expand/expand_gpu_calls.h"
#include "server/engine/plan/lowering/lowering_steps.h"

namespace hlod::engine {
namespace {

using hlo::Instruction;

std::string Where(Instruction instruction) {
  std::string where = absl::StrFormat("instruction %s of computation %s", instruction.name(),
                                      instruction.computation().name());
  const hlo::Notes* notes = instruction.computation().notes(instruction.id());
  if (notes != nullptr && !notes->metadata.source_file.empty()) {
    where += absl::StrFormat(", traced at %s:%d", notes->metadata.source_file, notes->metadata.source_line);
  }
  return where;
}

absl::Status CheckStatic(const hlo::Shape& shape, Instruction instruction) {
  for (const hlo::Shape& element : shape.tuple) RETURN_IF_ERROR(CheckStatic(element, instruction));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!shape.IsDynamic(d) && shape.dims[d] != hlo::kUnboundedSize) continue;
    return Unimplemented("Dimension %d of shape %s is dynamic (%s): this build runs static shapes only.", d,
                         hlo::ToStringNoLayout(shape), Where(instruction));
  }
  return absl::OkStatus();
}

std::string NearestOwnTarget(std::string_view target) {
  const std::vector<std::string> targets = OwnCustomCallTargets();
  return *std::ranges::min_element(targets, {},
                                   [&](const std::string& own) { return EditDistance(own, target); });
}

// The limit on the instructions in the groups of all collectives together, because compiling needs memory in
// proportion to them.
constexpr int64_t kGroupInstructionsMax = 1 << 20;

// Adds the size of the collective's group program to `group_instructions`.
absl::Status CheckCollective(Instruction instruction, const hlo::Participants& participants,
                             int64_t& group_instructions) {
  if (hlo::IsCollectiveEnd(instruction.opcode())) return absl::OkStatus();
  if (participants.count() == 1) return hlo::CheckOneParticipant(instruction);
  ASSIGN_OR_RETURN(const hlo::Collective collective, hlo::ReadCollective(instruction, participants));
  // The collective's tables of participants are also counted: this many entries count as one instruction.
  constexpr int64_t kParticipantsPerInstruction = 64;
  const int64_t size =
      hlo::GroupProgramSize(instruction, collective) + participants.count() / kParticipantsPerInstruction;
  if (size <= kGroupInstructionsMax - group_instructions) {
    group_instructions += size;
    return absl::OkStatus();
  }
  return ResourceExhausted(
      "Collective %s (%s) among (%d) participants takes (%d) instructions of theirs, after (%d) of the "
      "collectives before it; the limit of all is (%d).",
      hlo::Name(instruction.opcode()), instruction.name(), *hlo::GroupSizes(collective).rbegin(), size,
      group_instructions, kGroupInstructionsMax);
}

// Returns true when the called computation is applied to elements, in any order and any number of times.
bool AppliesToElements(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kMap:
    case hlo::kReduce:
    case hlo::kReduceWindow:
    case hlo::kScatter:
    case hlo::kSelectAndScatter:
    case hlo::kSort: return true;
    default: return HasTrait(opcode, hlo::kCollective);
  }
}

absl::Status CheckInstruction(Instruction instruction, const NativeKernels* kernels,
                              const hlo::Participants& participants, int64_t& group_instructions) {
  RETURN_IF_ERROR(CheckStatic(instruction.shape(), instruction));
  if (HasTrait(instruction.opcode(), hlo::kCollective)) {
    RETURN_IF_ERROR(
        Annotate(CheckCollective(instruction, participants, group_instructions), Where(instruction)));
  }
  if (instruction.opcode() == hlo::kBitcast)
    return Annotate(hlo::BitcastFormOf(instruction).status(), Where(instruction));
  if (hlo::IsTransfer(instruction.opcode()))
    return Annotate(hlo::ReadTransfer(instruction, participants).status(), Where(instruction));
  if (instruction.opcode() == hlo::kCustomCall) return CheckCustomCall(instruction, kernels);
  if (IsStructural(instruction) || CanEvaluate(instruction)) return absl::OkStatus();
  return Unimplemented("Opcode %s has no implementation in this build (%s).", hlo::Name(instruction.opcode()),
                       Where(instruction));
}

}  // namespace

absl::Status CheckCustomCall(Instruction instruction, const NativeKernels* kernels) {
  const std::string& target = instruction.attributes<hlo::CustomCallAttributes>().target;
  if (IsOwnCustomCallTarget(target)) return Annotate(CheckOwnCustomCall(instruction), Where(instruction));
  if (kernels != nullptr && kernels->Find(target) != nullptr) {
    return Annotate(CheckNativeCall(instruction), Where(instruction));
  }
  if (passes::IsGpuTarget(target)) {
    return InvalidArgument("Custom call %s (%s) has other operands, results or attributes than JAX gives it.",
                           target, Where(instruction));
  }
  return Unimplemented(
      "Custom-call target \"%s\" is not known to this daemon (%s): nearest of its own is %s; %s.", target,
      Where(instruction), NearestOwnTarget(target),
      kernels == nullptr ? NativeKernels().Nearest(target) : kernels->Nearest(target));
}

// Callees come before their callers, so one pass is enough.
int64_t SumLaidOut(const hlo::Module& module, absl::FunctionRef<int64_t(hlo::Instruction)> weight) {
  std::vector<int64_t> sums;
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& computation = module.computation(c);
    int64_t sum = 0;
    for (hlo::NodeId id = 0; id < computation.size(); ++id) {
      sum = std::min(kLaidOutSumMax, sum + weight(computation[id]));
      if (AppliesToElements(computation[id].opcode())) continue;
      for (const hlo::ComputationId called : computation[id].called())
        sum = std::min(kLaidOutSumMax, sum + sums[called]);
    }
    sums.push_back(sum);
  }
  return sums[module.entry_id()];
}

// A few kilobytes of nested calls can expand to a million instructions, seconds of work and a gigabyte of
// memory. They are refused before that. A model whose layers are calls of one function is far below the
// limit.
absl::Status CheckLaidOut(const hlo::Module& module) {
  const int64_t most = LaidOutInstructionsMax(module.instruction_count()),
                count = SumLaidOut(module, [](Instruction) { return 1; });
  if (count <= most) return absl::OkStatus();
  return ResourceExhausted(
      "Module %s, which has (%d) instructions, has (%d) once calls, loops and branches stand where they are "
      "called; the limit for one of its size is (%d).",
      module.name(), module.instruction_count(), count, most);
}

absl::Status CheckRunnable(const hlo::Module& module, const NativeKernels* kernels) {
  RETURN_IF_ERROR(hlo::CheckParticipants(module));
  RETURN_IF_ERROR(CheckLaidOut(module));
  const hlo::Participants participants = hlo::ParticipantsOf(module);
  int64_t group_instructions = 0;
  std::vector<bool> reached(module.computation_count(), false), applied(reached);
  reached[module.entry_id()] = true;
  // Callees have smaller ids than their callers.
  for (hlo::ComputationId c = module.entry_id() + 1; c-- > 0;) {
    if (!reached[c]) continue;
    const hlo::Computation& computation = module.computation(c);
    for (hlo::NodeId id = 0; id < computation.size(); ++id) {
      const Instruction instruction = computation[id];
      RETURN_IF_ERROR(CheckInstruction(instruction, kernels, participants, group_instructions));
      if (applied[c] && hlo::IsTransfer(instruction.opcode())) {
        return Unimplemented("Opcode %s is in computation %s, which is applied to elements (%s).",
                             hlo::Name(instruction.opcode()), computation.name(), Where(instruction));
      }
      for (hlo::ComputationId called : instruction.called()) {
        reached[called] = true;
        if (applied[c] || AppliesToElements(instruction.opcode())) applied[called] = true;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace hlod::engine

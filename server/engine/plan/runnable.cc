// One look at every instruction that could be reached.
#include "server/engine/plan/runnable.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/edit_distance.h"
#include "common/base/status.h"
#include "common/evaluator/custom_calls.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/collective.h"
#include "common/hlo/replica_groups.h"
#include "server/engine/plan/lowering_steps.h"

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

absl::Status CheckCollective(Instruction instruction, const hlo::Members& members) {
  if (hlo::IsCollectiveEnd(instruction.opcode())) return absl::OkStatus();
  if (members.count() == 1) return hlo::CheckOneParticipant(instruction);
  return hlo::ReadCollective(instruction, members).status();
}

absl::Status CheckInstruction(Instruction instruction, const NativeKernels* kernels,
                              const hlo::Members& members) {
  RETURN_IF_ERROR(CheckStatic(instruction.shape(), instruction));
  if (HasTrait(instruction.opcode(), hlo::kCollective))
    RETURN_IF_ERROR(Annotate(CheckCollective(instruction, members), Where(instruction)));
  if (HasTrait(instruction.opcode(), hlo::kSideEffect)) {
    return Unimplemented(
        "Opcode %s talks to the host in the middle of a program, which this build does not (%s).",
        hlo::Name(instruction.opcode()), Where(instruction));
  }
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
  return Unimplemented(
      "Custom-call target \"%s\" is not known to this daemon (%s): nearest of its own is %s; %s.", target,
      Where(instruction), NearestOwnTarget(target),
      kernels == nullptr ? NativeKernels().Nearest(target) : kernels->Nearest(target));
}

absl::Status CheckRunnable(const hlo::Module& module, const NativeKernels* kernels) {
  RETURN_IF_ERROR(hlo::CheckMembers(module));
  const hlo::Members members = hlo::MembersOf(module);
  std::vector<bool> reached(module.computation_count(), false);
  reached[module.entry_id()] = true;
  // Callees have smaller ids than their callers.
  for (hlo::ComputationId c = module.entry_id() + 1; c-- > 0;) {
    if (!reached[c]) continue;
    const hlo::Computation& computation = module.computation(c);
    for (hlo::NodeId id = 0; id < computation.size(); ++id) {
      const Instruction instruction = computation[id];
      RETURN_IF_ERROR(CheckInstruction(instruction, kernels, members));
      for (hlo::ComputationId called : instruction.called()) reached[called] = true;
    }
  }
  return absl::OkStatus();
}

}  // namespace hlod::engine

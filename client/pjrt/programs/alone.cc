// Makes one replica of a program a program of its own.
#include "client/pjrt/programs/alone.h"

#include <memory>
#include <string>

#include "client/pjrt/programs/call_location.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/opcode.h"

namespace hlod::pjrt {
namespace {

bool NeedsTheOthers(hlo::Opcode opcode) {
  return hlo::HasTrait(opcode, hlo::kCollective) || opcode == hlo::Opcode::kReplicaId ||
         opcode == hlo::Opcode::kPartitionId || hlo::IsTransfer(opcode);
}

absl::Status CheckIndependent(const hlo::Module& module) {
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      const hlo::Opcode opcode = computation[node].opcode();
      if (!NeedsTheOthers(opcode)) continue;
      return Unimplemented(
          "%s has %d participants that work together (%s), and is run on one device at a time. They run when "
          "one call names all their devices; in PyTorch/XLA, torch_xla.runtime.use_spmd() has it do that.",
          module.name(), hlo::ParticipantsOf(module).count(), std::string(hlo::Name(opcode)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<hlod::Executable> Compile(const hlod::Client& client, const hlo::Module& module) {
  RETURN_IF_ERROR(CheckIndependent(module));
  const std::unique_ptr<hlo::Module> replica = hlo::Clone(module);
  replica->config.replica_count = 1;
  replica->config.partition_count = 1;
  return client.Compile(*replica, {}, CurrentLine());
}

}  // namespace

absl::StatusOr<hlod::Executable> AloneProgram::Get(const hlod::Client& client, const hlo::Module& module) {
  absl::MutexLock lock(&mu_);
  if (!compiled_.has_value()) compiled_ = Compile(client, module);
  return *compiled_;
}

}  // namespace hlod::pjrt

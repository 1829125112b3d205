// Makes one replica of a program a program of its own.
#include "client/pjrt/division/alone.h"

#include <memory>

#include "client/pjrt/call_location.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/opcode.h"

namespace hlod::pjrt {
namespace {

bool NeedsTheOthers(hlo::Opcode opcode) {
  return hlo::HasTrait(opcode, hlo::kCollective) || opcode == hlo::Opcode::kReplicaId ||
         opcode == hlo::Opcode::kPartitionId || hlo::IsTransfer(opcode);
}

absl::StatusOr<hlod::Executable> Compile(const hlod::Client& client, const hlo::Module& module) {
  const std::unique_ptr<hlo::Module> replica = hlo::Clone(module);
  replica->config.replica_count = 1;
  replica->config.partition_count = 1;
  return client.Compile(*replica, {}, CurrentLine());
}

}  // namespace

bool NeedsAllParticipants(const hlo::Module& module) {
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      if (NeedsTheOthers(computation[node].opcode())) return true;
    }
  }
  return false;
}

absl::StatusOr<hlod::Executable> AloneProgram::Get(const hlod::Client& client, const hlo::Module& module) {
  absl::MutexLock lock(&mu_);
  if (!compiled_.has_value()) compiled_ = Compile(client, module);
  return *compiled_;
}

}  // namespace hlod::pjrt

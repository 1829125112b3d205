// Finds a program's channels to and from the host.
#include "client/pjrt/callbacks/host_channels.h"

#include <string>

#include "client/pjrt/compile/notes.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/collectives/collective.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::pjrt {
namespace {

bool IsMaximal(const std::string& sharding) {
  xla::OpSharding read;
  return !sharding.empty() && read.ParseFromString(sharding) &&
         (read.type() == xla::OpSharding::MAXIMAL ||
          (read.tuple_shardings_size() > 0 && read.tuple_shardings(0).type() == xla::OpSharding::MAXIMAL));
}

bool IsOnOneDevice(hlo::Instruction instruction) {
  const hlo::Notes* const notes = NotesOf(instruction);
  if (notes == nullptr) return false;
  if (IsMaximal(notes->sharding)) return true;
  const auto sharding = notes->frontend_attributes.find("xla.sdy.sharding");
  return sharding != notes->frontend_attributes.end() &&
         sharding->second.find("<@maximal_mesh_") != std::string::npos;
}

absl::Status Add(hlo::Instruction instruction, const hlo::Transfer& transfer, HostChannels& channels) {
  if (transfer.action == hlo::Transfer::Action::kNothing) return absl::OkStatus();
  const bool to_host = transfer.channel.kind == hlo::Channel::Kind::kToHost;
  if (!to_host && transfer.channel.kind != hlo::Channel::Kind::kFromHost) return absl::OkStatus();
  if (transfer.shapes.size() != 1) {
    return Unimplemented("%s carries %d arrays at once; callbacks take one.", transfer.channel.ToString(),
                         transfer.shapes.size());
  }
  if (IsOnOneDevice(instruction)) channels.once.insert(transfer.channel.id);
  (to_host ? channels.to_host : channels.from_host).emplace(transfer.channel.id, transfer.shapes[0]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HostChannels> HostChannelsOf(const hlo::Module& module) {
  HostChannels channels;
  const hlo::Participants participants = hlo::ParticipantsOf(module);
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      if (!hlo::IsTransfer(computation[node].opcode())) continue;
      ASSIGN_OR_RETURN(const hlo::Transfer transfer, hlo::ReadTransfer(computation[node], participants));
      RETURN_IF_ERROR(Add(computation[node], transfer, channels));
    }
  }
  return channels;
}

}  // namespace hlod::pjrt

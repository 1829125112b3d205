// The list of a module's collectives, and the mesh axes that each one runs along.
#include "client/analysis/network/collectives.h"

#include "absl/strings/str_join.h"
#include "client/analysis/module/callees_first.h"
#include "client/analysis/module/runs.h"
#include "common/base/errors/status.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;

bool Communicates(Instruction i) {
  return hlo::HasTrait(i.opcode(), hlo::kCollective) && !hlo::IsCollectiveEnd(i.opcode());
}

absl::StatusOr<CollectiveUse> UseOf(Instruction i, const hlo::Participants& participants,
                                    const SourceLines& lines) {
  CollectiveUse use{.name = i.name()};
  ASSIGN_OR_RETURN(use.collective, hlo::ReadCollective(i, participants));
  for (uint32_t operand = 0; operand < i.operand_count(); ++operand) {
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(i.operand(operand).shape()))
      use.operand_bytes += static_cast<double>(hlo::ByteSize(*leaf.shape).value_or(0));
  }
  if (const hlo::Notes* const notes = i.computation().notes(i.id()); notes != nullptr) {
    use.op_name = notes->metadata.op_name;
    use.source = lines.Of(*notes);
  }
  return use;
}

// Adds which axes' positions differ between two devices of a mesh.
void AddAxes(int64_t a, int64_t b, const hlo::Mesh& mesh, std::vector<bool>& differs) {
  for (size_t axis = mesh.axes.size(); axis-- > 0;) {
    const int64_t size = mesh.axes[axis].second;
    if (a % size != b % size) differs[axis] = true;
    a /= size;
    b /= size;
  }
}

}  // namespace

absl::StatusOr<std::vector<CollectiveUse>> CollectivesOf(const hlo::Module& module) {
  RETURN_IF_ERROR(hlo::CheckParticipants(module));
  const hlo::Participants participants = hlo::ParticipantsOf(module);
  const SourceLines lines(module);
  const std::vector<double> runs = RunsOfAll(module, module.entry_id());
  std::vector<CollectiveUse> uses;
  for (const hlo::ComputationId id : CalleesFirst(module, module.entry_id())) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      if (!Communicates(computation[node])) continue;
      ASSIGN_OR_RETURN(CollectiveUse use, UseOf(computation[node], participants, lines));
      use.runs = runs[id];
      uses.push_back(std::move(use));
    }
  }
  return uses;
}

std::string AxesOf(const hlo::Collective& collective, const hlo::Mesh& mesh) {
  int64_t devices = 1;
  for (const auto& [name, size] : mesh.axes) devices *= size;
  if (mesh.axes.empty() || devices != static_cast<int64_t>(collective.group_of.size())) return "";
  std::vector<int64_t> position(static_cast<size_t>(devices));
  for (size_t at = 0; at < position.size(); ++at) {
    const size_t device = at < mesh.devices.size() ? static_cast<size_t>(mesh.devices[at]) : at;
    if (device < position.size()) position[device] = static_cast<int64_t>(at);
  }
  std::vector<bool> differs(mesh.axes.size(), false);
  const auto add = [&](int a, int b) {
    AddAxes(position[static_cast<size_t>(a)], position[static_cast<size_t>(b)], mesh, differs);
  };
  if (collective.sources.empty()) {
    for (const std::vector<int>& group : collective.groups) {
      for (const int member : group) add(group[0], member);
    }
  }
  for (size_t target = 0; target < collective.sources.size(); ++target) {
    if (collective.sources[target] >= 0) add(collective.sources[target], static_cast<int>(target));
  }
  std::vector<std::string> axes;
  for (size_t axis = 0; axis < differs.size(); ++axis) {
    if (differs[axis]) axes.push_back(mesh.axes[axis].first);
  }
  return absl::StrJoin(axes, ", ");
}

}  // namespace hlod::analysis

// Finds the collectives, with their groups in terms of axes.
#include "client/analysis/mesh/collectives.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/analysis/mesh/axes.h"
#include "client/analysis/module/callees_first.h"
#include "common/hlo/analysis/iterations.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/network/collective_cost.h"

namespace hlod::analysis {
namespace {

bool Exchanges(hlo::Instruction i) {
  return hlo::HasTrait(i.opcode(), hlo::kCollective) && !hlo::IsCollectiveEnd(i.opcode());
}

// Sets the groups and the axes.
void Describe(hlo::Instruction i, const hlo::Participants& participants, const hlo::Mesh& mesh,
              CollectiveUse& use) {
  use.opcode = i.opcode();
  absl::StatusOr<hlo::Collective> collective = hlo::ReadCollective(i, participants);
  if (!collective.ok()) return;
  use.opcode = collective->opcode;
  if (!collective->sources.empty()) {
    use.axes = AxesOfPairs(collective->sources, mesh);
    use.group_size = 1;
    for (const size_t axis : use.axes) use.group_size *= mesh.axes[axis].second;
    use.group_count = participants.count() / std::max<int64_t>(use.group_size, 1);
    use.collective = *std::move(collective);
    return;
  }
  use.group_count = static_cast<int64_t>(collective->groups.size());
  for (const std::vector<int>& group : collective->groups)
    use.group_size = std::max(use.group_size, static_cast<int64_t>(group.size()));
  use.axes = AxesOf(collective->groups, mesh);
  use.collective = *std::move(collective);
}

}  // namespace

std::vector<CollectiveUse> CollectivesOf(const hlo::Module& module, const hlo::Mesh& mesh) {
  std::vector<CollectiveUse> uses;
  const hlo::Participants participants{.partitions = hlo::DeviceCount(mesh)};
  const SourceLines lines(module);
  const std::vector<double> runs = hlo::RunsOf(module, module.entry_id());
  for (const hlo::ComputationId id : CalleesFirst(module, module.entry_id())) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      const hlo::Instruction i = computation[node];
      if (!Exchanges(i) || runs[id] == 0) continue;
      CollectiveUse use{
          .name = i.name(), .result_bytes = network::BytesOf(hlo::GivenShape(i)), .times = runs[id]};
      for (uint32_t operand = 0; operand < i.operand_count(); ++operand)
        use.operand_bytes += network::BytesOf(i.operand(operand).shape());
      Describe(i, participants, mesh, use);
      if (const hlo::Notes* const notes = computation.notes(node); notes != nullptr) {
        use.op_name = notes->metadata.op_name;
        use.source = lines.Of(*notes);
      }
      uses.push_back(std::move(use));
    }
  }
  return uses;
}

std::vector<CollectiveSum> SumsOf(const std::vector<CollectiveUse>& collectives) {
  std::map<std::tuple<hlo::Opcode, std::vector<size_t>, int64_t, std::string, int>, CollectiveSum> sums;
  for (const CollectiveUse& use : collectives) {
    CollectiveSum& sum = sums[{use.opcode, use.axes, use.group_size, use.source.file, use.source.line}];
    if (sum.times == 0) {
      sum = {.opcode = use.opcode,
             .axes = use.axes,
             .group_size = use.group_size,
             .source = use.source,
             .op_name = use.op_name};
    }
    sum.times += use.times;
    sum.bytes += use.times * use.bytes();
  }
  std::vector<CollectiveSum> ordered;
  for (auto& [key, sum] : sums) ordered.push_back(std::move(sum));
  std::ranges::stable_sort(ordered, std::greater<>(), &CollectiveSum::bytes);
  return ordered;
}

std::string AxesText(const std::vector<size_t>& axes, int64_t group_size, const hlo::Mesh& mesh) {
  if (axes.empty()) return absl::StrCat("among ", group_size);
  return absl::StrCat("over ", absl::StrJoin(axes, " and ", [&](std::string* out, size_t axis) {
                        out->append(AxisName(mesh, axis));
                      }));
}

}  // namespace hlod::analysis

// Expands iotas of devices, and checks lists.
#include "common/hlo/collectives/replica_groups.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/collectives/mesh_groups.h"

namespace hlod::hlo {
namespace {

bool IsIota(const ReplicaGroups& groups) {
  return groups.form == ReplicaGroups::Form::kIota || groups.form == ReplicaGroups::Form::kDeviceListIota;
}

absl::Status CheckIota(const ReplicaGroups& groups) {
  if (groups.count < 1 || groups.size < 1)
    return InvalidArgument("An iota of (%d) replica groups of (%d) devices is empty.", groups.count,
                           groups.size);
  const std::optional<int64_t> participants = CheckedMultiply(groups.count, groups.size);
  if (!participants || *participants > kGroupParticipantsMax) {
    return InvalidArgument("The number of devices (%d groups of %d) of a collective exceeds the limit (%d).",
                           groups.count, groups.size, kGroupParticipantsMax);
  }
  constexpr size_t kDimensionsMax = 64;
  if (groups.reshape.size() > kDimensionsMax) {
    return InvalidArgument("An iota of replica groups has (%d) dimensions; the limit is (%d).",
                           groups.reshape.size(), kDimensionsMax);
  }
  int64_t reshaped = 1;
  for (const int64_t size : groups.reshape) {
    if (size < 1 || size > *participants) reshaped = 0;
    reshaped = reshaped > *participants ? reshaped : reshaped * size;
  }
  if (reshaped != *participants) {
    return InvalidArgument("An iota of replica groups is reshaped to other than its (%d) devices.",
                           *participants);
  }
  Dims sorted = groups.transpose;
  std::sort(sorted.begin(), sorted.end());
  bool permutes = sorted.size() == groups.reshape.size();
  for (size_t i = 0; i < sorted.size(); ++i) permutes = permutes && sorted[i] == static_cast<int64_t>(i);
  if (permutes) return absl::OkStatus();
  return InvalidArgument(
      "The transpose of an iota of replica groups is not a permutation of its (%d) dimensions.",
      groups.reshape.size());
}

bool IsMesh(const ReplicaGroups& groups) { return groups.form == ReplicaGroups::Form::kMesh; }

absl::StatusOr<xla::MeshAxesReplicaGroupListProto> MeshOf(const ReplicaGroups& groups) {
  xla::MeshAxesReplicaGroupListProto list;
  if (!list.ParseFromString(groups.mesh))
    return InvalidArgument("The mesh of replica groups cannot be read.");
  return list;
}

absl::Status CheckMesh(const ReplicaGroups& groups) {
  ASSIGN_OR_RETURN(const xla::MeshAxesReplicaGroupListProto list, MeshOf(groups));
  return CheckMeshGroups(list, kGroupParticipantsMax);
}

std::vector<Dims> ListMesh(const ReplicaGroups& groups) {
  const auto list = MeshOf(groups);
  return list.ok() ? MeshGroups(*list, kGroupParticipantsMax).value_or(std::vector<Dims>())
                   : std::vector<Dims>();
}

}  // namespace

bool MayHaveUnevenGroups(Opcode opcode) { return opcode == kAllReduce || opcode == kAllReduceStart; }

absl::Status CheckGroups(const ReplicaGroups& groups, bool uneven) {
  if (IsIota(groups)) return CheckIota(groups);
  if (IsMesh(groups)) return CheckMesh(groups);
  if (const int64_t devices = GroupDevices(groups); devices > kGroupParticipantsMax) {
    return InvalidArgument("The number of devices (%d, in %d groups) of a collective exceeds the limit (%d).",
                           devices, groups.lists.size(), kGroupParticipantsMax);
  }
  absl::flat_hash_set<int64_t> seen;
  for (const Dims& group : groups.lists) {
    if (group.empty()) return InvalidArgument("A replica group is empty.");
    if (!uneven && group.size() != groups.lists[0].size()) {
      return InvalidArgument("A replica group has (%d) devices, and the first has (%d).", group.size(),
                             groups.lists[0].size());
    }
    for (const int64_t id : group) {
      if (id < 0) return InvalidArgument("The device (%d) of a replica group is negative.", id);
      if (!seen.insert(id).second) return InvalidArgument("The device (%d) is in replica groups twice.", id);
    }
  }
  return absl::OkStatus();
}

std::optional<int64_t> GroupSize(const ReplicaGroups& groups) {
  if (IsIota(groups)) return groups.size;
  if (IsMesh(groups))
    return MeshGroupCounts(MeshOf(groups).value_or(xla::MeshAxesReplicaGroupListProto())).second;
  if (groups.lists.empty()) return std::nullopt;
  return static_cast<int64_t>(groups.lists[0].size());
}

int64_t GroupDevices(const ReplicaGroups& groups) {
  if (IsIota(groups)) return groups.count * groups.size;
  if (IsMesh(groups))
    return MeshGroupCounts(MeshOf(groups).value_or(xla::MeshAxesReplicaGroupListProto())).first;
  int64_t devices = 0;
  for (const Dims& group : groups.lists) devices += static_cast<int64_t>(group.size());
  return devices;
}

std::vector<Dims> ListGroups(const ReplicaGroups& groups) {
  if (IsMesh(groups)) return ListMesh(groups);
  if (!IsIota(groups)) return groups.lists;
  const size_t rank = groups.reshape.size();
  const Dims strides = RowMajorStrides(groups.reshape);
  std::vector<Dims> lists(static_cast<size_t>(groups.count));
  Dims index(rank);  // An index of the transposed array.
  for (Dims& list : lists) {
    for (int64_t i = 0; i < groups.size; ++i) {
      int64_t id = 0;
      for (size_t d = 0; d < rank; ++d) id += index[d] * strides[groups.transpose[d]];
      list.push_back(id);
      for (size_t d = rank; d-- > 0;) {
        if (++index[d] < groups.reshape[groups.transpose[d]]) break;
        index[d] = 0;
      }
    }
  }
  return lists;
}

namespace {

absl::Status TooMany(Instruction collective, const std::string& what) {
  return Unimplemented(
      "Collective %s (%s) %s; a program runs as num_replicas (1) and num_partitions (1) here, the limit of "
      "both.",
      Name(collective.opcode()), collective.name(), what);
}

// Returns true when the result of a collective has more or fewer elements than its operand.
bool ChangesSize(Instruction collective) {
  const Shape* result = &GivenShape(collective);
  for (uint32_t i = 0; i < collective.operand_count(); ++i) {
    const Shape& one = result->IsTuple() ? result->tuple[i] : *result;
    if (one.dims != collective.operand(i).shape().dims) return true;
  }
  return false;
}

bool AnyInstruction(const Module& module, bool (*holds)(Instruction)) {
  for (ComputationId id = 0; id < module.computation_count(); ++id) {
    const Computation& computation = module.computation(id);
    for (NodeId node = 0; node < computation.size(); ++node) {
      if (holds(computation[node])) return true;
    }
  }
  return false;
}

}  // namespace

bool CutsWholeArrays(const Module& module) {
  static constexpr std::string_view kCutting[] = {"SPMDFullToShardShape", "SPMDShardToFullShape",
                                                  "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"};
  return AnyInstruction(module, [](Instruction instruction) {
    return instruction.opcode() == kCustomCall &&
           std::ranges::count(kCutting, instruction.attributes<CustomCallAttributes>().target) > 0;
  });
}

bool DependsOnPartition(const Module& module) {
  return CutsWholeArrays(module) || AnyInstruction(module, [](Instruction instruction) {
           return instruction.opcode() == kPartitionId || HasTrait(instruction.opcode(), hlo::kCollective);
         });
}

absl::Status CheckOneParticipant(Instruction collective) {
  if (const auto* permute = std::get_if<PermuteAttributes>(&collective.attributes())) {
    for (const auto& [source, target] : permute->pairs) {
      const int64_t other = std::max(source, target);
      if (other != 0) return TooMany(collective, absl::StrCat("names device (", other, ")"));
    }
    return absl::OkStatus();
  }
  const auto* attributes = std::get_if<CollectiveAttributes>(&collective.attributes());
  // A -done; the attributes of its start were checked already.
  if (attributes == nullptr) return absl::OkStatus();
  const ReplicaGroups& groups = attributes->groups;
  RETURN_IF_ERROR(CheckGroups(groups, MayHaveUnevenGroups(collective.opcode())));
  // A program of one device can name only device 0, so longer lists are not expanded.
  constexpr int64_t kListedMax = 1 << 12;
  if (const int64_t devices = GroupDevices(groups); devices > kListedMax)
    return TooMany(collective, absl::StrCat("names (", devices, ") devices"));
  for (const Dims& group : ListGroups(groups)) {
    for (const int64_t id : group) {
      if (id != 0) return TooMany(collective, absl::StrCat("names device (", id, ")"));
    }
  }
  if (collective.opcode() != kRaggedAllToAll && ChangesSize(collective))
    return TooMany(collective, absl::StrCat("has a result (", ToStringNoLayout(collective.shape()),
                                            ") of more than one device"));
  if (collective.opcode() == kAllToAll && collective.operand_count() > 1)
    return TooMany(collective, absl::StrCat("has (", collective.operand_count(), ") operands"));
  return absl::OkStatus();
}

}  // namespace hlod::hlo

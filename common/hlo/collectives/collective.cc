// Groups of participants by the modes of collectives.
#include "common/hlo/collectives/collective.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/replica_groups.h"

namespace hlod::hlo {
namespace {

// The meaning of the ids in a collective's groups.
enum class Mode {
  kReplicas,              // Replica ids; each group is within one partition.
  kPartitions,            // Partition ids; each group is within one replica.
  kReplicasOfPartitions,  // Replica ids; each group has all partitions of its replicas.
  kParticipants,          // Participant ids.
};

Opcode Started(Opcode opcode) {
  switch (opcode) {
    case kAllReduceStart: return kAllReduce;
    case kAllGatherStart: return kAllGather;
    case kCollectivePermuteStart: return kCollectivePermute;
    default: return opcode;
  }
}

// Returns true for opcodes that can state use_global_device_ids; other opcodes with a channel act across
// partitions.
bool SaysGlobal(Opcode opcode) {
  return opcode == kAllReduce || opcode == kAllGather || opcode == kReduceScatter ||
         opcode == kCollectiveReduce;
}

absl::StatusOr<Mode> ModeOf(Instruction instruction, Opcode opcode) {
  if (const auto* permute = std::get_if<PermuteAttributes>(&instruction.attributes()))
    return permute->channel_id > 0 ? Mode::kPartitions : Mode::kReplicas;
  const auto& attributes = instruction.attributes<CollectiveAttributes>();
  if (attributes.channel_id <= 0) {
    if (!attributes.use_global_device_ids) return Mode::kReplicas;
    return InvalidArgument("Collective %s (%s) has use_global_device_ids and no channel_id.", Name(opcode),
                           instruction.name());
  }
  if (attributes.use_global_device_ids) return Mode::kParticipants;
  return SaysGlobal(opcode) ? Mode::kReplicasOfPartitions : Mode::kPartitions;
}

// Translates the ids of groups to participants.
class Grouping {
 public:
  Grouping(Mode mode, const Participants& participants) : mode_(mode), participants_(participants) {}

  int64_t ids() const {
    switch (mode_) {
      case Mode::kReplicas:
      case Mode::kReplicasOfPartitions: return participants_.replicas;
      case Mode::kPartitions: return participants_.partitions;
      case Mode::kParticipants: return participants_.count();
    }
    return 0;
  }
  std::string_view what() const {
    switch (mode_) {
      case Mode::kReplicas:
      case Mode::kReplicasOfPartitions: return "replica";
      case Mode::kPartitions: return "partition";
      case Mode::kParticipants: return "device";
    }
    return "";
  }
  // Returns the groups of participants that a list of ids means.
  std::vector<std::vector<int>> ParticipantsOf(absl::Span<const int64_t> list) const {
    const int64_t rows = mode_ == Mode::kReplicas     ? participants_.partitions
                         : mode_ == Mode::kPartitions ? participants_.replicas
                                                      : 1;
    std::vector<std::vector<int>> groups(static_cast<size_t>(rows));
    for (int64_t row = 0; row < rows; ++row) {
      for (const int64_t id : list) {
        const int64_t each = mode_ == Mode::kReplicasOfPartitions ? participants_.partitions : 1;
        for (int64_t i = 0; i < each; ++i)
          groups[static_cast<size_t>(row)].push_back(static_cast<int>(MemberOf(row, id, i)));
      }
    }
    return groups;
  }

 private:
  int64_t MemberOf(int64_t row, int64_t id, int64_t partition) const {
    switch (mode_) {
      case Mode::kReplicas: return id * participants_.partitions + row;
      case Mode::kPartitions: return row * participants_.partitions + id;
      case Mode::kReplicasOfPartitions: return id * participants_.partitions + partition;
      case Mode::kParticipants: return id;
    }
    return 0;
  }

  const Mode mode_;
  const Participants& participants_;
};

Dims All(int64_t count) {
  Dims ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(i);
  return ids;
}

absl::Status CheckId(Instruction instruction, Opcode opcode, int64_t id, const Grouping& grouping,
                     const Participants& participants) {
  if (id >= 0 && id < grouping.ids()) return absl::OkStatus();
  return InvalidArgument(
      "Collective %s (%s) names %s (%d); the program has (%d) of them: num_replicas (%d), num_partitions "
      "(%d).",
      Name(opcode), instruction.name(), grouping.what(), id, grouping.ids(), participants.replicas,
      participants.partitions);
}

}  // namespace

std::string Participants::Name(int64_t participant) const {
  return absl::StrFormat("participant %d (replica %d, partition %d)", participant, participant / partitions,
                         participant % partitions);
}

Participants ParticipantsOf(const Module& module) {
  return {module.config.replica_count, module.config.partition_count};
}

absl::Status CheckParticipants(const Module& module) {
  const auto [replicas, partitions] = ParticipantsOf(module);
  const std::optional<int64_t> count = CheckedMultiply(replicas, partitions);
  if (replicas > 0 && partitions > 0 && count.has_value() && *count <= kParticipantsMax)
    return absl::OkStatus();
  return InvalidArgument(
      "Module %s is for num_replicas (%d) and num_partitions (%d); together the limit is (%d).",
      module.name(), replicas, partitions, kParticipantsMax);
}

bool KeepsOperands(Opcode start) { return start == kAllGatherStart || start == kCollectivePermuteStart; }

const Shape& GivenShape(Instruction collective) {
  return KeepsOperands(collective.opcode()) ? collective.shape().tuple[1] : collective.shape();
}

bool IsCollectiveEnd(Opcode opcode) {
  return opcode == kAllReduceDone || opcode == kAllGatherDone || opcode == kCollectivePermuteDone;
}

absl::StatusOr<Collective> ReadCollective(Instruction instruction, const Participants& participants) {
  Collective collective;
  collective.opcode = Started(instruction.opcode());
  ASSIGN_OR_RETURN(const Mode mode, ModeOf(instruction, collective.opcode));
  const Grouping grouping(mode, participants);
  std::vector<Dims> lists;
  if (const auto* attributes = std::get_if<CollectiveAttributes>(&instruction.attributes())) {
    RETURN_IF_ERROR(CheckGroups(attributes->groups, MayHaveUnevenGroups(instruction.opcode())));
    if (const int64_t devices = GroupDevices(attributes->groups); devices > participants.count()) {
      return InvalidArgument("Collective %s (%s) groups (%d) devices; the program has (%d) participants.",
                             Name(instruction.opcode()), instruction.name(), devices, participants.count());
    }
    lists = ListGroups(attributes->groups);
    if (lists.empty() && mode == Mode::kParticipants) {
      return InvalidArgument("Collective %s (%s) has use_global_device_ids and no replica_groups.",
                             Name(instruction.opcode()), instruction.name());
    }
  }
  if (lists.empty()) lists.push_back(All(grouping.ids()));
  collective.group_of.assign(static_cast<size_t>(participants.count()), -1);
  collective.rank_of = collective.group_of;
  for (const Dims& list : lists) {
    for (const int64_t id : list)
      RETURN_IF_ERROR(CheckId(instruction, instruction.opcode(), id, grouping, participants));
    for (std::vector<int>& group : grouping.ParticipantsOf(list)) {
      for (size_t rank = 0; rank < group.size(); ++rank) {
        collective.group_of[static_cast<size_t>(group[rank])] = static_cast<int>(collective.groups.size());
        collective.rank_of[static_cast<size_t>(group[rank])] = static_cast<int>(rank);
      }
      collective.groups.push_back(std::move(group));
    }
  }
  const auto outside = std::ranges::find(collective.group_of, -1) - collective.group_of.begin();
  if (collective.opcode != kCollectiveBroadcast && outside < participants.count()) {
    return InvalidArgument("Collective %s (%s) has %s in none of its groups.", Name(instruction.opcode()),
                           instruction.name(), participants.Name(outside));
  }
  if (collective.opcode == kCollectiveBroadcast) {
    collective.sources.assign(collective.group_of.size(), -1);
    for (const std::vector<int>& group : collective.groups) {
      for (const int participant : group) collective.sources[static_cast<size_t>(participant)] = group[0];
    }
  } else if (collective.opcode == kCollectivePermute) {
    collective.sources.assign(collective.group_of.size(), -1);
    for (const auto& [source, target] : instruction.attributes<PermuteAttributes>().pairs) {
      RETURN_IF_ERROR(CheckId(instruction, instruction.opcode(), source, grouping, participants));
      RETURN_IF_ERROR(CheckId(instruction, instruction.opcode(), target, grouping, participants));
      // Each row's source and target.
      const int64_t pair[] = {source, target};
      for (const std::vector<int>& group : grouping.ParticipantsOf(pair))
        collective.sources[static_cast<size_t>(group[1])] = group[0];
    }
  }
  return collective;
}

std::set<size_t> GroupSizes(const Collective& collective) {
  std::set<size_t> sizes;
  for (const std::vector<int>& group : collective.groups) sizes.insert(group.size());
  return sizes;
}

}  // namespace hlod::hlo

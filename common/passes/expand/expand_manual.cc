// Rewrites the custom-calls that change shapes in one pass over the module.
#include "common/passes/expand/expand_manual.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/proto/tiling.h"
#include "common/hlo/text/shardy.h"
#include "common/passes/copy.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// The change of shape that a custom-call makes to each of its operands.
struct Change {
  std::string_view target;
  bool joins;
  const char* shardings;  // The frontend attribute with the shardings; null: an OpSharding of the whole.
};
constexpr Change kChanges[] = {
    {"xla.sdy.GlobalToLocalShape", false, "xla.sdy.in_shardings"},
    {"xla.sdy.LocalToGlobalShape", true, "xla.sdy.out_shardings"},
    {"SPMDFullToShardShape", false, nullptr},
    {"SPMDShardToFullShape", true, nullptr},
};

const Change* ChangeOf(Instruction instruction) {
  if (instruction.opcode() != kCustomCall) return nullptr;
  const auto found =
      std::ranges::find(kChanges, instruction.attributes<CustomCallAttributes>().target, &Change::target);
  return found == std::end(kChanges) ? nullptr : found;
}

const Notes* NotesOf(Instruction instruction) { return instruction.computation().notes(instruction.id()); }

std::string Attribute(const std::map<std::string, std::string>& attributes, const char* name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? "" : found->second;
}

class ManualExpansion {
 public:
  explicit ManualExpansion(const Module& module)
      : module_(module),
        participants_(ParticipantsOf(module)),
        meshes_(ParseMeshes(Attribute(module.config.frontend_attributes, "xla.sdy.meshes"))) {}

  // Appends the replacement of `old` over its new operands.
  absl::StatusOr<NodeId> Replace(Builder& b, const ComputationCopy& copy, Instruction old,
                                 const Change& change) {
    const size_t wanted_count = old.shape().IsTuple() ? old.shape().tuple.size() : 1;
    if (wanted_count != old.operand_count()) {
      return InvalidArgument("It has (%d) operands and (%d) results.", old.operand_count(), wanted_count);
    }
    ASSIGN_OR_RETURN(const Named named, NamedBy(old, change));
    std::vector<Op> results;
    for (uint32_t i = 0; i < old.operand_count(); ++i) {
      const Op given{&b, copy.node(old.operands()[i])};
      const Shape& wanted = old.shape().IsTuple() ? old.shape().tuple[i] : old.shape();
      const Shape& whole = change.joins ? wanted : b.shape(given);
      RETURN_IF_ERROR(CountPlaces(whole));
      ASSIGN_OR_RETURN(const std::string sharding, ShardingOf(old, change, named, i, whole.dims.size()));
      ASSIGN_OR_RETURN(const Tiling tiling, TilingOf(sharding, whole.dims.size(), participants_.partitions));
      RETURN_IF_ERROR(CheckParts(tiling, whole, change.joins ? b.shape(given) : wanted));
      results.push_back(change.joins ? Joined(b, given, tiling) : Cut(b, given, tiling));
    }
    if (!old.shape().IsTuple()) return results[0].id;
    return b.Tuple(results).id;
  }

 private:
  // Counts the table entries that hold each partition's position along each dimension.
  absl::Status CountPlaces(const Shape& whole) {
    constexpr int64_t kPlacesMax = 1 << 22;
    places_ += participants_.count() * (1 + static_cast<int64_t>(whole.dims.size()));
    if (places_ <= kPlacesMax) return absl::OkStatus();
    return ResourceExhausted(
        "Among (%d) devices, the arrays that are cut up until here have (%d) places; the limit is (%d).",
        participants_.count(), places_, kPlacesMax);
  }

  // The shardings by axes of a mesh that an instruction states; views of its attributes.
  struct Named {
    std::vector<std::string_view> shardings;
    std::vector<std::string> axes;
  };
  absl::StatusOr<Named> NamedBy(Instruction old, const Change& change) const {
    Named named;
    if (change.shardings == nullptr) return named;
    static const std::map<std::string, std::string> kNone;
    const Notes* const notes = NotesOf(old);
    const auto& attributes = notes == nullptr ? kNone : notes->frontend_attributes;
    const auto stated = attributes.find(change.shardings);
    const std::string_view text = stated == attributes.end() ? std::string_view() : stated->second;
    named.shardings = SplitShardings(text);
    named.axes = AxisNames(Attribute(attributes, "xla.sdy.manual_axes"));
    if (named.shardings.size() == old.operand_count()) return named;
    return InvalidArgument("It has (%d) operands, and %s (%s) names (%d) shardings by a mesh of the module.",
                           old.operand_count(), change.shardings, text, named.shardings.size());
  }

  absl::StatusOr<std::string> ShardingOf(Instruction old, const Change& change, const Named& named,
                                         uint32_t i, size_t rank) const {
    if (change.shardings == nullptr) {
      const Notes* const notes = NotesOf(change.joins ? old : old.operand(i));
      if (notes != nullptr && !notes->sharding.empty()) return notes->sharding;
      return InvalidArgument("%s says no sharding.", change.joins ? "It" : "Its operand");
    }
    std::optional<std::string> sharding = OpShardingOf(named.shardings[i], meshes_, rank, &named.axes);
    if (sharding.has_value()) return *std::move(sharding);
    return Unimplemented(
        "The sharding %s of its operand (%d) has no simple form by the (%d) meshes that the program names.",
        named.shardings[i], i, meshes_.size());
  }

  static absl::Status CheckParts(const Tiling& tiling, const Shape& whole, const Shape& part) {
    bool fits = whole.IsArray() && whole.type == part.type && whole.dims.size() == part.dims.size();
    for (size_t d = 0; fits && d < whole.dims.size(); ++d)
      fits = CheckedMultiply(part.dims[d], tiling.parts[d]) == whole.dims[d];
    if (fits) return absl::OkStatus();
    return InvalidArgument("Its sharding cuts %s into other parts than %s.", ToStringNoLayout(whole),
                           ToStringNoLayout(part));
  }

  // Returns the partition's part, by a table of the start of each partition's part.
  Op Cut(Builder& b, Op whole, const Tiling& tiling) const {
    const Shape shape = b.shape(whole);
    const auto rank = static_cast<int64_t>(shape.dims.size());
    if (std::ranges::all_of(tiling.parts, [](int64_t parts) { return parts == 1; })) return whole;
    Literal table(Shape::Array(kS32, {participants_.partitions, rank}));
    Dims sizes = shape.dims;
    for (int64_t d = 0; d < rank; ++d) sizes[static_cast<size_t>(d)] /= tiling.parts[static_cast<size_t>(d)];
    for (int64_t p = 0; p < participants_.partitions; ++p) {
      for (int64_t d = 0; d < rank; ++d) {
        const auto at = static_cast<size_t>(d);
        table.data<int32_t>()[p * rank + d] =
            static_cast<int32_t>(tiling.tiles[static_cast<size_t>(p)][at] * sizes[at]);
      }
    }
    const Op zero = b.Constant(Literal::Scalar<int32_t>(0));
    const Op partition = b.Convert(b.Add(kPartitionId, {}), kS32);
    const Op row = b.DynamicSlice(b.Constant(std::move(table)), {partition, zero}, {1, rank});
    std::vector<Op> starts;
    for (int64_t d = 0; d < rank; ++d) starts.push_back(b.Reshape(b.Slice(row, {0, d}, {1, d + 1}), {}));
    return b.DynamicSlice(whole, starts, sizes);
  }

  // Returns the parts of all partitions, gathered dimension by dimension.
  Op Joined(Builder& b, Op part, const Tiling& tiling) {
    for (size_t d = 0; d < tiling.parts.size(); ++d) {
      if (tiling.parts[d] == 1) continue;
      Shape joined = b.shape(part);
      joined.dims[d] *= tiling.parts[d];
      CollectiveAttributes attributes;
      attributes.groups.form = ReplicaGroups::Form::kList;
      attributes.groups.lists = GroupsAlong(d, tiling);
      attributes.channel_id = ++channel_;
      attributes.dimensions = {static_cast<int64_t>(d)};
      attributes.use_global_device_ids = true;
      part = b.Add(kAllGather, {part}, attributes, {}, &joined);
    }
    return part;
  }

  // Returns the groups of partitions that differ only in dimension `d`, in order of it. If several partitions
  // have the same part, the first ones of all parts form a group, then the second ones, and so on.
  std::vector<Dims> GroupsAlong(size_t d, const Tiling& tiling) const {
    std::map<Dims, int64_t> copies;  // The number of partitions so far with each tile.
    // By the position in the other dimensions and the copy: partitions by position in d.
    std::map<std::pair<Dims, int64_t>, std::map<int64_t, int64_t>> along;
    for (size_t p = 0; p < tiling.tiles.size(); ++p) {
      Dims others = tiling.tiles[p];
      const int64_t copy = copies[others]++;
      const int64_t place = std::exchange(others[d], 0);
      along[{std::move(others), copy}][place] = static_cast<int64_t>(p);
    }
    std::vector<Dims> groups;
    for (int64_t replica = 0; replica < participants_.replicas; ++replica) {
      for (const auto& [key, partitions] : along) {
        Dims& group = groups.emplace_back();
        for (const auto& [place, partition] : partitions)
          group.push_back(replica * participants_.partitions + partition);
      }
    }
    return groups;
  }

  const Module& module_;
  const Participants participants_;
  const Meshes meshes_;
  int64_t places_ = 0;
  int64_t channel_ = int64_t{1} << 32;  // Larger than the channel ids of programs.
};

}  // namespace

bool HasManualComputations(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (ChangeOf(computation[id]) != nullptr) return true;
    }
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Module>> ExpandManual(const Module& module) {
  RETURN_IF_ERROR(CheckParticipants(module));
  std::unique_ptr<Module> result = EmptyCopy(module);
  std::vector<ComputationId> computations;
  ManualExpansion expansion(module);
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    ComputationCopy copy(module, from, AddEmptyCopy(*result, from), computations);
    Builder b(*result, copy.to());
    for (NodeId id = 0; id < from.size(); ++id) {
      const Change* const change = ChangeOf(from[id]);
      if (change == nullptr) {
        copy.set_node(id, copy.Clone(from[id]));
        continue;
      }
      const absl::StatusOr<NodeId> node = expansion.Replace(b, copy, from[id], *change);
      absl::Status status = node.ok() ? b.status() : node.status();
      if (!status.ok())
        return Annotate(status, absl::StrFormat("instruction %s (%s)", from[id].name(), change->target));
      copy.set_node(id, *node);
    }
    copy.to().set_root(copy.node(from.root_id()));
    computations.push_back(c);
  }
  result->set_entry(module.entry_id());
  return result;
}

}  // namespace hlod::passes

// Converts collectives, and reads their groups of devices.
#include "client/import/convert/conversion.h"
#include "client/import/convert/mesh_groups.h"
#include "client/import/convert/scope.h"
#include "common/hlo/builder.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// Reads one group per row. Rows shorter than the longest are padded with negative numbers.
hlo::ReplicaGroups GroupsOf(Conversion& c) {
  hlo::ReplicaGroups groups;
  const Attribute* const stated = c.Find("replica_groups");
  if (const auto* const mesh = stated == nullptr ? nullptr : std::get_if<Word>(&stated->value))
    return c.Take(MeshAxesGroups(mesh->text, c.scope.converter().meshes()));
  const Dims ids = c.Integers("replica_groups");
  if (ids.empty()) return groups;
  const Attribute& attribute = *c.Find("replica_groups");
  const auto* const rows = std::get_if<hlo::Literal>(&attribute.value);
  if (rows == nullptr || rows->shape().rank() != 2) {
    c.Fail(InvalidArgument("Its attribute replica_groups is %s; expected one row per group.",
                           ShownText(attribute)));
    return groups;
  }
  const auto size = static_cast<size_t>(rows->shape().dims[1]);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i % size == 0) groups.lists.emplace_back();
    if (ids[i] >= 0) groups.lists.back().push_back(ids[i]);
  }
  return groups;
}

// Reads the groups, the channel, and, when `dimension` names an attribute, its dimension.
hlo::CollectiveAttributes AttributesOf(Conversion& c, std::string_view dimension = "") {
  if (c.Bool("has_dynamic_root"))
    c.Fail(
        Unimplemented("A root that is computed when the program runs (has_dynamic_root) is not supported."));
  hlo::CollectiveAttributes attributes;
  attributes.groups = GroupsOf(c);
  attributes.channel_id = c.Integer("channel_id", 0);
  attributes.use_global_device_ids = c.Bool("use_global_device_ids");
  if (!dimension.empty()) attributes.dimensions = {c.Integer(dimension)};
  return attributes;
}

template <hlo::Opcode opcode>
Values Reducing(Conversion& c) {
  const hlo::CollectiveAttributes attributes =
      AttributesOf(c, opcode == kReduceScatter ? "scatter_dimension" : "");
  // Each operand is reduced separately, by the same region of two numbers.
  std::vector<Op> operands = c.operands;
  if (operands.size() == 1) operands = Widened(c, 0, 1);
  const ComputationId reducer = c.Reducer();
  return Instruction(c, opcode, operands, attributes, {reducer});
}

// Converts an all-reduce from before the operation had a region.
Values CrossReplicaSum(Conversion& c) {
  const hlo::CollectiveAttributes attributes = AttributesOf(c);
  if (!c.status().ok()) return {};
  const ComputationId add = hlo::AddScalarReducer(c.scope.converter().module(), kAdd, c.shape(0).type);
  return Instruction(c, kAllReduce, c.operands, attributes, {add});
}

Values AllGather(Conversion& c) {
  return Instruction(c, kAllGather, c.operands, AttributesOf(c, "all_gather_dim"));
}

Values BroadcastFromOne(Conversion& c) {
  return Instruction(c, kCollectiveBroadcast, c.operands, AttributesOf(c));
}

Values Permute(Conversion& c) {
  hlo::PermuteAttributes attributes;
  attributes.pairs = c.PairsOf("source_target_pairs");
  attributes.channel_id = c.Integer("channel_id", 0);
  return Instruction(c, kCollectivePermute, c.operands, attributes);
}

// Adds an all-to-all. HLO joins the pieces along the dimension that it splits; to join along another
// dimension, the pieces are moved there.
Op Exchange(Conversion& c, Op operand, const hlo::CollectiveAttributes& attributes, int64_t join,
            int64_t count) {
  const Dims dims = c.b.shape(operand).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t split = attributes.dimensions[0];
  if (split < 0 || split >= rank || join < 0 || join >= rank) {
    c.Fail(InvalidArgument(
        "Its split_dimension (%d) and concat_dimension (%d) must be below the operand's rank (%d).", split,
        join, rank));
    return operand;
  }
  const int64_t whole = dims[static_cast<size_t>(split)];
  if (count < 1 || whole % count != 0) {
    c.Fail(InvalidArgument("Its split_count (%d) does not divide the size (%d) of dimension (%d).", count,
                           whole, split));
    return operand;
  }
  const Op exchanged = c.b.Add(kAllToAll, {operand}, attributes);
  if (split == join) return exchanged;
  // `apart` has the pieces' numbers as a dimension of its own; `order` moves it to its new place.
  Dims apart, order, together = dims;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = dims[static_cast<size_t>(d)];
    if (d == split) apart.push_back(count);
    apart.push_back(d == split ? size / count : size);
    if (d == join) order.push_back(split);
    order.push_back(d < split ? d : d + 1);
  }
  together[static_cast<size_t>(split)] /= count;
  together[static_cast<size_t>(join)] *= count;
  return c.b.Reshape(c.b.Transpose(c.b.Reshape(exchanged, apart), order), together);
}

Values AllToAll(Conversion& c) {
  const hlo::CollectiveAttributes attributes = AttributesOf(c, "split_dimension");
  const int64_t join = c.Integer("concat_dimension"), count = c.Integer("split_count");
  if (c.op.results.size() != c.operands.size()) {
    c.Fail(InvalidArgument("It has (%d) operands and (%d) results; expected equal numbers.",
                           c.operands.size(), c.op.results.size()));
  }
  Values values;
  for (const Op operand : c.operands) {
    if (!c.status().ok()) return {};
    values.push_back(Exchange(c, operand, attributes, join, count));
  }
  return c.status().ok() ? values : Values{};
}

constexpr Rule kCollectiveRules[] = {
    {"stablehlo.all_gather", AllGather, -1, -1},
    {"stablehlo.all_reduce", Reducing<kAllReduce>, -1, -1, 1},
    {"stablehlo.all_to_all", AllToAll, -1, -1},
    {"stablehlo.collective_broadcast", BroadcastFromOne, -1, -1},
    {"stablehlo.collective_permute", Permute, 1},
    {"stablehlo.collective_reduce", Reducing<kCollectiveReduce>, -1, -1, 1},
    {"stablehlo.cross-replica-sum", CrossReplicaSum, 1},
    {"stablehlo.partition_id", Plain, 0, 1, 0, kPartitionId},
    {"stablehlo.reduce_scatter", Reducing<kReduceScatter>, 1, 1, 1},
    {"stablehlo.replica_id", Plain, 0, 1, 0, kReplicaId},
};

}  // namespace

absl::Span<const Rule> CollectiveRules() { return kCollectiveRules; }

}  // namespace hlod::stablehlo

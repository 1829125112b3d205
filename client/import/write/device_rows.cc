// Writes operations of devices, the host and their order: collectives, feeds, barriers, random bits.
#include "absl/strings/str_cat.h"
#include "client/import/write/draft.h"
#include "common/hlo/collectives/replica_groups.h"

namespace hlod::stablehlo::write {
namespace {

using enum hlo::Opcode;

void Channel(int64_t channel, AttributeMap& attributes) {
  if (channel == 0) return;
  attributes["channel_handle"] =
      Structure("stablehlo.channel_handle").Field("handle", absl::StrCat(channel)).Field("type", "0").Done();
}

void Reducing(hlo::Instruction instruction, AttributeMap& attributes) {
  AddGroups(instruction, attributes);
  if (instruction.attributes<hlo::CollectiveAttributes>().use_global_device_ids)
    attributes["use_global_device_ids"] = {std::monostate()};
}

void AllGather(hlo::Instruction instruction, AttributeMap& attributes) {
  Reducing(instruction, attributes);
  attributes["all_gather_dim"] = Number(instruction.attributes<hlo::CollectiveAttributes>().dimensions[0]);
}

void ReduceScatter(hlo::Instruction instruction, AttributeMap& attributes) {
  Reducing(instruction, attributes);
  attributes["scatter_dimension"] = Number(instruction.attributes<hlo::CollectiveAttributes>().dimensions[0]);
}

void Permute(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& permute = instruction.attributes<hlo::PermuteAttributes>();
  std::vector<hlo::Dims> pairs;
  for (const auto& [source, target] : permute.pairs) pairs.push_back({source, target});
  attributes["source_target_pairs"] = Rows(pairs);
  Channel(permute.channel_id, attributes);
}

void RandomBits(hlo::Instruction instruction, AttributeMap& attributes) {
  static constexpr std::string_view kWords[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  const auto algorithm = instruction.attributes<hlo::RngBitGeneratorAttributes>().algorithm;
  attributes["rng_algorithm"] = Enum("rng_algorithm", kWords[static_cast<size_t>(algorithm)]);
}

void Infeed(hlo::Instruction instruction, AttributeMap& attributes) {
  attributes["infeed_config"] = {instruction.attributes<hlo::InfeedAttributes>().config};
}

void Outfeed(hlo::Instruction instruction, AttributeMap& attributes) {
  attributes["outfeed_config"] = {instruction.attributes<hlo::OutfeedAttributes>().config};
}

constexpr Row kDeviceRows[] = {
    {kAllReduce, "stablehlo.all_reduce", Reducing},
    {kAllGather, "stablehlo.all_gather", AllGather},
    {kReduceScatter, "stablehlo.reduce_scatter", ReduceScatter},
    {kCollectivePermute, "stablehlo.collective_permute", Permute},
    {kCollectiveBroadcast, "stablehlo.collective_broadcast", AddGroups},
    {kPartitionId, "stablehlo.partition_id"},
    {kReplicaId, "stablehlo.replica_id"},
    {kOptBarrier, "stablehlo.optimization_barrier"},
    {kAfterAll, "stablehlo.after_all"},
    {kRngBitGenerator, "stablehlo.rng_bit_generator", RandomBits},
    {kInfeed, "stablehlo.infeed", Infeed},
    {kOutfeed, "stablehlo.outfeed", Outfeed},
};

}  // namespace

void AddGroups(hlo::Instruction collective, AttributeMap& attributes) {
  const auto& stated = collective.attributes<hlo::CollectiveAttributes>();
  attributes["replica_groups"] = Rows(hlo::ListGroups(stated.groups));
  Channel(stated.channel_id, attributes);
}

absl::Span<const Row> DeviceRows() { return kDeviceRows; }

}  // namespace hlod::stablehlo::write

// A call's configuration is "0,1,2,3 {devices=[2,2]<=[4]}".
#include "client/tensor/mesh/sharding_call.h"

#include <atomic>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/hlo/text/sharding.h"

namespace hlod::lazy {
namespace {

constexpr char kTarget[] = "Sharding";

std::atomic<bool> appended = false;

}  // namespace

Op AppendShardingCall(Lowering& l, Op x, const ShardingCall& call) {
  if (l.graph.kind == Trace::Kind::kHost) return x;
  appended.store(true, std::memory_order_relaxed);
  hlo::CustomCallAttributes attributes{.target = kTarget, .api_version = 1};
  attributes.backend_config = absl::StrCat(absl::StrJoin(call.devices, ","), " ", call.sharding);
  const Shape shape = l.shape(x);
  return l.b.Add(hlo::kCustomCall, {&x, 1}, attributes, {}, &shape);
}

bool IsShardingTarget(std::string_view target) { return target == kTarget; }

bool IsShardingCall(const hlo::Instruction& instruction) {
  if (instruction.opcode() != hlo::kCustomCall || instruction.operand_count() != 1) return false;
  const auto& attributes = instruction.attributes<hlo::CustomCallAttributes>();
  return attributes.target == kTarget && !attributes.backend_config.empty();
}

ShardingCall ReadShardingCall(const hlo::Instruction& instruction) {
  const std::string& config = instruction.attributes<hlo::CustomCallAttributes>().backend_config;
  const std::vector<std::string> sides = absl::StrSplit(config, absl::MaxSplits(' ', 1));
  ShardingCall call{.sharding = sides.size() > 1 ? sides[1] : ""};
  for (const absl::string_view number : absl::StrSplit(sides[0], ',')) {
    int device = 0;
    if (absl::SimpleAtoi(number, &device)) call.devices.push_back(device);
  }
  return call;
}

hlo::CustomCallAttributes WithExamples(hlo::CustomCallAttributes attributes) {
  static constexpr std::string_view kTiles = "devices=[";
  const size_t tiles = attributes.backend_config.find(kTiles);
  if (tiles != std::string::npos) attributes.backend_config.insert(tiles + kTiles.size(), "1,");
  return attributes;
}

bool MayHaveShardingCalls() { return appended.load(std::memory_order_relaxed); }

std::string StatedSharding(const std::string& text, size_t rank, size_t devices) {
  const absl::StatusOr<std::string> parsed = hlo::ParseSharding(text, rank);
  if ((parsed.ok() && !parsed->empty()) || rank == 0) return parsed.value_or("");
  std::vector<size_t> tiles(rank, 1);
  tiles.push_back(devices);
  const std::string whole =
      absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[", devices, "] last_tile_dim_replicate}");
  return hlo::ParseSharding(whole, rank).value_or("");
}

}  // namespace hlod::lazy

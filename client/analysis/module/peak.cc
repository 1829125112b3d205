// Plans each computation once, from the callees up, then lays the arrays of a whole run out in memory.
#include "client/analysis/module/peak.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/types/span.h"
#include "client/analysis/module/memory/alignment.h"
#include "client/analysis/module/memory/packing.h"
#include "client/analysis/module/memory/spans.h"
#include "common/base/errors/status.h"
#include "common/hlo/analysis/aliases.h"
#include "common/hlo/flat_signature.h"

namespace hlod::analysis {
namespace {

using hlo::NodeId;

void KeepLargest(std::vector<Contributor>& arrays, size_t count) {
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const Contributor& a, const Contributor& b) { return a.bytes > b.bytes; });
  if (arrays.size() > count) arrays.resize(count);
}

Contributor Describe(const SourceLines& lines, const hlo::Computation& computation, NodeId node,
                     const hlo::Shape& shape) {
  Contributor contributor{.name = computation[node].name(), .shape = shape};
  if (const hlo::Notes* const notes = computation.notes(node); notes != nullptr) {
    contributor.op_name = notes->metadata.op_name;
    contributor.source = lines.Of(*notes);
  }
  return contributor;
}

Contributor Describe(const SourceLines& lines, const Span& span) {
  if (span.lives == nullptr) return {.name = "the computations that it runs", .bytes = span.bytes};
  const Placement& placement = span.lives->placement();
  const Buffer& buffer = placement.buffers()[span.buffer];
  Contributor array = Describe(lines, placement.computation(), buffer.made, *buffer.shape);
  array.bytes = span.bytes;
  const std::vector<NodeId>& order = span.lives->schedule().order;
  const uint32_t last_use = span.lives->all()[span.buffer].last_use;
  if (last_use < order.size()) array.last_use = placement.computation()[order[last_use]].name();
  return array;
}

// The lives of the buffers of all computations that the entry runs, callees planned before their callers.
class Plan {
 public:
  explicit Plan(const Placements& placements)
      : placements_(placements), lives_(placements.module().entry_id() + 1), needs_(lives_.size(), 0) {
    const hlo::Module& module = placements.module();
    std::vector<bool> carries(lives_.size(), false);  // True for bodies of loops.
    for (const hlo::ComputationId id : placements.callees_first()) {
      const hlo::Computation& computation = module.computation(id);
      for (NodeId node = 0; node < computation.size(); ++node) {
        if (computation[node].opcode() == hlo::kWhile) carries[computation[node].called()[0]] = true;
      }
    }
    for (const hlo::ComputationId id : placements.callees_first()) Choose(id, carries[id]);
  }

  const Lives& entry() const { return *lives_.back(); }
  Timeline Times() const {
    std::vector<const Lives*> lives;
    for (const std::unique_ptr<Lives>& of : lives_) lives.push_back(of.get());
    return TimelineOf(lives, needs_);
  }

 private:
  // Plans a computation in the order that takes least, of those that the compiler tries.
  void Choose(hlo::ComputationId id, bool carries) {
    static constexpr Order kCpu[] = {Order::kBreadthFirst},
                           kOthers[] = {Order::kProgram, Order::kDepthFirst, Order::kGreedy};
    const bool cpu = placements_.options().compiler == Compiler::kXlaCpu;
    const ScheduleGraph graph(placements_.of(id));
    for (const Order order : cpu ? absl::Span<const Order>(kCpu) : absl::Span<const Order>(kOthers)) {
      auto lives = std::make_unique<Lives>(placements_.of(id), graph.In(order), carries);
      const int64_t most = lives->Most(needs_);
      if (lives_[id] != nullptr && most >= needs_[id]) continue;
      lives_[id] = std::move(lives);
      needs_[id] = most;
    }
  }

  const Placements& placements_;
  std::vector<std::unique_ptr<Lives>> lives_;  // By computation.
  std::vector<int64_t> needs_;                 // By computation, the most bytes alive at once.
};

// Returns the memory of the results in which temporaries may lie. A donated argument whose memory a result
// takes is there until its last use, and results that are arguments or constants have no room.
std::vector<Room> RoomsOf(const Placements& placements, const Lives& entry, const Timeline& timeline) {
  const hlo::Module& module = placements.module();
  const hlo::FlatSignature signature(module.entry());
  const std::vector<int> aliases = hlo::ResolveAliases(module, signature);
  const std::vector<hlo::ShapeLeaf> leaves = hlo::Leaves(module.entry().root().shape());
  const auto last_use = [&](int argument) {
    const hlo::FlatSignature::Leaf& leaf = signature.arguments[static_cast<size_t>(argument)];
    const NodeId parameter = module.entry().parameters()[static_cast<size_t>(leaf.parameter)];
    const Sources& sources = entry.placement().value(parameter)[static_cast<size_t>(leaf.number)];
    const uint32_t last = entry.all()[static_cast<size_t>(sources[0].buffer)].last_use;
    return last < timeline.entry.size() ? timeline.entry[last].last : INT64_MAX;
  };
  std::vector<Room> rooms;
  for (size_t leaf = 0; leaf < timeline.results.size(); ++leaf) {
    if (timeline.results[leaf].empty()) continue;
    Room room{AlignedBytes(placements.options().BytesOf(*leaves[leaf].shape)), timeline.results[leaf]};
    if (leaf < aliases.size() && aliases[leaf] >= 0) room.busy.push_back({0, last_use(aliases[leaf])});
    rooms.push_back(std::move(room));
  }
  return rooms;
}

// Adds the arguments and the results of the entry.
void AddSignature(const Placements& placements, const SourceLines& lines, size_t contributors_max,
                  Peak& peak) {
  const hlo::Module& module = placements.module();
  const hlo::Computation& entry = module.entry();
  const PlacementOptions& options = placements.options();
  const Placement& placement = placements.of(module.entry_id());
  const auto add = [&](Contributor::Kind kind, NodeId node) {
    int64_t bytes = TableBytes(entry[node].shape());
    const Value& value = placement.value(node);
    size_t at = 0;
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(entry[node].shape())) {
      // A result is named after the instruction that makes it instead of the tuple that contains it.
      const Sources& sources = value[at++];
      const NodeId made =
          sources.empty() ? node : placement.buffers()[static_cast<size_t>(sources[0].buffer)].made;
      Contributor array = Describe(lines, entry, made, *leaf.shape);
      array.kind = kind;
      array.bytes = options.BytesOf(*leaf.shape);
      bytes += array.bytes;
      peak.largest.push_back(std::move(array));
    }
    return bytes;
  };
  for (const NodeId parameter : entry.parameters())
    peak.arguments += add(Contributor::Kind::kArgument, parameter);
  peak.results = add(Contributor::Kind::kResult, entry.root_id());
  for (const hlo::InputOutputAlias& alias : module.config.input_output_alias) {
    const hlo::Shape* const shape = hlo::SubShape(entry.root().shape(), alias.output_index);
    if (shape != nullptr) peak.aliased += options.BytesOf(*shape);
  }
  KeepLargest(peak.largest, contributors_max);
}

}  // namespace

std::string_view Name(Contributor::Kind kind) {
  static constexpr std::string_view kNames[] = {"argument", "result", "temporary"};
  return kNames[static_cast<size_t>(kind)];
}

Peak PeakOf(const Placements& placements, size_t contributors_max) {
  const SourceLines lines(placements.module());
  const Plan plan(placements);
  const Timeline timeline = plan.Times();
  const std::vector<Span> heap = LeftOver(timeline.temporaries, RoomsOf(placements, plan.entry(), timeline));
  const Alive most = MostAlive(heap);
  Peak peak{.temporaries = HeapBytes(heap)};
  for (size_t at = 0; at < timeline.entry.size() && timeline.entry[at].first <= most.tick; ++at)
    peak.at = placements.module().entry()[plan.entry().schedule().order[at]].name();
  for (const Span& span : heap) {
    if (span.ticks.first <= most.tick && most.tick <= span.ticks.last)
      peak.largest.push_back(Describe(lines, span));
  }
  AddSignature(placements, lines, contributors_max, peak);
  return peak;
}

absl::StatusOr<Peak> PeakOf(const hlo::Module& module, const PlacementOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> canonical, Canonical(module, options.compiler));
  return PeakOf(Placements(*canonical, options));
}

}  // namespace hlod::analysis

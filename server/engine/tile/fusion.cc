// Partitions a computation into fused groups.
//
// Each instruction gets a level: one more than that of any value that it must wait for, where an instruction
// waits for its operands unless it can run in the same pass over memory. Instructions with the same level and
// element count that read one another form a group. Every edge that leaves a group raises the level, so no
// path from a group leads back into it: groups never depend on themselves, and the algorithm is linear in the
// number of edges.
#include "server/engine/tile/fusion.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/hlo/analysis/effects.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/program.h"
#include "server/engine/tile/reduce_pattern.h"
#include "server/engine/tile/reducer.h"
#include "server/engine/tile/row_chains.h"

namespace hlod::engine {
namespace {

using hlo::NodeId;

// The number of instructions above which a pass's registers no longer fit into the cache.
constexpr int kNodesMax = 96;
// The length of a chain of views up to which it is looked through to learn whether a reshape is a view.
constexpr int kViewsMax = 64;

// Returns true when the instruction can be in a group at all.
bool IsFusable(hlo::Instruction instruction) {
  return instruction.shape().IsArray() && !instruction.shape().HasDynamicDimension() &&
         Elements(instruction.shape()) > 0 && AllStatic(instruction) && IsTileInstruction(instruction);
}

// Returns for each node the index of its group, or -1.
std::vector<int32_t> GroupOfEach(const hlo::Computation& computation,
                                 const std::vector<FusionGroup>& groups) {
  std::vector<int32_t> group_of(computation.size(), -1);
  for (size_t g = 0; g < groups.size(); ++g) {
    for (NodeId id : groups[g].nodes) group_of[id] = static_cast<int32_t>(g);
  }
  return group_of;
}

// Iterates backwards from the root and the side effects over groups and single instructions. Calls read(id)
// for each value read by one of them, or from outside.
template <typename Read>
void WalkNeeded(const hlo::Computation& computation, const std::vector<bool>& live,
                const std::vector<bool>& effects, const std::vector<FusionGroup>& groups,
                const std::vector<int32_t>& group_of, const StepReads& reads, Read read) {
  std::vector<bool> seen(computation.size() + groups.size(), false);
  std::vector<NodeId> work;
  const auto need = [&](NodeId id) {
    read(id);
    const size_t unit = group_of[id] < 0 ? id : computation.size() + group_of[id];
    if (seen[unit]) return;
    seen[unit] = true;
    work.push_back(id);
  };
  need(computation.root_id());
  for (NodeId id = 0; id < computation.size(); ++id) {
    const hlo::Instruction instruction = computation[id];
    if (live[id] && hlo::HasSideEffect(instruction, effects)) need(id);
  }
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (group_of[id] >= 0) {
      for (NodeId input : groups[group_of[id]].inputs) need(input);
    } else {
      const hlo::Instruction instruction = computation[id];
      for (size_t k = 0; k < instruction.operand_count(); ++k) {
        if (const NodeId value = reads.Of(instruction, k); value != hlo::Computation::kNoNode) need(value);
      }
    }
  }
}

// Returns the inputs of a group: the bases of views, without values that are computed inside and scalar
// constants.
template <typename IsInside>
std::vector<NodeId> InputsOf(const hlo::Computation& computation, const std::vector<NodeId>& nodes,
                             IsInside is_inside) {
  std::vector<NodeId> inputs;
  absl::flat_hash_set<NodeId> seen;
  for (NodeId id : nodes) {
    const hlo::Instruction instruction = computation[id];
    const bool reduces = instruction.opcode() == hlo::kReduce;
    const int64_t count = Elements(reduces ? instruction.operand(0).shape() : instruction.shape());
    for (NodeId operand : instruction.operands()) {
      const View view = ResolveView(computation, operand, count);
      if (view.is_iota || is_inside(view.base)) continue;
      const hlo::Instruction base = computation[view.base];
      if (base.opcode() == hlo::kConstant && base.literal().element_count() == 1) continue;
      if (seen.insert(view.base).second) inputs.push_back(view.base);
    }
  }
  return inputs;
}

// Adds a group for each reduce of rows whose operand is computed elsewhere, so that it can begin a chain:
// then a softmax reads its argument once. Returns the nodes of these groups, which come before the others.
absl::flat_hash_set<NodeId> AddLoneReduces(const hlo::Module& module, const hlo::Computation& computation,
                                           const std::vector<bool>& live, std::vector<FusionGroup>& groups) {
  absl::flat_hash_set<NodeId> lone;
  std::vector<FusionGroup> added;
  const std::vector<int32_t> group_of = GroupOfEach(computation, groups);
  for (NodeId id = 0; id < computation.size(); ++id) {
    if (!live[id] || group_of[id] >= 0 || computation[id].opcode() != hlo::kReduce) continue;
    const std::optional<ReducePattern> pattern = MatchReduce(module, computation[id]);
    if (!pattern.has_value() || !MayChain(*pattern)) continue;
    // Other views would be copied first.
    if (!ResolveView(computation, computation[id].operands()[0], pattern->count()).IsIdentity()) continue;
    FusionGroup& group = added.emplace_back();
    group.nodes = group.outputs = {id};
    group.inputs = InputsOf(computation, group.nodes, [](NodeId) { return false; });
    lone.insert(id);
  }
  groups.insert(groups.begin(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  return lone;
}

class Partition {
 public:
  Partition(const hlo::Module& module, const hlo::Computation& computation, const std::vector<bool>& live,
            const std::vector<bool>& effects, const StepReads& reads)
      : module_(module),
        computation_(computation),
        live_(live),
        effects_(effects),
        reads_(reads),
        level_(computation.size(), 0),
        views_(computation.size(), 0),
        fused_(computation.size(), false),
        group_(computation.size()),
        patterns_(computation.size()),
        sizes_(computation.size(), 1) {
    std::iota(group_.begin(), group_.end(), NodeId{0});
  }

  std::vector<FusionGroup> Run() {
    for (NodeId id = 0; id < computation_.size(); ++id) {
      if (live_[id]) Place(id);
    }
    return Collect();
  }

 private:
  NodeId Find(NodeId id) {
    while (group_[id] != id) id = group_[id] = group_[group_[id]];
    return id;
  }

  // The value that an operand reads through views; `alongside` is true when it is computed element by element
  // together with a domain of `count`.
  struct Source {
    NodeId base;
    bool alongside;
  };
  Source SourceOf(NodeId operand, int64_t count) {
    const View view = ResolveView(computation_, operand, count);
    return {view.base, fused_[view.base] && !IsReduce(view.base) && view.IsIdentity() &&
                           view.count == count && Elements(computation_[view.base].shape()) == count};
  }
  bool IsReduce(NodeId id) const { return computation_[id].opcode() == hlo::kReduce; }

  // Returns true for a view that those that read it look through. A reshape whose operand's strides it cannot
  // express is computed by a step, which may read a group through other views; so may others behind a long
  // chain.
  bool IsReadThrough(hlo::Instruction instruction) {
    if (!IsViewOpcode(instruction.opcode())) return false;
    const NodeId id = instruction.id();
    views_[id] = views_[instruction.operands()[0]] + 1;
    if (instruction.opcode() != hlo::kReshape) return true;
    return views_[id] <= kViewsMax && ResolveView(computation_, id, 1).base != id;
  }

  // Returns the pattern of a reduce whose operand is computed in the same pass. Other reduces have their own
  // step.
  std::optional<ReducePattern> FusableReduce(hlo::Instruction instruction) {
    const std::optional<ReducePattern> pattern = MatchReduce(module_, instruction);
    if (!pattern || !SourceOf(instruction.operands()[0], pattern->count()).alongside) return std::nullopt;
    return pattern;
  }

  void Place(NodeId id) {
    const hlo::Instruction instruction = computation_[id];
    const std::optional<ReducePattern> reduce = FusableReduce(instruction);
    if (!reduce.has_value() && !IsFusable(instruction)) {
      int level = 0;
      for (NodeId operand : instruction.operands()) level = std::max(level, level_[operand]);
      // A view is ready when its base is; any other instruction becomes a separate step.
      level_[id] = instruction.operand_count() == 0 || IsReadThrough(instruction) ? level : level + 1;
      return;
    }
    const int64_t count = reduce.has_value() ? reduce->count() : Elements(instruction.shape());
    int level = 0;
    std::vector<NodeId> alongside;
    for (NodeId operand : instruction.operands()) {
      const Source source = SourceOf(operand, count);
      const bool joins = source.alongside && (!reduce.has_value() || operand == instruction.operands()[0]);
      level = std::max(level, level_[source.base] + (fused_[source.base] && !joins ? 1 : 0));
      if (joins) alongside.push_back(source.base);
    }
    fused_[id] = true;
    patterns_[id] = reduce;
    int size = 1;
    std::optional<ReducePattern> pattern = reduce;
    bool fits = true;
    absl::flat_hash_set<NodeId> roots;
    for (NodeId other : alongside) {
      if (level_[other] != level || !roots.insert(Find(other)).second) continue;
      const NodeId root = Find(other);
      size += sizes_[root];
      if (patterns_[root].has_value()) {
        if (pattern.has_value() && !(*pattern == *patterns_[root])) fits = false;
        pattern = patterns_[root];
      }
    }
    if (size > kNodesMax || !fits) {
      level_[id] = level + 1;
      return;
    }
    level_[id] = level;
    for (NodeId root : roots) {
      group_[root] = id;
    }
    sizes_[id] = size;
    patterns_[id] = pattern;
  }

  std::vector<FusionGroup> Collect() {
    absl::flat_hash_map<NodeId, size_t> index;
    std::vector<FusionGroup> groups;
    for (NodeId id = 0; id < computation_.size(); ++id) {
      if (!fused_[id]) continue;
      const auto [it, inserted] = index.try_emplace(Find(id), groups.size());
      if (inserted) groups.emplace_back();
      groups[it->second].nodes.push_back(id);
    }
    const std::vector<int32_t> group_of = GroupOfEach(computation_, groups);
    for (size_t g = 0; g < groups.size(); ++g) {
      groups[g].inputs = InputsOf(computation_, groups[g].nodes,
                                  [&](NodeId base) { return group_of[base] == static_cast<int32_t>(g); });
    }
    // The outputs are the values that are read by a unit outside.
    std::vector<bool> is_output(computation_.size(), false);
    WalkNeeded(computation_, live_, effects_, groups, group_of, reads_,
               [&](NodeId id) { is_output[id] = true; });
    for (FusionGroup& group : groups) {
      for (NodeId id : group.nodes) {
        if (is_output[id]) group.outputs.push_back(id);
      }
    }
    // Drops groups that were live only because of views that are not read any more.
    std::erase_if(groups, [](const FusionGroup& group) { return group.outputs.empty(); });
    return groups;
  }

  const hlo::Module& module_;
  const hlo::Computation& computation_;
  const std::vector<bool>& live_;
  const std::vector<bool>& effects_;
  const StepReads& reads_;
  std::vector<int> level_;
  std::vector<int> views_;  // The length of the chain of views that ends at the node.
  std::vector<bool> fused_;
  std::vector<NodeId> group_;                           // Union-find; the root of a set is its last node.
  std::vector<std::optional<ReducePattern>> patterns_;  // The value of a set is stored at its root.
  std::vector<int> sizes_;                              // The value of a set is stored at its root.
};

}  // namespace

StepReads::StepReads(const hlo::Module& module, const hlo::Computation& computation)
    : arg_reduces_(FindArgReduces(module, computation)) {}

NodeId StepReads::Of(hlo::Instruction instruction, size_t k) const {
  if (arg_reduces_.empty()) return instruction.operands()[k];
  if (k == kPlacesOperand && arg_reduces_[instruction.id()]) return hlo::Computation::kNoNode;
  return ReadsView(instruction, k) ? ReadOfOperand(instruction, k).base : instruction.operands()[k];
}

std::vector<FusionGroup> PlanFusion(const hlo::Module& module, const hlo::Computation& computation,
                                    const std::vector<bool>& live, const std::vector<bool>& effects,
                                    const StepReads& reads) {
  std::vector<FusionGroup> groups = Partition(module, computation, live, effects, reads).Run();
  const absl::flat_hash_set<NodeId> lone = AddLoneReduces(module, computation, live, groups);
  const bool chained = ChainRows(module, computation, groups);
  std::erase_if(groups, [&](const FusionGroup& group) {
    return group.phases.empty() && lone.contains(group.nodes.front());
  });
  if (!chained) return groups;
  // The outputs of a chain are the values that are read outside of all its groups.
  std::vector<bool> is_output(computation.size(), false);
  WalkNeeded(computation, live, effects, groups, GroupOfEach(computation, groups), reads,
             [&](NodeId id) { is_output[id] = true; });
  for (FusionGroup& group : groups) {
    for (NodeId id : group.nodes) {
      if (!group.phases.empty() && is_output[id]) group.outputs.push_back(id);
    }
  }
  return groups;
}

std::vector<bool> NeededNodes(const hlo::Computation& computation, const std::vector<bool>& live,
                              const std::vector<bool>& effects, const std::vector<FusionGroup>& groups,
                              const StepReads& reads) {
  const std::vector<int32_t> group_of = GroupOfEach(computation, groups);
  std::vector<bool> needed(computation.size(), false);
  WalkNeeded(computation, live, effects, groups, group_of, reads, [&](NodeId id) {
    needed[id] = true;
    if (group_of[id] < 0) return;
    for (NodeId node : groups[group_of[id]].nodes) needed[node] = true;
  });
  return needed;
}

}  // namespace hlod::engine

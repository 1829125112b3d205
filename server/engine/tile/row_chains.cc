// A chain begins with a group that reduces rows, and grows by groups that read a member's values: each of them must
// read values of the members only in the row that it computes, and no path may lead from a member through another
// unit back to a member. For example layer norm: the sum of each row; the mean; the sum of squares of the
// differences; the reciprocal root; the scaled differences.
#include "server/engine/tile/row_chains.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/program.h"
#include "server/engine/tile/reduce_pattern.h"

namespace hlod::engine {
namespace {

using hlo::NodeId;

// A longer row would not stay in the cache with what is computed of it.
constexpr int64_t kRowMax = 16384, kRowMin = 16;
// The units that a search for other paths visits. Beyond them, there may be one.
constexpr size_t kSearchMax = 64;

class Chains {
 public:
  Chains(const hlo::Module& module, const hlo::Computation& computation, std::vector<FusionGroup>& groups)
      : module_(module), computation_(computation), groups_(groups), group_of_(computation.size(), -1) {
    for (size_t g = 0; g < groups.size(); ++g) {
      for (NodeId id : groups[g].nodes) group_of_[id] = static_cast<int32_t>(g);
    }
  }

  bool Run() {
    patterns_.resize(groups_.size());
    bool any = false;
    for (size_t g = 0; g < groups_.size(); ++g) {
      patterns_[g] = PatternOf(groups_[g]);
      any = any || patterns_[g].has_value();
    }
    if (!any) return false;
    readers_.resize(groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (NodeId input : groups_[g].inputs) {
        if (group_of_[input] >= 0) readers_[static_cast<size_t>(group_of_[input])].push_back(g);
      }
    }
    taken_.assign(groups_.size(), false);
    bool joined = false;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (!taken_[g] && IsRows(patterns_[g])) joined = Grow(g) || joined;
    }
    if (joined) std::erase_if(groups_, [](const FusionGroup& group) { return group.nodes.empty(); });
    return joined;
  }

 private:
  std::optional<ReducePattern> PatternOf(const FusionGroup& group) const {
    for (NodeId id : group.nodes) {
      if (computation_[id].opcode() == hlo::kReduce) return MatchReduce(module_, computation_[id]);
    }
    return std::nullopt;
  }
  static bool IsRows(const std::optional<ReducePattern>& pattern) {
    return pattern.has_value() && MayChain(*pattern);
  }
  int64_t CountOf(size_t g) const {
    return patterns_[g].has_value() ? patterns_[g]->count() : Elements(computation_[groups_[g].nodes[0]].shape());
  }
  bool IsMember(NodeId id) const {
    return group_of_[id] >= 0 && members_.contains(static_cast<size_t>(group_of_[id]));
  }

  // Joins what can be joined to group g.
  bool Grow(size_t g) {
    rows_ = *patterns_[g];
    members_ = {g};
    // By the last node, which comes after everything that the group reads.
    std::set<std::pair<NodeId, size_t>> candidates;
    const auto add_readers = [&](size_t member) {
      for (size_t reader : readers_[member]) {
        if (!taken_[reader] && !members_.contains(reader)) candidates.emplace(groups_[reader].nodes.back(), reader);
      }
    };
    add_readers(g);
    while (!candidates.empty() && members_.size() < kPhasesMax) {
      const size_t next = candidates.begin()->second;
      candidates.erase(candidates.begin());
      if (!Fits(next)) continue;
      members_.insert(next);
      if (!IsConvex()) members_.erase(next);
      else add_readers(next);
    }
    if (members_.size() == 1) return false;
    Join(g);
    return true;
  }

  // Returns true when the group computes rows, or one element per row, and reads members' values row by row.
  bool Fits(size_t g) const {
    if (patterns_[g].has_value() && !(*patterns_[g] == rows_)) return false;
    const int64_t count = CountOf(g);
    if (count != rows_.count() && count != rows_.outer) return false;
    for (NodeId id : groups_[g].nodes) {
      const hlo::Instruction instruction = computation_[id];
      const bool reduces = instruction.opcode() == hlo::kReduce;
      for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
        const View view = ResolveView(computation_, instruction.operands()[i], reduces && i > 0 ? 1 : count);
        if (!view.is_iota && IsMember(view.base) && ((reduces && i > 0) || !IsOfRow(view, count))) return false;
      }
    }
    return true;
  }
  // Returns true if each element is read from the row that it is in.
  bool IsOfRow(const View& view, int64_t count) const {
    const int64_t elements = Elements(computation_[view.base].shape());
    if (elements == count) return view.IsIdentity() && view.count == count;
    return count == rows_.count() && elements == rows_.outer && view.offset == 0 && view.dims.size() == 2 &&
           view.dims[0].size == rows_.outer && view.dims[0].stride == 1 && view.dims[1].size == rows_.reduced &&
           view.dims[1].stride == 0;
  }

  // Returns true when no path leads from a member through other units to a member.
  bool IsConvex() const {
    NodeId least = computation_.size();
    for (size_t member : members_) least = std::min(least, groups_[member].nodes.front());
    absl::flat_hash_set<NodeId> seen;  // By the first node of a group.
    std::vector<NodeId> work;
    const auto reach = [&](NodeId id) {
      const FusionGroup* const group =
          group_of_[id] < 0 ? nullptr : &groups_[static_cast<size_t>(group_of_[id])];
      // A value that is computed before all members cannot depend on them.
      if ((group == nullptr ? id : group->nodes.back()) < least) return;
      const NodeId unit = group == nullptr ? id : group->nodes.front();
      if (seen.insert(unit).second) work.push_back(id);
    };
    for (size_t member : members_) {
      for (NodeId input : groups_[member].inputs) {
        if (!IsMember(input)) reach(input);
      }
    }
    while (!work.empty()) {
      if (seen.size() > kSearchMax) return false;
      const NodeId id = work.back();
      work.pop_back();
      const auto visit = [&](absl::Span<const NodeId> operands) {
        for (NodeId operand : operands) {
          if (IsMember(operand)) return false;
          reach(operand);
        }
        return true;
      };
      const bool alone = group_of_[id] < 0;
      if (!(alone ? visit(computation_[id].operands())
                  : visit(groups_[static_cast<size_t>(group_of_[id])].inputs)))
        return false;
    }
    return true;
  }

  // Replaces the members by one group, in the place of group `at`, with the members in an order in which each comes
  // after those that it reads.
  void Join(size_t at) {
    FusionGroup chain;
    std::vector<size_t> left(members_.begin(), members_.end());
    std::set<size_t> done;
    while (!left.empty()) {
      const auto ready = std::find_if(left.begin(), left.end(), [&](size_t member) {
        return std::all_of(groups_[member].inputs.begin(), groups_[member].inputs.end(), [&](NodeId input) {
          return !IsMember(input) || done.contains(static_cast<size_t>(group_of_[input]));
        });
      });
      const size_t member = *ready;  // Groups do not depend on one another in circles.
      left.erase(ready);
      done.insert(member);
      taken_[member] = true;
      chain.nodes.insert(chain.nodes.end(), groups_[member].nodes.begin(), groups_[member].nodes.end());
      for (NodeId input : groups_[member].inputs) {
        if (!IsMember(input) && std::find(chain.inputs.begin(), chain.inputs.end(), input) == chain.inputs.end())
          chain.inputs.push_back(input);
      }
      chain.phases.push_back(groups_[member]);
    }
    std::sort(chain.nodes.begin(), chain.nodes.end());
    for (size_t member : members_) groups_[member].nodes.clear();
    for (NodeId id : chain.nodes) group_of_[id] = static_cast<int32_t>(at);
    // Groups that read a member now read the chain.
    readers_[at].clear();
    groups_[at] = std::move(chain);
  }

  const hlo::Module& module_;
  const hlo::Computation& computation_;
  std::vector<FusionGroup>& groups_;
  std::vector<int32_t> group_of_;
  std::vector<std::optional<ReducePattern>> patterns_;  // By group, of those that reduce.
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> taken_;  // By group, true if it is in a chain.
  ReducePattern rows_;
  std::set<size_t> members_;
};

}  // namespace

bool MayChain(const ReducePattern& rows) {
  return rows.inner == 1 && rows.outer > 1 && rows.reduced >= kRowMin && rows.reduced <= kRowMax &&
         ReductionChunks(rows) == 1;
}

bool ChainRows(const hlo::Module& module, const hlo::Computation& computation,
               std::vector<FusionGroup>& groups) {
  return Chains(module, computation, groups).Run();
}

}  // namespace hlod::engine

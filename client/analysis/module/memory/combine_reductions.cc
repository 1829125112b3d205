// Joins in rounds: each takes the first all-reduce that is left, and those after it that fit to it and do not
// depend on one that was taken. A joined one runs where the last of its operands is there, so that the
// instructions are put into another order.
#include "client/analysis/module/memory/combine_reductions.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/passes/copy.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

constexpr size_t kTogetherMax = 256;  // XLA's threshold.

bool IsCandidate(Instruction i) {
  return i.opcode() == hlo::kAllReduce && i.operand_count() == 1 && i.shape().IsArray();
}

// Numbers groups of devices, so that those which a program states in two forms are equal.
class GroupNumbers {
 public:
  size_t Of(const hlo::ReplicaGroups& groups) {
    const auto [known, is_new] = by_form_.try_emplace(groups, 0);
    if (is_new) known->second = by_list_.try_emplace(hlo::ListGroups(groups), by_list_.size()).first->second;
    return known->second;
  }

 private:
  absl::flat_hash_map<hlo::ReplicaGroups, size_t> by_form_;
  absl::flat_hash_map<std::vector<hlo::Dims>, size_t> by_list_;
};

// The groups of a computation's all-reduces, and an order in which they can run.
class Combination {
 public:
  explicit Combination(const hlo::Computation& computation)
      : computation_(computation), group_(computation.size()) {
    for (NodeId node = 0; node < computation.size(); ++node) group_[node] = node;
    std::vector<NodeId> left;
    for (NodeId node = 0; node < computation.size(); ++node) {
      if (IsCandidate(computation[node])) left.push_back(node);
    }
    while (left.size() > 1) left = Round(left);
  }

  // Returns the first of the all-reduces that `node` is joined with; itself when with none.
  NodeId group(NodeId node) const { return group_[node]; }
  std::vector<NodeId> Members(NodeId first) const {
    std::vector<NodeId> members;
    for (NodeId node = first; node < computation_.size(); ++node) {
      if (group_[node] == first) members.push_back(node);
    }
    return members;
  }
  bool any() const { return any_; }

  // Returns the instructions, the first in the text first, each after its operands and those of its group.
  std::vector<NodeId> Order() const {
    std::vector<uint32_t> waits(computation_.size(), 0);
    std::vector<std::vector<NodeId>> users(computation_.size());
    for (NodeId node = 0; node < computation_.size(); ++node) {
      for (const NodeId operand : computation_[node].operands()) {
        users[group_[operand]].push_back(group_[node]);
        ++waits[group_[node]];
      }
    }
    std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
    for (NodeId node = 0; node < computation_.size(); ++node) {
      if (group_[node] == node && waits[node] == 0) ready.push(node);
    }
    std::vector<NodeId> order;
    while (!ready.empty()) {
      const NodeId node = ready.top();
      ready.pop();
      order.push_back(node);
      for (const NodeId user : users[node]) {
        if (--waits[user] == 0) ready.push(user);
      }
    }
    return order;
  }

 private:
  std::vector<NodeId> Round(const std::vector<NodeId>& left) {
    std::vector<NodeId> taken = {left[0]}, rest;
    std::vector<bool> after = ReachedFrom(left[0]);
    for (size_t i = 1; i < left.size(); ++i) {
      const NodeId node = left[i];
      if (taken.size() == kTogetherMax || after[node] ||
          !FitTogether(computation_[left[0]], computation_[node])) {
        rest.push_back(node);
        continue;
      }
      taken.push_back(node);
      const std::vector<bool> more = ReachedFrom(node);
      for (size_t n = 0; n < after.size(); ++n) after[n] = after[n] || more[n];
    }
    for (const NodeId node : taken) group_[node] = left[0];
    any_ = any_ || taken.size() > 1;
    return rest;
  }

  bool FitTogether(Instruction a, Instruction b) {
    const auto &left = a.attributes<hlo::CollectiveAttributes>(),
               &right = b.attributes<hlo::CollectiveAttributes>();
    return a.shape().type == b.shape().type && a.called()[0] == b.called()[0] &&
           left.use_global_device_ids == right.use_global_device_ids &&
           (left.channel_id == 0) == (right.channel_id == 0) &&
           numbers_.Of(left.groups) == numbers_.Of(right.groups);
  }

  // Returns what depends on `node`, where a group depends on what any of it does.
  std::vector<bool> ReachedFrom(NodeId node) const {
    std::vector<bool> reached(computation_.size(), false);
    reached[node] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (NodeId user = 0; user < computation_.size(); ++user) {
        if (reached[user] || reached[group_[user]]) {
          changed = changed || !reached[user];
          reached[user] = true;
          continue;
        }
        for (const NodeId operand : computation_[user].operands()) {
          if (!reached[operand]) continue;
          changed = changed || group_[user] < user;  // Users of the group's first may come before.
          reached[user] = reached[group_[user]] = true;
          break;
        }
      }
    }
    return reached;
  }

  const hlo::Computation& computation_;
  GroupNumbers numbers_;
  std::vector<NodeId> group_;  // By instruction, the first of its group.
  bool any_ = false;
};

// Appends the joined all-reduce, and an element for each of its members.
void AppendJoined(passes::ComputationCopy& copy, const hlo::Computation& from,
                  const std::vector<NodeId>& members) {
  const Instruction first = from[members[0]];
  std::vector<NodeId> operands;
  std::vector<hlo::Shape> shapes;
  for (const NodeId member : members) {
    operands.push_back(copy.node(from[member].operands()[0]));
    shapes.push_back(from[member].shape());
  }
  const hlo::ComputationId called[] = {copy.computation(first.called()[0])};
  const NodeId joined = copy.to().Append(hlo::kAllReduce, copy.tables().Intern(hlo::Shape::Tuple(shapes)),
                                         first.attributes_id(), operands, called);
  copy.to().mutable_notes(joined).name = first.name();
  for (size_t i = 0; i < members.size(); ++i) {
    copy.set_node(members[i],
                  copy.Replace(from[members[i]], hlo::kGetTupleElement, from[members[i]].shape_id(),
                               hlo::TupleIndexAttributes{static_cast<int64_t>(i)}, {joined}));
  }
}

}  // namespace

std::unique_ptr<hlo::Module> WithCombinedReductions(const hlo::Module& module) {
  std::unique_ptr<hlo::Module> result = passes::EmptyCopy(module);
  std::vector<hlo::ComputationId> computations;
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& from = module.computation(c);
    passes::ComputationCopy copy(module, from, passes::AddEmptyCopy(*result, from), computations);
    const Combination combination(from);
    for (const NodeId node : combination.any() ? combination.Order() : std::vector<NodeId>()) {
      const std::vector<NodeId> members =
          IsCandidate(from[node]) ? combination.Members(node) : std::vector<NodeId>{node};
      if (members.size() > 1) AppendJoined(copy, from, members);
      else copy.set_node(node, copy.Clone(from[node]));
    }
    for (NodeId node = 0; node < from.size() && !combination.any(); ++node)
      copy.set_node(node, copy.Clone(from[node]));
    copy.to().set_root(copy.node(from.root_id()));
    computations.push_back(c);
  }
  result->set_entry(module.entry_id());
  return result;
}

}  // namespace hlod::analysis

// Four orders of one graph.
#include "client/analysis/module/memory/schedule.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <utility>

namespace hlod::analysis {
namespace {

using hlo::NodeId;

void InsertOnce(std::vector<NodeId>& nodes, NodeId node) {
  if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
}

}  // namespace

ScheduleGraph::ScheduleGraph(const Placement& placement) : placement_(placement) {
  const hlo::Computation& computation = placement.computation();
  present_.resize(computation.size());
  operands_.resize(computation.size());
  users_.resize(computation.size());
  const KernelGraph* const kernels = placement.kernels();
  for (NodeId node = 0; node < computation.size(); ++node) {
    present_[node] = !placement.fused_away(node);
    if (kernels != nullptr) {
      if (present_[node]) operands_[node] = kernels->reads(node);
      if (present_[node]) users_[node] = kernels->users(node);
      continue;
    }
    for (const NodeId operand : computation[node].operands()) {
      if (present_[operand]) InsertOnce(operands_[node], operand);
      else
        for (const NodeId inner : operands_[operand]) InsertOnce(operands_[node], inner);
    }
    if (!present_[node]) continue;
    for (const NodeId operand : operands_[node]) users_[operand].push_back(node);
  }
}

Schedule ScheduleGraph::In(Order order) const {
  Schedule schedule{.order = {}, .positions = std::vector<uint32_t>(present_.size(), 0)};
  switch (order) {
    case Order::kProgram:
      for (NodeId node = 0; node < present_.size(); ++node) {
        if (present_[node]) schedule.order.push_back(node);
      }
      break;
    case Order::kBreadthFirst: schedule.order = BreadthFirst(); break;
    case Order::kDepthFirst: schedule.order = DepthFirst(); break;
    case Order::kGreedy: schedule.order = Greedy(); break;
  }
  for (uint32_t at = 0; at < schedule.order.size(); ++at) schedule.positions[schedule.order[at]] = at;
  return schedule;
}

std::vector<NodeId> ScheduleGraph::BreadthFirst() const {
  std::vector<NodeId> order;
  std::vector<size_t> waits(present_.size());
  for (NodeId node = 0; node < present_.size(); ++node) {
    waits[node] = operands_[node].size();
    if (present_[node] && waits[node] == 0) order.push_back(node);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    for (const NodeId user : users_[order[at]]) {
      if (--waits[user] == 0) order.push_back(user);
    }
  }
  return order;
}

std::vector<NodeId> ScheduleGraph::DepthFirst() const {
  // Sums over the operands count what several users share several times, so they are capped.
  constexpr double kMost = 1e300;
  std::vector<double> later(present_.size(), 0), bytes(present_.size(), 0);
  for (NodeId node = 0; node < present_.size(); ++node) {
    if (!present_[node]) continue;
    later[node] = users_[node].empty() ? 0 : static_cast<double>(users_[node].size() - 1);
    bytes[node] = static_cast<double>(placement_.BytesMadeBy(node));
    for (const NodeId operand : operands_[node]) {
      later[node] = std::min(later[node] + later[operand], kMost);
      bytes[node] = std::min(bytes[node] + bytes[operand], kMost);
    }
  }
  std::vector<NodeId> order;
  std::vector<int8_t> state(present_.size(), 0);  // 1: its operands are on the stack; 2: it is in the order.
  std::vector<NodeId> stack;
  const auto visit = [&](NodeId root) {
    stack.push_back(root);
    while (!stack.empty()) {
      const NodeId node = stack.back();
      if (state[node] != 0) {
        if (state[node] == 1) order.push_back(node);
        state[node] = 2;
        stack.pop_back();
        continue;
      }
      state[node] = 1;
      std::vector<NodeId> next = operands_[node];
      std::stable_sort(next.begin(), next.end(), [&](NodeId a, NodeId b) {
        return std::pair(later[a], bytes[a]) < std::pair(later[b], bytes[b]);
      });
      for (const NodeId operand : next) {
        if (state[operand] == 0) stack.push_back(operand);
      }
    }
  };
  visit(placement_.computation().root_id());
  for (NodeId node = 0; node < present_.size(); ++node) {
    if (present_[node] && state[node] == 0) visit(node);
  }
  return order;
}

std::vector<NodeId> ScheduleGraph::Greedy() const {
  std::vector<NodeId> order;
  std::vector<size_t> waits(present_.size()), uses(present_.size());
  for (NodeId node = 0; node < present_.size(); ++node) {
    waits[node] = operands_[node].size();
    uses[node] = users_[node].size();
  }
  const auto gain = [&](NodeId node) {
    int64_t freed = -placement_.BytesMadeBy(node);
    for (const NodeId operand : operands_[node])
      freed += uses[operand] == 1 ? placement_.BytesMadeBy(operand) : 0;
    return freed;
  };
  // The largest gain first, and of equal ones the first of the text. An entry whose gain has changed since is
  // followed by another with the new gain.
  using Entry = std::pair<int64_t, int64_t>;
  std::priority_queue<Entry> ready;
  const auto push = [&](NodeId node) { ready.emplace(gain(node), -static_cast<int64_t>(node)); };
  for (NodeId node = 0; node < present_.size(); ++node) {
    if (present_[node] && waits[node] == 0) push(node);
  }
  std::vector<bool> done(present_.size(), false);
  while (!ready.empty()) {
    const auto node = static_cast<NodeId>(-ready.top().second);
    ready.pop();
    if (done[node]) continue;
    done[node] = true;
    order.push_back(node);
    for (const NodeId operand : operands_[node]) {
      if (--uses[operand] != 1) continue;
      for (const NodeId user : users_[operand]) {
        if (!done[user] && waits[user] == 0) push(user);
      }
    }
    for (const NodeId user : users_[node]) {
      if (--waits[user] == 0) push(user);
    }
  }
  return order;
}

}  // namespace hlod::analysis

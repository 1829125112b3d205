// Lists per instruction, kept equal on both sides of each edge.
#include "client/analysis/module/memory/kernel_graph.h"

#include <algorithm>

namespace hlod::analysis {

using hlo::NodeId;

KernelGraph::KernelGraph(const hlo::Computation& computation)
    : computation_(computation),
      reads_(computation.size()),
      users_(computation.size()),
      members_(computation.size()),
      inside_(computation.size(), false) {
  for (NodeId node = 0; node < computation.size(); ++node) {
    for (const NodeId operand : computation[node].operands()) {
      if (std::ranges::find(reads_[node], operand) != reads_[node].end()) continue;
      reads_[node].push_back(operand);
      users_[operand].push_back(node);
    }
  }
}

void KernelGraph::RemoveUser(NodeId node, NodeId kernel) {
  std::vector<NodeId>& users = users_[node];
  const auto removed = std::ranges::find(users, kernel);
  if (removed == users.end()) return;
  *removed = users.back();
  users.pop_back();
}

void KernelGraph::FuseOperand(NodeId kernel, NodeId producer) {
  members_[kernel].push_back(producer);
  members_[kernel].insert(members_[kernel].end(), members_[producer].begin(), members_[producer].end());
  std::erase(reads_[kernel], producer);
  for (const NodeId read : reads_[producer]) {
    if (std::ranges::find(reads_[kernel], read) != reads_[kernel].end()) continue;
    reads_[kernel].push_back(read);
    users_[read].push_back(kernel);
  }
  RemoveUser(producer, kernel);
  if (!users_[producer].empty()) return;
  inside_[producer] = true;
  for (const NodeId read : reads_[producer]) RemoveUser(read, producer);
}

void KernelGraph::FuseIntoUser(NodeId kernel, NodeId user) {
  std::erase(reads_[user], kernel);
  for (const NodeId read : reads_[kernel]) {
    if (std::ranges::find(reads_[user], read) == reads_[user].end()) {
      reads_[user].push_back(read);
      users_[read].push_back(user);
    }
    RemoveUser(read, kernel);
  }
  members_[user].push_back(kernel);
  members_[user].insert(members_[user].end(), members_[kernel].begin(), members_[kernel].end());
  users_[kernel].clear();
  inside_[kernel] = true;
}

}  // namespace hlod::analysis

// An entry begins where the origin changes, so that a line which appends many nodes costs one.
#include "client/tensor/trace/node_origins.h"

#include <algorithm>
#include <iterator>

namespace hlod::lazy {

void NodeOrigins::Set(uint32_t origin, hlo::NodeId next) {
  if (origin == now_) return;
  now_ = origin;
  if (!runs_.empty() && runs_.back().first == next) runs_.back().second = origin;
  else runs_.emplace_back(next, origin);
}

uint32_t NodeOrigins::At(hlo::NodeId node) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), node,
                                      [](hlo::NodeId id, const auto& run) { return id < run.first; });
  return after == runs_.begin() ? 0 : std::prev(after)->second;
}

void NodeOrigins::Clear() {
  runs_.clear();
  now_ = 0;
}

}  // namespace hlod::lazy

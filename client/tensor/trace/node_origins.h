// The lines of the program that the nodes of a trace come from.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::lazy {

// The origins (TraceTables::InternOrigin) of nodes that are appended one after another: one entry per run of
// nodes with the same origin.
class NodeOrigins {
 public:
  // Gives `origin` to the nodes from `next` on, the next one that will be appended.
  void Set(uint32_t origin, hlo::NodeId next);
  // Returns the origin of a node; 0, an unknown line, before the first call of Set().
  uint32_t At(hlo::NodeId node) const;
  // Returns the origin of the nodes appended from now on.
  uint32_t now() const { return now_; }
  void Clear();

 private:
  std::vector<std::pair<hlo::NodeId, uint32_t>> runs_;  // The first node and the origin, ordered by node.
  uint32_t now_ = 0;
};

}  // namespace hlod::lazy

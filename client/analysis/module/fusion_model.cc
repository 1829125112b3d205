// Fusion as XLA's instruction fusion does it: producers into consumers.
#include "client/analysis/module/fusion_model.h"

#include <algorithm>

#include "client/analysis/module/access.h"
#include "client/analysis/module/fusible.h"

namespace hlod::analysis {
namespace {

// Returns true when `user` reads operand `index` element by element in its own loop, so that the elements can
// be computed there.
bool TakesIn(hlo::Instruction user, uint32_t index) {
  switch (user.opcode()) {
    case hlo::kReduce:
    case hlo::kMap: return true;
    case hlo::kDynamicUpdateSlice:
    case hlo::kScatter:
      return AccessOf(user, index) != Access::kUpdated;  // An updated array must be in memory.
    case hlo::kGather: return index == 1;
    case hlo::kTuple:
    case hlo::kGetTupleElement: return false;
    default: return IsElementByElement(user.opcode());
  }
}

}  // namespace

std::vector<bool> FusedAway(const hlo::Computation& computation) {
  std::vector<bool> fused(computation.size(), false);
  std::vector<uint32_t> users(computation.size(), 0);
  std::vector<bool> wanted(computation.size(), false);  // True when a user cannot compute it inside.
  wanted[computation.root_id()] = true;
  for (hlo::NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction user = computation[node];
    for (uint32_t i = 0; i < user.operand_count(); ++i) {
      ++users[user.operands()[i]];
      if (!TakesIn(user, i)) wanted[user.operands()[i]] = true;
    }
  }
  for (hlo::NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction i = computation[node];
    if (!IsElementByElement(i.opcode()) || wanted[node] || users[node] == 0) continue;
    fused[node] = users[node] == 1 || !IsExpensive(i);
  }
  return fused;
}

}  // namespace hlod::analysis

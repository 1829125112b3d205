// Finds live instructions by one backward sweep, and the order by a depth-first walk with an explicit stack,
// because modules may be nested arbitrarily deep.
#include "server/engine/plan/lowering/lowering_order.h"

#include <utility>

#include "common/base/errors/status.h"
#include "common/hlo/analysis/effects.h"

namespace hlod::engine {

std::vector<bool> LiveInstructions(const hlo::Computation& computation, const std::vector<bool>& effects) {
  std::vector<bool> live(computation.size(), false);
  live[computation.root_id()] = true;
  for (hlo::NodeId id = computation.size(); id-- > 0;) {
    const hlo::Instruction instruction = computation[id];
    if (hlo::HasSideEffect(instruction, effects)) live[id] = true;
    if (!live[id]) continue;
    for (hlo::NodeId operand : instruction.operands()) live[operand] = true;
  }
  return live;
}

namespace {

class Orderer {
 public:
  Orderer(const hlo::Computation& computation, const std::vector<FusionGroup>& groups, const StepReads& reads)
      : computation_(computation),
        groups_(groups),
        reads_(reads),
        group_of_(computation.size(), -1),
        state_(computation.size() + groups.size(), kNew) {
    for (size_t g = 0; g < groups.size(); ++g) {
      for (hlo::NodeId node : groups[g].nodes) group_of_[node] = static_cast<int32_t>(g);
    }
  }

  absl::Status Visit(hlo::NodeId start) {
    stack_.push_back({UnitOf(start), 0});
    state_[Key(stack_.back().unit)] = kOpen;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == ReadCount(frame.unit)) {
        state_[Key(frame.unit)] = kDone;
        order_.push_back(frame.unit);
        stack_.pop_back();
        continue;
      }
      const hlo::NodeId value = ReadOf(frame.unit, frame.next++);
      if (value == hlo::Computation::kNoNode) continue;
      const Unit read = UnitOf(value);
      switch (state_[Key(read)]) {
        case kDone: break;
        case kOpen:
          return Internal("A fusion group around %s of computation %s depends on itself.",
                          computation_[read.node].name(), computation_.name());
        case kNew:
          state_[Key(read)] = kOpen;
          stack_.push_back({read, 0});
          break;
      }
    }
    return absl::OkStatus();
  }

  bool Done(hlo::NodeId node) const { return state_[Key(UnitOf(node))] == kDone; }
  bool IsLastOfUnit(hlo::NodeId node) const {
    return group_of_[node] < 0 || groups_[group_of_[node]].nodes.back() == node;
  }
  std::vector<Unit> Take() { return std::move(order_); }

 private:
  enum State : uint8_t { kNew, kOpen, kDone };
  struct Frame {
    Unit unit;
    size_t next;  // The number of the next value that the unit reads.
  };

  Unit UnitOf(hlo::NodeId node) const { return {group_of_[node], node}; }
  size_t Key(const Unit& unit) const { return unit.group < 0 ? unit.node : computation_.size() + unit.group; }
  size_t ReadCount(const Unit& unit) const {
    return unit.group >= 0 ? groups_[unit.group].inputs.size() : computation_[unit.node].operand_count();
  }
  // Returns kNoNode for an operand that is not read.
  hlo::NodeId ReadOf(const Unit& unit, size_t k) const {
    return unit.group >= 0 ? groups_[unit.group].inputs[k] : reads_.Of(computation_[unit.node], k);
  }

  const hlo::Computation& computation_;
  const std::vector<FusionGroup>& groups_;
  const StepReads& reads_;
  std::vector<int32_t> group_of_;
  std::vector<State> state_;
  std::vector<Frame> stack_;
  std::vector<Unit> order_;
};

}  // namespace

absl::StatusOr<std::vector<Unit>> OrderUnits(const hlo::Computation& computation,
                                             const std::vector<bool>& live,
                                             const std::vector<FusionGroup>& groups, const StepReads& reads) {
  Orderer orderer(computation, groups, reads);
  for (hlo::NodeId id = 0; id < computation.size(); ++id) {
    if (!live[id] || !orderer.IsLastOfUnit(id) || orderer.Done(id)) continue;
    RETURN_IF_ERROR(orderer.Visit(id));
  }
  return orderer.Take();
}

}  // namespace hlod::engine

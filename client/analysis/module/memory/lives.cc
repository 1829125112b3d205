// Uses determine ends; then users take over what ends with them.
#include "client/analysis/module/memory/lives.h"

#include <algorithm>
#include <utility>

#include "client/analysis/module/access.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// Returns true if leaf `leaf` of the result may take the memory of operand `index`, if that is not needed any
// more.
bool MayShare(Instruction i, uint32_t index, size_t leaf) {
  if (i.opcode() == hlo::kSort) return index == leaf;
  return AccessOf(i, index) == Access::kUpdated || hlo::HasTrait(i.opcode(), hlo::kElementwise);
}

}  // namespace

bool RunsOthers(hlo::Opcode opcode) {
  return opcode == hlo::kWhile || opcode == hlo::kConditional || opcode == hlo::kCall;
}

Lives::Lives(const Placement& placement, Schedule schedule, bool carries)
    : placement_(placement), computation_(placement.computation()), schedule_(std::move(schedule)) {
  for (const Buffer& buffer : placement.buffers()) {
    const uint32_t made = schedule_.positions[buffer.made];
    lives_.push_back({.made = made, .last_use = made, .bytes = buffer.bytes});
  }
  for (const NodeId node : schedule_.order) Use(computation_[node]);
  KeepResults(carries);
  // Visits users first, because an array that is updated in place until it is a result lies in the caller's
  // memory from the start.
  for (size_t at = schedule_.order.size(); at-- > 0;) ShareInPlace(computation_[schedule_.order[at]]);
}

// Keeps what `i` reads alive until then.
void Lives::Use(Instruction i) {
  if (!placement_.runs(i.id())) return;
  for (const Source& source : placement_.ReadBy(i))
    At(source.buffer).last_use = std::max(At(source.buffer).last_use, schedule_.positions[i.id()]);
}

// Keeps the results alive to the end. They are in the caller's memory; those of a loop's body are in the
// memory of the old state, unless that is still read when the new state is made.
void Lives::KeepResults(bool carries) {
  Value parameters;
  for (const NodeId parameter : computation_.parameters())
    parameters.insert(parameters.end(), placement_.value(parameter).begin(),
                      placement_.value(parameter).end());
  const Value& results = placement_.value(computation_.root_id());
  for (size_t leaf = 0; leaf < results.size(); ++leaf) {
    for (const Source& source : results[leaf]) {
      Life& life = At(source.buffer);
      if (life.result < 0) life.result = static_cast<int32_t>(leaf);
      life.caller =
          !carries || leaf >= parameters.size() || At(parameters[leaf][0].buffer).last_use <= life.made;
      life.last_use = static_cast<uint32_t>(schedule_.order.size());
    }
  }
}

void Lives::ShareInPlace(Instruction i) {
  if (!placement_.runs(i.id())) return;
  const Value& value = placement_.value(i.id());
  for (size_t leaf = 0; leaf < value.size(); ++leaf) {
    const BufferId result = value[leaf][0].buffer;
    if (placement_.buffers()[static_cast<size_t>(result)].made != i.id())
      continue;                       // The leaf is only read by the loop.
    if (i.opcode() == hlo::kWhile) {  // A loop's state takes the memory of its initial value.
      TakeOver(result, placement_.value(i.operands()[0])[leaf], /*must=*/true);
      continue;
    }
    if (const KernelGraph* kernels = placement_.kernels(); kernels && !kernels->members(i.id()).empty()) {
      ShareInKernel(i, result);
      continue;
    }
    for (uint32_t index = 0; index < i.operand_count() && !At(result).in_place; ++index) {
      if (!MayShare(i, index, leaf)) continue;
      for (const Sources& sources : placement_.value(i.operands()[index]))
        TakeOver(result, sources, AccessOf(i, index) == Access::kUpdated);
    }
  }
}

// Gives the result of a kernel of several instructions the memory of what it reads element by element, or
// updates.
void Lives::ShareInKernel(Instruction i, BufferId result) {
  const bool updates = i.operand_count() > 0 && AccessOf(i, 0) == Access::kUpdated;
  if (updates) TakeOver(result, placement_.value(i.operands()[0])[0], /*must=*/true);
  for (const Source& source : placement_.ReadBy(i)) {
    if (At(result).in_place) return;
    TakeOver(result, {source}, /*must=*/false);
  }
}

// Gives a result the memory of one of the operand's buffers, whose last reader makes the result. With `must`,
// both are one buffer for the operand's life, too: an operand that is updated until it becomes a result is in
// the caller's memory.
void Lives::TakeOver(BufferId result, const Sources& operand, bool must) {
  Life& made = At(result);
  for (const Source& source : operand) {
    Life& old = At(source.buffer);
    if (old.taken || !source.aligned || old.caller || old.last_use != made.made || old.bytes == 0 ||
        old.bytes != made.bytes)
      continue;
    old.taken = true;
    made.in_place = true;
    if (must && made.caller) {
      old.caller = true;
      old.result = made.result;
    }
    return;
  }
}

int64_t Lives::Most(const std::vector<int64_t>& inner) const {
  const size_t size = schedule_.order.size();
  // change[n] is the bytes allocated at n minus the bytes freed there. The running sum is the bytes alive.
  std::vector<int64_t> change(size + 2, 0);
  for (const Life& life : lives_) {
    if (life.caller) continue;
    const size_t first = life.made + (life.in_place ? 1 : 0),
                 last = std::max<size_t>(std::min<size_t>(life.last_use, size), first);
    change[first] += life.bytes;
    change[last + 1] -= life.bytes;
  }
  int64_t most = 0, alive = 0;
  for (size_t at = 0; at <= size; ++at) {
    alive += change[at];
    int64_t bytes = 0;
    if (at < size && RunsOthers(computation_[schedule_.order[at]].opcode())) {
      for (const hlo::ComputationId called : computation_[schedule_.order[at]].called())
        bytes = std::max(bytes, inner[called]);
    }
    most = std::max(most, alive + bytes);
  }
  return most;
}

}  // namespace hlod::analysis

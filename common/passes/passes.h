// Passes: free functions from a module to a new module that computes the same, bit for bit as far as the
// program defines it.
//
// Passes do not reassociate or approximate, and take time linear in their input and output. Parameters, their
// numbers, aliases, donors and side effects are kept. The new module shares the Tables of the old one and
// adds to them, so both belong to one thread. The given module must have passed Verify; the result would pass
// it too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::passes {

// Lets long passes be stopped: a pass over a large module asks it periodically. A pass that was stopped
// returns null.
class PassWatch {
 public:
  // `verdict` returns OK to continue, or the reason to stop. It is called once per few thousand instructions.
  explicit PassWatch(std::function<absl::Status()> verdict) : verdict_(std::move(verdict)) {}
  // Counts an instruction. Returns true when the pass must stop, and from then on always.
  bool Stops() {
    if (--left_ > 0) return !status_.ok();
    left_ = kInstructionsBetweenLooks;
    if (status_.ok()) status_ = verdict_();
    return !status_.ok();
  }
  // The reason why it was stopped.
  const absl::Status& status() const { return status_; }

 private:
  static constexpr int64_t kInstructionsBetweenLooks = 4096;
  const std::function<absl::Status()> verdict_;
  absl::Status status_;
  int64_t left_ = 1;
};

// Removes layouts from every instruction, because buffers are row-major; the layouts that the entry's callers
// requested stay in entry_layout. A bitcast between other layouts becomes transposes and reshapes.
// UNIMPLEMENTED, with the bitcast, if these are not known; null if it was stopped.
absl::StatusOr<std::unique_ptr<hlo::Module>> DropLayouts(const hlo::Module& module,
                                                         PassWatch* watch = nullptr);

// Replaces scans by loops.
bool HasScans(const hlo::Module& module);
std::unique_ptr<hlo::Module> ExpandScans(const hlo::Module& module);
// Rewrites scans along a dimension other than 0 as scans along dimension 0 of transposed arrays, the only
// form that transforms support.
bool HasOtherScans(const hlo::Module& module);
std::unique_ptr<hlo::Module> ScansAlongDimension0(const hlo::Module& module);

// Replaces calls, composites and fusions by the instructions of their callees, as long as the module stays
// below InlinedInstructionsMax.
std::unique_ptr<hlo::Module> InlineCalls(const hlo::Module& module, PassWatch* watch = nullptr);

// Returns the number of instructions that a module of `instructions` may have once calls are inlined at each
// of their callers. Calls of calls double quickly, and a compilation takes about a kilobyte per instruction,
// so its time and memory must follow from the size of the program that was sent.
inline constexpr int64_t kInlinedInstructionsMax = 4'000'000;
constexpr int64_t InlinedInstructionsMax(int64_t instructions) {
  return instructions >= kInlinedInstructionsMax / 8
             ? kInlinedInstructionsMax
             : std::min(kInlinedInstructionsMax, 500'000 + 8 * instructions);
}

// Simplifies: an instruction that only passes on a value becomes that value (reshape to the same shape,
// convert to the same type, x*1, ...), chains of reshapes, transposes and broadcasts become one of them, and
// transposes beside a dot become the dot's dimension numbers.
std::unique_ptr<hlo::Module> Simplify(const hlo::Module& module, PassWatch* watch = nullptr);

// Replaces instructions on constants by constants of at most kFoldedBytesMax, which the evaluator computes. A
// result whose elements are all equal becomes a broadcast scalar. Stops after kFoldedBytesTotal of results,
// or of operands if these are larger.
std::unique_ptr<hlo::Module> FoldConstants(const hlo::Module& module, PassWatch* watch = nullptr);
inline constexpr int64_t kFoldedBytesMax = 64 << 10;
inline constexpr int64_t kFoldedBytesTotal = 16 << 20;

// Merges equal instructions, and equal computations, into the first one.
std::unique_ptr<hlo::Module> MergeEqual(const hlo::Module& module, PassWatch* watch = nullptr);

// Computes only the elements of elementwise results that are used, where all users of a result take the same
// slice of it. HasWideSlices() returns true when that may change something.
bool HasWideSlices(const hlo::Module& module);
std::unique_ptr<hlo::Module> NarrowSlices(const hlo::Module& module, PassWatch* watch = nullptr);

// Computes values that are the same in every iteration of a loop before it.
bool HasLoops(const hlo::Module& module);
std::unique_ptr<hlo::Module> HoistInvariants(const hlo::Module& module, PassWatch* watch = nullptr);

// Replaces opt-barriers by their operands. Runs last, when values that they keep separate will not be merged
// any more.
std::unique_ptr<hlo::Module> RemoveBarriers(const hlo::Module& module, PassWatch* watch = nullptr);

// Removes instructions that neither the root nor a side effect needs, and computations that have no caller.
std::unique_ptr<hlo::Module> RemoveDead(const hlo::Module& module, PassWatch* watch = nullptr);

// Runs all passes in the order that is best for the engine. Returns the watch's error if it was stopped.
absl::StatusOr<std::unique_ptr<hlo::Module>> RunPipeline(const hlo::Module& module,
                                                         PassWatch* watch = nullptr);

}  // namespace hlod::passes

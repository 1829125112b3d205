// Passes: free functions from a module to a new module that computes the same, bit for bit as far as the
// program defines it.
//
// None reassociates or approximates anything, and each takes time linear in its input and output. Parameters,
// their numbers, aliases, donors and side effects stay. The new module shares the Tables of the old one and
// adds to them, so both belong to one thread. The given module has passed Verify; so would the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod {

// What passes over large modules look at, to see whether they have to stop. A pass that was stopped returns
// null.
class PassWatch {
 public:
  // `verdict` says why to stop, or OK to go on; it is asked for each few thousand instructions.
  explicit PassWatch(std::function<absl::Status()> verdict) : verdict_(std::move(verdict)) {}
  // Counts an instruction; whether to stop, from now on always.
  bool Stops() {
    if (--left_ > 0) return !status_.ok();
    left_ = kInstructionsBetweenLooks;
    if (status_.ok()) status_ = verdict_();
    return !status_.ok();
  }
  // Why it was stopped.
  const absl::Status& status() const { return status_; }

 private:
  static constexpr int64_t kInstructionsBetweenLooks = 4096;
  const std::function<absl::Status()> verdict_;
  absl::Status status_;
  int64_t left_ = 1;
};

// Layouts removed from every instruction (buffers are row-major); what the entry's callers asked for stays in
// entry_layout. A bitcast between other layouts becomes the transpositions and reshapes that it stands for.
// UNIMPLEMENTED naming a bitcast of which that is not known; null when it was stopped.
absl::StatusOr<std::unique_ptr<hlo::Module>> DropLayouts(const hlo::Module& module,
                                                         PassWatch* watch = nullptr);

// Scans replaced by loops.
bool HasScans(const hlo::Module& module);
std::unique_ptr<hlo::Module> ExpandScans(const hlo::Module& module);
// Scans along another dimension than 0 as scans along 0 of transposed arrays, which is what transforms know.
bool HasOtherScans(const hlo::Module& module);
std::unique_ptr<hlo::Module> LeadingScans(const hlo::Module& module);

// Calls, composites and fusions replaced by what they call, as long as the module stays below
// InlinedInstructionsMax.
std::unique_ptr<hlo::Module> InlineCalls(const hlo::Module& module, PassWatch* watch = nullptr);

// How many instructions a module of so many may have once calls are inlined at each of their callers. Calls
// of calls double quickly, and a compilation takes about a kilobyte an instruction, which no budget counts:
// what it takes has to follow from what was sent.
inline constexpr int64_t kInlinedInstructionsMax = 4'000'000;
constexpr int64_t InlinedInstructionsMax(int64_t instructions) {
  return instructions >= kInlinedInstructionsMax / 8
             ? kInlinedInstructionsMax
             : std::min(kInlinedInstructionsMax, 500'000 + 8 * instructions);
}

// Instructions that only hand on a value replaced by it (reshape to the same shape, convert to the same type,
// x*1, ...), chains of reshapes, transposes and broadcasts by one of them, and transposes beside a dot by the
// dot's own dimension numbers.
std::unique_ptr<hlo::Module> Simplify(const hlo::Module& module, PassWatch* watch = nullptr);

// Instructions on constants replaced by constants of at most kFoldedBytesMax, by the evaluator. A result of
// equal elements becomes a broadcast scalar. Stops after kFoldedBytesTotal of results, or of operands where
// these are larger.
std::unique_ptr<hlo::Module> FoldConstants(const hlo::Module& module, PassWatch* watch = nullptr);
inline constexpr int64_t kFoldedBytesMax = 64 << 10;
inline constexpr int64_t kFoldedBytesTotal = 16 << 20;

// Equal instructions merged into the first of them, and equal computations likewise.
std::unique_ptr<hlo::Module> MergeEqual(const hlo::Module& module, PassWatch* watch = nullptr);

// opt-barriers replaced by their operands: run when nothing that they hold apart may be merged any more.
std::unique_ptr<hlo::Module> RemoveBarriers(const hlo::Module& module, PassWatch* watch = nullptr);

// Without instructions that neither the root nor a side effect needs, and computations that nothing calls.
std::unique_ptr<hlo::Module> RemoveDead(const hlo::Module& module, PassWatch* watch = nullptr);

// All of them in the order that serves the engine. The watch's error when it was stopped.
absl::StatusOr<std::unique_ptr<hlo::Module>> RunPipeline(const hlo::Module& module,
                                                         PassWatch* watch = nullptr);

}  // namespace hlod

// The order of the passes.
#include "common/base/errors/status.h"
#include "common/passes/expand/expand_functions.h"
#include "common/passes/expand/expand_wrappers.h"
#include "common/passes/expand/use_routines.h"
#include "common/passes/passes.h"
#include "common/passes/simplify/split_scatters.h"
#include "common/passes/simplify/unroll_reductions.h"

namespace hlod::passes {

absl::StatusOr<std::unique_ptr<hlo::Module>> RunPipeline(const hlo::Module& given, PassWatch* watch) {
  struct Stage {
    std::unique_ptr<hlo::Module> (*pass)(const hlo::Module&, PassWatch*);
    bool (*applies)(const hlo::Module&) = nullptr;  // Null for a pass that always applies.
  };
  static constexpr Stage kStages[] = {
      // Inlining comes first, so that instructions to be compared are in as few computations as possible.
      {InlineCalls},
      {RemoveDead},
      // Folding is simpler when chains are short, and leaves new instructions to simplify.
      {Simplify},
      {FoldConstants},
      {Simplify},
      {MergeEqual},
      {UnrollReductions, HasReductionsToUnroll},
      {SplitScatters, HasLoops},
      // The positions of an argmax are constants now.
      {FoldConstants, HasLoops},
      // The slices that this makes are simplified by what follows.
      {NarrowSlices, HasWideSlices},
      // Barriers keep in a loop what a program computes again on purpose.
      {HoistInvariants, HasLoops},
      // From here on instructions are not merged: a program that computes a value twice on purpose
      // (rematerialisation) keeps doing so.
      {RemoveBarriers},
      {Simplify},
      {RemoveDead}};
  ASSIGN_OR_RETURN(std::unique_ptr<hlo::Module> module, DropLayouts(given, watch));
  if (module != nullptr && HasScans(*module)) module = ExpandScans(*module);
  if (module != nullptr && HasRoutines(*module)) module = UseRoutines(*module, watch);
  if (module != nullptr && HasWrappers(*module)) module = ExpandWrappers(*module, watch);
  if (module != nullptr && HasFunctions(*module)) module = ExpandFunctions(*module);
  if (module == nullptr) return watch->status();
  for (const Stage& stage : kStages) {
    if (stage.applies != nullptr && !stage.applies(*module)) continue;
    module = stage.pass(*module, watch);
    if (module == nullptr) return watch->status();
  }
  return module;
}

}  // namespace hlod::passes

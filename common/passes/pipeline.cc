// The order of the passes.
#include "common/base/errors/status.h"
#include "common/passes/expand/expand_functions.h"
#include "common/passes/expand/expand_wrappers.h"
#include "common/passes/expand/use_routines.h"
#include "common/passes/passes.h"

namespace hlod {

absl::StatusOr<std::unique_ptr<hlo::Module>> RunPipeline(const hlo::Module& given, PassWatch* watch) {
  using Pass = std::unique_ptr<hlo::Module> (*)(const hlo::Module&, PassWatch*);
  static constexpr Pass kPasses[] = {
      // Inlining comes first, so that one computation holds as much as possible before instructions are
      // compared.
      InlineCalls, RemoveDead,
      // Folding sees fewer kinds of operands once chains are short, and leaves new no-ops behind.
      Simplify, FoldConstants, Simplify, MergeEqual,
      // From here on no instructions are merged: what a program computes twice on purpose (rematerialisation)
      // stays computed twice.
      RemoveBarriers, Simplify, RemoveDead};
  ASSIGN_OR_RETURN(std::unique_ptr<hlo::Module> module, DropLayouts(given, watch));
  if (module != nullptr && HasScans(*module)) module = ExpandScans(*module);
  if (module != nullptr && HasRoutines(*module)) module = UseRoutines(*module, watch);
  if (module != nullptr && HasWrappers(*module)) module = ExpandWrappers(*module, watch);
  if (module != nullptr && HasFunctions(*module)) module = ExpandFunctions(*module);
  if (module == nullptr) return watch->status();
  for (const Pass pass : kPasses) {
    module = pass(*module, watch);
    if (module == nullptr) return watch->status();
  }
  return module;
}

}  // namespace hlod

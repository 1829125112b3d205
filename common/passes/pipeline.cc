// The order of the passes.
#include "common/passes/passes.h"

namespace hlod {

absl::StatusOr<std::unique_ptr<hlo::Module>> RunPipeline(const hlo::Module& given) {
  // One computation sees as much as possible before anything is compared.
  auto module = DropLayouts(given);
  if (HasScans(*module)) module = ExpandScans(*module);
  module = InlineCalls(*module);
  module = RemoveDead(*module);

  // Folding meets fewer kinds of operands once chains are short, and leaves new no-ops behind.
  module = Simplify(*module);
  module = FoldConstants(*module);
  module = Simplify(*module);
  module = MergeEqual(*module);

  // From here on nothing is merged: what a program computes twice on purpose (rematerialisation) stays
  // computed twice.
  module = RemoveBarriers(*module);
  module = Simplify(*module);
  return RemoveDead(*module);
}

}  // namespace hlod

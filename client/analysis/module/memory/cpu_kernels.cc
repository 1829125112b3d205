// The passes, in XLA's order.
#include "client/analysis/module/memory/cpu_kernels.h"

#include <vector>

#include "client/analysis/module/memory/library_kernels.h"
#include "client/analysis/module/memory/loop_fusion.h"

namespace hlod::analysis {

KernelGraph CpuKernels(const hlo::Module& module, const hlo::Computation& computation) {
  KernelGraph graph(computation);
  const std::vector<bool> library = FormLibraryKernels(module, graph);
  FuseLoops(library, graph);
  return graph;
}

}  // namespace hlod::analysis

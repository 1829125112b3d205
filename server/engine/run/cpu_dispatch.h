// Compiles one kernel for several instruction sets and chooses the best one at run time. The binary itself is
// compiled for baseline x86-64.
#pragma once

#include "common/base/system/cpu.h"

namespace hlod::engine {

// A kernel is a struct with `static HLOD_ALWAYS_INLINE void Run(arguments)`; RunBest<Kernel>(arguments) runs
// the copy compiled for this machine. Loops to be vectorised have `#pragma omp simd`.
#if defined(__x86_64__)
template <typename Kernel, typename... Args>
__attribute__((target(HLOD_AVX512_FEATURES))) void RunAvx512(Args... args) {
  Kernel::Run(args...);
}
template <typename Kernel, typename... Args>
__attribute__((target(HLOD_AVX2_FEATURES))) void RunAvx2(Args... args) {
  Kernel::Run(args...);
}
#endif

template <typename Kernel, typename... Args>
void RunBest(Args... args) {
#if defined(__x86_64__)
  switch (BestCpuLevel()) {
    case CpuLevel::kAvx512: return RunAvx512<Kernel, Args...>(args...);
    case CpuLevel::kAvx2: return RunAvx2<Kernel, Args...>(args...);
    case CpuLevel::kBaseline: break;
  }
#endif
  Kernel::Run(args...);
}

}  // namespace hlod::engine

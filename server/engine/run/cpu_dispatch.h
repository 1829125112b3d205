// One kernel compiled for several instruction sets, the best chosen while running: the binary itself stays
// baseline x86-64.
#pragma once

#define HLOD_ALWAYS_INLINE inline __attribute__((always_inline))

namespace hlod::engine {

// A kernel is a struct with `static HLOD_ALWAYS_INLINE void Run(arguments)`; RunBest<Kernel>(arguments) runs
// the copy compiled for this machine. Loops to be vectorised say `#pragma omp simd`.
#if defined(__x86_64__)
enum class CpuLevel { kBaseline, kAvx2, kAvx512 };
inline CpuLevel BestCpuLevel() {
  static const CpuLevel level = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
      return CpuLevel::kAvx512;
    }
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? CpuLevel::kAvx2
                                                                           : CpuLevel::kBaseline;
  }();
  return level;
}

template <typename Kernel, typename... Args>
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))) void RunAvx512(Args... args) {
  Kernel::Run(args...);
}
template <typename Kernel, typename... Args>
__attribute__((target("avx2,fma"))) void RunAvx2(Args... args) {
  Kernel::Run(args...);
}
template <typename Kernel, typename... Args>
void RunBest(Args... args) {
  switch (BestCpuLevel()) {
    case CpuLevel::kAvx512: return RunAvx512<Kernel, Args...>(args...);
    case CpuLevel::kAvx2: return RunAvx2<Kernel, Args...>(args...);
    case CpuLevel::kBaseline: return Kernel::Run(args...);
  }
}
#else
template <typename Kernel, typename... Args>
void RunBest(Args... args) {
  Kernel::Run(args...);
}
#endif

}  // namespace hlod::engine

// Which instruction sets the code is compiled for besides the baseline, and which of them the processor runs.
#pragma once

#define HLOD_ALWAYS_INLINE inline __attribute__((always_inline))

// The features of each level, as a target attribute names them. A function that is inlined into one with a
// target attribute has no attribute, or features that its caller has too.
#if defined(__x86_64__)
#define HLOD_AVX2_FEATURES "avx2,fma,bmi,bmi2,lzcnt,popcnt"
#define HLOD_AVX512_FEATURES "avx512f,avx512dq,avx512bw,avx512vl," HLOD_AVX2_FEATURES
#endif

namespace hlod {

// Each level has all of the level before.
enum class CpuLevel { kBaseline, kAvx2, kAvx512 };

// The best level that this processor runs.
inline CpuLevel BestCpuLevel() {
#if defined(__x86_64__)
  static const CpuLevel level = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("lzcnt") ||
        !__builtin_cpu_supports("popcnt")) {
      return CpuLevel::kBaseline;
    }
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
               ? CpuLevel::kAvx512
               : CpuLevel::kAvx2;
  }();
  return level;
#else
  return CpuLevel::kBaseline;
#endif
}

}  // namespace hlod

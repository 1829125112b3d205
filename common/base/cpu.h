// The instruction sets that code is compiled for besides the baseline, and which of them this process uses:
// those that the processor has, up to a limit.
#pragma once

#define HLOD_ALWAYS_INLINE inline __attribute__((always_inline))

// The features of each level, as a target attribute names them. A function that is inlined into one with a
// target attribute has no attribute, or features that its caller has too.
#if defined(__x86_64__)
#define HLOD_AVX2_FEATURES "avx2,fma,bmi,bmi2,lzcnt,popcnt"
#define HLOD_AVX512_FEATURES "avx512f,avx512dq,avx512bw,avx512vl," HLOD_AVX2_FEATURES
#endif

namespace hlod {

// Each level has all of the level before: x86-64 itself, x86-64-v3, x86-64-v4.
enum class CpuLevel { kBaseline, kAvx2, kAvx512 };

// Instructions that not all processors of a level have.
enum class CpuExtension { kSse42, kF16c, kVpopcntdq };

// The best level that this processor runs.
CpuLevel ProcessorCpuLevel();
// The best level that this process uses: the processor's, or the limit when that is lower.
CpuLevel BestCpuLevel();
// Whether this process uses the instructions. A limit leaves those that its level's first processors had.
bool UsesCpuExtension(CpuExtension extension);

}  // namespace hlod

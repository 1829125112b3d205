// The instruction sets that code is compiled for besides the baseline, and the ones that this process uses:
// the processor's, up to a limit.
#pragma once

#define HLOD_ALWAYS_INLINE inline __attribute__((always_inline))

// The features of each level, in the form of a target attribute. A function can be inlined into one with a
// target attribute only if it has no such attribute, or only features that its caller has too.
#if defined(__x86_64__)
#define HLOD_AVX2_FEATURES "avx2,fma,bmi,bmi2,lzcnt,popcnt"
#define HLOD_AVX512_FEATURES "avx512f,avx512dq,avx512bw,avx512vl," HLOD_AVX2_FEATURES
#endif

namespace hlod {

// Each level includes the level before it: x86-64 itself, x86-64-v3, x86-64-v4.
enum class CpuLevel { kBaseline, kAvx2, kAvx512 };

// Instructions that not all processors of a level have.
enum class CpuExtension { kSse42, kF16c, kVpopcntdq };

// Returns the best level that this processor runs.
CpuLevel ProcessorCpuLevel();
// Returns the best level that this process uses: the processor's, or the limit when that is lower.
CpuLevel BestCpuLevel();
// Returns true when this process uses the instructions. A limit leaves the extensions that its level's first
// processors had.
bool UsesCpuExtension(CpuExtension extension);

}  // namespace hlod

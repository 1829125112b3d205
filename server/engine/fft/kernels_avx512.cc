// Operations on tiles for AVX-512, which has twice as many registers.
#include "common/base/system/cpu.h"

#if defined(__x86_64__)
#define HLOD_FFT_SET avx512
#define HLOD_FFT_TARGET __attribute__((target(HLOD_AVX512_FEATURES)))
#include "server/engine/fft/kernels_impl.h"

namespace hlod::engine::fft {
extern const Kernels<float> kFloats_avx512;
extern const Kernels<double> kDoubles_avx512;
const Kernels<float> kFloats_avx512 = avx512::MakeKernels<float>();
const Kernels<double> kDoubles_avx512 = avx512::MakeKernels<double>();
}  // namespace hlod::engine::fft
#endif

// Operations on tiles for AVX2.
#include "common/base/system/cpu.h"

#if defined(__x86_64__)
#define HLOD_FFT_SET avx2
#define HLOD_FFT_TARGET __attribute__((target(HLOD_AVX2_FEATURES)))
#include "server/engine/fft/kernels_impl.h"

namespace hlod::engine::fft {
extern const Kernels<float> kFloats_avx2;
extern const Kernels<double> kDoubles_avx2;
const Kernels<float> kFloats_avx2 = avx2::MakeKernels<float>();
const Kernels<double> kDoubles_avx2 = avx2::MakeKernels<double>();
}  // namespace hlod::engine::fft
#endif

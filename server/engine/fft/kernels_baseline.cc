// Operations on tiles for any processor.
#define HLOD_FFT_SET baseline
#define HLOD_FFT_TARGET
#include "server/engine/fft/kernels_impl.h"

namespace hlod::engine::fft {
extern const Kernels<float> kFloats_baseline;
extern const Kernels<double> kDoubles_baseline;
const Kernels<float> kFloats_baseline = baseline::MakeKernels<float>();
const Kernels<double> kDoubles_baseline = baseline::MakeKernels<double>();
}  // namespace hlod::engine::fft

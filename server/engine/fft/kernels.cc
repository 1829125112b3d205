// Chooses the kernels of the instruction set in use, and convolves lines of lengths with a large prime
// factor.
#include "server/engine/fft/kernels.h"

#include <algorithm>
#include <utility>

#include "common/base/system/cpu.h"

namespace hlod::engine::fft {

#define HLOD_FFT_SET(set)                    \
  extern const Kernels<float> kFloats_##set; \
  extern const Kernels<double> kDoubles_##set;
HLOD_FFT_SET(baseline)
#if defined(__x86_64__)
HLOD_FFT_SET(avx2)
HLOD_FFT_SET(avx512)
#endif
#undef HLOD_FFT_SET

template <>
const Kernels<float>& GetKernels() {
#if defined(__x86_64__)
  if (BestCpuLevel() == CpuLevel::kAvx512) return kFloats_avx512;
  if (BestCpuLevel() == CpuLevel::kAvx2) return kFloats_avx2;
#endif
  return kFloats_baseline;
}

template <>
const Kernels<double>& GetKernels() {
#if defined(__x86_64__)
  if (BestCpuLevel() == CpuLevel::kAvx512) return kDoubles_avx512;
  if (BestCpuLevel() == CpuLevel::kAvx2) return kDoubles_avx2;
#endif
  return kDoubles_baseline;
}

template <typename T>
T* TransformTile(const LinePlan<T>& plan, T* a, T* b) {
  const Kernels<T>& kernels = GetKernels<T>();
  if (plan.chirp.empty()) return kernels.passes(plan, a, b);
  // X[k] = chirp[k] sum_j (x[j] chirp[j]) conj(chirp[k - j]) is a convolution. It is computed by transforms
  // of a length that has room for it.
  constexpr int64_t kRow = 2 * kLanes<T>;
  kernels.scale(a, plan.chirp.data(), plan.length, false, false);
  std::fill(a + plan.length * kRow, a + plan.tile_length * kRow, T(0));
  T* const spectrum = kernels.passes(plan, a, b);
  if (spectrum != a) std::swap(a, b);
  kernels.scale(a, plan.filter.data(), plan.tile_length, false, true);
  T* const product = kernels.passes(plan, a, b);
  kernels.scale(product, plan.chirp.data(), plan.length, true, false);
  return product;
}
template float* TransformTile(const LinePlan<float>&, float*, float*);
template double* TransformTile(const LinePlan<double>&, double*, double*);

}  // namespace hlod::engine::fft

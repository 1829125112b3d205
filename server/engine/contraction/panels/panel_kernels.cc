// Chooses the kernels of this processor.
#include "server/engine/contraction/panels/panel_kernels.h"

#include "common/base/system/cpu.h"
#include "server/engine/contraction/panels/pair_kernels.h"

namespace hlod::engine {

#if defined(__x86_64__)
extern const PanelKernels<float> kFloatPanels_avx2, kFloatPanels_avx512;
extern const PanelKernels<double> kDoublePanels_avx2, kDoublePanels_avx512;
extern const PairKernels kPairKernels_avx2, kPairKernels_avx512;
#endif
extern const PanelKernels<float> kFloatPanels_baseline;
extern const PanelKernels<double> kDoublePanels_baseline;
extern const PairKernels kPairKernels_baseline;

template <>
const PanelKernels<float>& GetPanelKernels<float>() {
#if defined(__x86_64__)
  if (BestCpuLevel() == CpuLevel::kAvx512) return kFloatPanels_avx512;
  if (BestCpuLevel() == CpuLevel::kAvx2) return kFloatPanels_avx2;
#endif
  return kFloatPanels_baseline;
}

template <>
const PanelKernels<double>& GetPanelKernels<double>() {
#if defined(__x86_64__)
  if (BestCpuLevel() == CpuLevel::kAvx512) return kDoublePanels_avx512;
  if (BestCpuLevel() == CpuLevel::kAvx2) return kDoublePanels_avx2;
#endif
  return kDoublePanels_baseline;
}

const PairKernels& GetPairKernels() {
#if defined(__x86_64__)
  if (BestCpuLevel() == CpuLevel::kAvx512) return kPairKernels_avx512;
  if (BestCpuLevel() == CpuLevel::kAvx2) return kPairKernels_avx2;
#endif
  return kPairKernels_baseline;
}

}  // namespace hlod::engine

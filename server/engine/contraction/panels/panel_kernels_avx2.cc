// Tiles of matrix products for AVX2.
#include "common/base/system/cpu.h"

#if defined(__x86_64__)
#define HLOD_PANEL_SET avx2
#define HLOD_PANEL_TARGET __attribute__((target(HLOD_AVX2_FEATURES ",f16c")))
#define HLOD_PANEL_BYTES 32
#define HLOD_PANEL_ROWS 6
#include "server/engine/contraction/panels/panel_kernels_impl.h"
// Uses its vectors.
#include "server/engine/contraction/panels/pair_kernels_impl.h"

namespace hlod::engine {
extern const PanelKernels<float> kFloatPanels_avx2;
extern const PanelKernels<double> kDoublePanels_avx2;
extern const PanelPacks kPanelPacks_avx2;
extern const PairKernels kPairKernels_avx2;
const PanelKernels<float> kFloatPanels_avx2 = avx2::MakePanelKernels<float>();
const PanelKernels<double> kDoublePanels_avx2 = avx2::MakePanelKernels<double>();
const PanelPacks kPanelPacks_avx2 = avx2::MakePanelPacks();
const PairKernels kPairKernels_avx2 = avx2::MakePairKernels();
}  // namespace hlod::engine
#endif

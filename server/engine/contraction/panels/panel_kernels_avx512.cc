// Tiles of matrix products for AVX-512.
#include "common/base/system/cpu.h"

#if defined(__x86_64__)
#define HLOD_PANEL_SET avx512
#define HLOD_PANEL_TARGET __attribute__((target(HLOD_AVX512_FEATURES ",f16c")))
#define HLOD_PANEL_BYTES 64
#define HLOD_PANEL_ROWS 14
#include "server/engine/contraction/panels/panel_kernels_impl.h"
// Uses its vectors.
#include "server/engine/contraction/panels/pair_kernels_impl.h"

namespace hlod::engine {
extern const PanelKernels<float> kFloatPanels_avx512;
extern const PanelKernels<double> kDoublePanels_avx512;
extern const PanelPacks kPanelPacks_avx512;
extern const PairKernels kPairKernels_avx512;
const PanelKernels<float> kFloatPanels_avx512 = avx512::MakePanelKernels<float>();
const PanelKernels<double> kDoublePanels_avx512 = avx512::MakePanelKernels<double>();
const PanelPacks kPanelPacks_avx512 = avx512::MakePanelPacks();
const PairKernels kPairKernels_avx512 = avx512::MakePairKernels();
}  // namespace hlod::engine
#endif

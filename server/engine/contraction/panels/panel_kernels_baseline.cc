// Tiles of matrix products for any processor.
#define HLOD_PANEL_SET baseline
#define HLOD_PANEL_TARGET
#define HLOD_PANEL_BYTES 16
#define HLOD_PANEL_ROWS 6
#include "server/engine/contraction/panels/panel_kernels_impl.h"
// Uses its vectors.
#include "server/engine/contraction/panels/pair_kernels_impl.h"

namespace hlod::engine {
extern const PanelKernels<float> kFloatPanels_baseline;
extern const PanelKernels<double> kDoublePanels_baseline;
extern const PanelPacks kPanelPacks_baseline;
extern const PairKernels kPairKernels_baseline;
const PanelKernels<float> kFloatPanels_baseline = baseline::MakePanelKernels<float>();
const PanelKernels<double> kDoublePanels_baseline = baseline::MakePanelKernels<double>();
const PanelPacks kPanelPacks_baseline = baseline::MakePanelPacks();
const PairKernels kPairKernels_baseline = baseline::MakePairKernels();
}  // namespace hlod::engine

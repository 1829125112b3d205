// Chooses the copies of this processor.
#include "server/engine/contraction/panels/panel_pack.h"

#include "common/base/system/cpu.h"

namespace hlod::engine {

extern const PanelPacks kPanelPacks_baseline;
#if defined(__x86_64__)
extern const PanelPacks kPanelPacks_avx2, kPanelPacks_avx512;
#endif

namespace {

const PanelPacks& BestPanelPacks() {
#if defined(__x86_64__)
  if (!UsesCpuExtension(CpuExtension::kF16c)) return kPanelPacks_baseline;
  if (BestCpuLevel() == CpuLevel::kAvx512) return kPanelPacks_avx512;
  if (BestCpuLevel() == CpuLevel::kAvx2) return kPanelPacks_avx2;
#endif
  return kPanelPacks_baseline;
}

}  // namespace

PackPanel FindPackPanel(hlo::PrimitiveType from, hlo::PrimitiveType to) {
  const PanelPacks& packs = BestPanelPacks();
  if (to == hlo::kF64) return from == hlo::kF64 ? packs.f64 : nullptr;
  if (to != hlo::kF32) return nullptr;
  switch (from) {
    case hlo::kF32: return packs.f32;
    case hlo::kBF16: return packs.bf16;
    case hlo::kF16: return packs.f16;
    default: return nullptr;
  }
}

MultiplyByVector FindMultiplyByVector(hlo::PrimitiveType from) {
  const PanelPacks& packs = BestPanelPacks();
  switch (from) {
    case hlo::kF32: return packs.rows_f32;
    case hlo::kBF16: return packs.rows_bf16;
    case hlo::kF16: return packs.rows_f16;
    case hlo::kF64: return packs.rows_f64;
    default: return nullptr;
  }
}

MultiplyByMatrix FindMultiplyByMatrix(hlo::PrimitiveType from) {
  const PanelPacks& packs = BestPanelPacks();
  switch (from) {
    case hlo::kF32: return packs.matrix_f32;
    case hlo::kBF16: return packs.matrix_bf16;
    case hlo::kF16: return packs.matrix_f16;
    case hlo::kF64: return packs.matrix_f64;
    default: return nullptr;
  }
}

std::optional<ConvertFunction> FindSumConversion(hlo::PrimitiveType sums, hlo::PrimitiveType result) {
  if (sums == hlo::kF32 && result == hlo::kF16) return BestPanelPacks().to_f16;
  return FindConversion(sums, result);
}

}  // namespace hlod::engine

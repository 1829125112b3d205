// The table of libraries per type, processor and shape, as `hlod --measure-products` measured it.
#include "server/engine/contraction/products.h"

#include "common/base/system/cpu.h"
#include "server/engine/contraction/onednn.h"
#include "server/engine/run/compute_types.h"

namespace hlod::engine {
namespace {

using enum ProductLibrary;

// The kinds of processors. The last one multiplies bf16 itself.
enum class Processor { kBaseline, kAvx2, kAvx512, kAvx512Bf16 };
constexpr int kProcessors = 4, kShapes = 4;

Processor ThisProcessor() {
  switch (BestCpuLevel()) {
    case CpuLevel::kBaseline: return Processor::kBaseline;
    case CpuLevel::kAvx2: return Processor::kAvx2;
    case CpuLevel::kAvx512: break;
  }
  return OneDnnHas(dnnl::cpu_isa::avx512_core_bf16) ? Processor::kAvx512Bf16 : Processor::kAvx512;
}

// The rows are processors, the columns shapes: vector, few rows, small, large.
using Choices = ProductLibrary[kProcessors][kShapes];

// oneDNN's AVX2 kernels know the caches of one maker's processors only: on others they take up to three times
// as long as panels, which differ by a tenth on all. Its kernels cost more per call than a small product.
constexpr Choices kF32 = {
    {kOneDnn, kOneDnn, kOneDnn, kOneDnn},
    {kPanels, kOneDnn, kPanels, kPanels},
    {kPanels, kOneDnn, kOneDnn, kOneDnn},
    {kPanels, kOneDnn, kOneDnn, kOneDnn},
};
// Without instructions for bf16, oneDNN has slow kernels or none.
constexpr Choices kBf16 = {
    {kPanels, kPanels, kPanels, kPanels},
    {kPanels, kPanels, kPanels, kPanels},
    {kOneDnn, kPanels, kPanels, kPanels},
    {kOneDnn, kOneDnn, kOneDnn, kOneDnn},
};
// oneDNN does not multiply f16 or f64.
constexpr Choices kOthers = {
    {kPanels, kPanels, kPanels, kPanels},
    {kPanels, kPanels, kPanels, kPanels},
    {kPanels, kPanels, kPanels, kPanels},
    {kPanels, kPanels, kPanels, kPanels},
};

const Choices& ChoicesFor(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out) {
  const auto any = [&](hlo::PrimitiveType type) { return lhs == type || rhs == type || out == type; };
  if (any(hlo::kF16) || any(hlo::kF64)) return kOthers;
  return any(hlo::kBF16) ? kBf16 : kF32;
}

}  // namespace

std::string_view Name(ProductLibrary library) {
  switch (library) {
    case kOneDnn: return "onednn";
    case kPanels: return "panels";
    case kLoops: break;
  }
  return "loops";
}

std::string_view Name(ProductShape shape) {
  switch (shape) {
    case ProductShape::kVector: return "vector";
    case ProductShape::kFewRows: return "few rows";
    case ProductShape::kSmall: return "small";
    case ProductShape::kLarge: break;
  }
  return "large";
}

ProductShape ShapeOf(const DotView& view) {
  constexpr int64_t kRowsMax = 16;
  constexpr double kSmallFlops = 2.0 * 64 * 64 * 64;
  if (view.m == 1 || view.n == 1) return ProductShape::kVector;
  if (view.flops() / static_cast<double>(view.batches()) <= kSmallFlops) return ProductShape::kSmall;
  return view.m <= kRowsMax ? ProductShape::kFewRows : ProductShape::kLarge;
}

ProductLibrary BestProductLibrary(const DotView& view, hlo::PrimitiveType lhs, hlo::PrimitiveType rhs,
                                  hlo::PrimitiveType out) {
  // The loops would need copies of narrow floats in f32.
  const bool tiny = view.is_tiny() && (lhs == hlo::kF32 || lhs == hlo::kF64);
  if ((view.is_points() || tiny) && lhs == rhs && ContractionType(lhs, rhs, out) == lhs && out == lhs)
    return kLoops;
  return ChoicesFor(lhs, rhs, out)[static_cast<int>(ThisProcessor())][static_cast<int>(ShapeOf(view))];
}

}  // namespace hlod::engine

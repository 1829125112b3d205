// Writes operations whose regions combine elements; also batch norms and sorts.
#include "client/import/write/draft.h"

namespace hlod::stablehlo::write {
namespace {

using enum hlo::Opcode;

void Dimensions(hlo::Instruction instruction, AttributeMap& attributes) {
  attributes["dimensions"] = Numbers(instruction.dimensions());
}

void Windows(hlo::Instruction instruction, AttributeMap& attributes) {
  hlo::Dims sizes, strides;
  std::vector<hlo::Dims> padding;
  const hlo::Window& window = instruction.attributes<hlo::WindowAttributes>().window;
  for (const hlo::WindowDimension& dimension : window) {
    sizes.push_back(dimension.size);
    strides.push_back(dimension.stride);
    padding.push_back({dimension.padding_low, dimension.padding_high});
  }
  attributes["window_dimensions"] = Numbers(sizes);
  attributes["window_strides"] = Numbers(strides);
  if (!window.empty()) attributes["padding"] = Rows(padding);
}

void ReduceWindow(hlo::Instruction instruction, AttributeMap& attributes) {
  Windows(instruction, attributes);
  hlo::Dims base, window;
  for (const hlo::WindowDimension& dimension : instruction.attributes<hlo::WindowAttributes>().window) {
    base.push_back(dimension.base_dilation);
    window.push_back(dimension.window_dilation);
  }
  attributes["base_dilations"] = Numbers(base);
  attributes["window_dilations"] = Numbers(window);
}

void Sort(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& sort = instruction.attributes<hlo::SortAttributes>();
  attributes["dimension"] = Number(sort.dimension);
  attributes["is_stable"] = Bool(sort.is_stable);
}

void TopK(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& top = instruction.attributes<hlo::TopKAttributes>();
  attributes["k"] = Number(top.k);
  if (!top.largest) attributes["largest"] = Bool(false);
}

void BatchNorm(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& norm = instruction.attributes<hlo::BatchNormAttributes>();
  attributes["epsilon"] = {.value = static_cast<double>(norm.epsilon), .type = hlo::kF32};
  attributes["feature_index"] = Number(norm.feature_index);
}

constexpr Row kReductionRows[] = {
    {kReduce, "stablehlo.reduce", Dimensions},
    {kReduceWindow, "stablehlo.reduce_window", ReduceWindow},
    {kSelectAndScatter, "stablehlo.select_and_scatter", Windows},
    {kSort, "stablehlo.sort", Sort},
    {kTopK, "chlo.top_k", TopK},
    {kMap, "stablehlo.map", Dimensions},
    {kBatchNormTraining, "stablehlo.batch_norm_training", BatchNorm},
    {kBatchNormInference, "stablehlo.batch_norm_inference", BatchNorm},
    {kBatchNormGrad, "stablehlo.batch_norm_grad", BatchNorm},
};

}  // namespace

absl::Span<const Row> ReductionRows() { return kReductionRows; }

}  // namespace hlod::stablehlo::write

// Operations whose regions join elements: reductions, windows, scatters, sorts, maps; batch norms beside
// them.
#include "client/import/conversion.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// As many inputs as initial values.
Values Reduce(Conversion& c) {
  const ComputationId reducer = c.Reducer();
  return Instruction(c, kReduce, c.operands, hlo::DimensionsAttributes{c.Integers("dimensions")}, {reducer});
}

Values ReduceWindow(Conversion& c) {
  const hlo::Window window = MakeWindow(
      c, c.Integers("window_dimensions"), c.Integers("window_strides", false), c.PairsOf("padding"),
      c.Integers("base_dilations", false), c.Integers("window_dilations", false), {});
  const ComputationId reducer = c.Reducer();
  return Instruction(c, kReduceWindow, c.operands, hlo::WindowAttributes{window}, {reducer});
}

// Without window_dimensions, the window is one element.
Values SelectAndScatter(Conversion& c) {
  Dims sizes = c.Integers("window_dimensions", false);
  if (sizes.empty()) sizes.assign(c.shape(0).dims.size(), 1);
  const hlo::Window window =
      MakeWindow(c, sizes, c.Integers("window_strides", false), c.PairsOf("padding"), {}, {}, {});
  const ComputationId select = c.Reducer(0), scatter = c.Reducer(1);
  return Instruction(c, kSelectAndScatter, c.operands, hlo::WindowAttributes{window}, {select, scatter});
}

Values Scatter(Conversion& c) {
  hlo::ScatterAttributes attributes;
  attributes.update_window_dims = c.Integers("update_window_dims", false);
  attributes.inserted_window_dims = c.Integers("inserted_window_dims", false);
  attributes.scatter_dims_to_operand_dims = c.Integers("scatter_dims_to_operand_dims", false);
  attributes.input_batching_dims = c.Integers("input_batching_dims", false);
  attributes.scatter_indices_batching_dims = c.Integers("scatter_indices_batching_dims", false);
  attributes.index_vector_dim = c.Integer("index_vector_dim", 0);
  attributes.indices_are_sorted = c.Bool("indices_are_sorted");
  attributes.unique_indices = c.Bool("unique_indices");
  const ComputationId combiner = c.Reducer();
  return Instruction(c, kScatter, c.operands, attributes, {combiner});
}

Values Sort(Conversion& c) {
  if (c.operands.empty()) return c.Fail(InvalidArgument("It has no operands.")), Values{};
  hlo::SortAttributes attributes;
  attributes.dimension = c.Integer("dimension", -1);
  if (attributes.dimension < 0) attributes.dimension += c.shape(0).rank();
  attributes.is_stable = c.Bool("is_stable");
  const ComputationId comparator = c.Reducer();
  return Instruction(c, kSort, c.operands, attributes, {comparator});
}

Values Map(Conversion& c) {
  const ComputationId mapped = c.Reducer();
  return Instruction(c, kMap, c.operands, hlo::DimensionsAttributes{c.Integers("dimensions")}, {mapped});
}

template <hlo::Opcode opcode>
Values BatchNorm(Conversion& c) {
  hlo::BatchNormAttributes attributes;
  attributes.epsilon = static_cast<float>(c.Float("epsilon"));
  attributes.feature_index = c.Integer("feature_index");
  return Instruction(c, opcode, c.operands, attributes);
}

constexpr Rule kReductionRules[] = {
    {"stablehlo.batch_norm_grad", BatchNorm<kBatchNormGrad>, 5, 3},
    {"stablehlo.batch_norm_inference", BatchNorm<kBatchNormInference>, 5},
    {"stablehlo.batch_norm_training", BatchNorm<kBatchNormTraining>, 3, 3},
    {"stablehlo.map", Map, -1, 1, 1},
    {"stablehlo.reduce", Reduce, -1, -1, 1},
    {"stablehlo.reduce_window", ReduceWindow, -1, -1, 1},
    {"stablehlo.scatter", Scatter, -1, -1, 1},
    {"stablehlo.select_and_scatter", SelectAndScatter, 3, 1, 2},
    {"stablehlo.sort", Sort, -1, -1, 1},
};

}  // namespace

absl::Span<const Rule> ReductionRules() { return kReductionRules; }

}  // namespace hlod::stablehlo

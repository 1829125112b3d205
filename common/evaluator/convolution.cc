// convolution: any number of spatial dimensions, both dilations, reversal, feature and batch groups; summed
// as dot sums.
#include "common/base/status.h"
#include "common/evaluator/arithmetic.h"
#include "common/evaluator/contraction.h"
#include "common/evaluator/indexing.h"
#include "common/evaluator/rules.h"
#include "common/evaluator/wide.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::RowMajorStrides;

namespace {

// The input coordinate that kernel place `k` meets at output place `o`, or -1 in the padding and in the holes
// of base dilation.
int64_t InputCoordinate(const hlo::WindowDimension& window, int64_t o, int64_t k, int64_t input_size) {
  const int64_t at = o * window.stride + k * window.window_dilation - window.padding_low;
  if (at < 0 || at % window.base_dilation != 0 || at / window.base_dilation >= input_size) return -1;
  return at / window.base_dilation;
}

template <typename C>
absl::Status ConvolveIn(Evaluation& evaluation, const hlo::ConvolutionAttributes& conv, const Literal& lhs,
                        const Literal& rhs, Literal& result) {
  const Dims &in = lhs.shape().dims, &kernel = rhs.shape().dims, &out = result.shape().dims;
  const Dims in_strides = RowMajorStrides(in), kernel_strides = RowMajorStrides(kernel),
             out_strides = RowMajorStrides(out);
  const Dims in_spatial = Pick(in_strides, conv.input_spatial),
             kernel_spatial = Pick(kernel_strides, conv.kernel_spatial);
  const Dims in_sizes = Pick(in, conv.input_spatial), kernel_sizes = Pick(kernel, conv.kernel_spatial);
  const size_t spatial = conv.window.size();
  const std::vector<C> x = LoadAs<C>(lhs), w = LoadAs<C>(rhs);
  std::vector<C> sums(result.element_count(), C{});

  // Output features fall into as many consecutive groups as there are feature groups (each reads its own
  // input features) or batch groups (each reads its own part of the batch).
  const int64_t features = out[conv.output_feature], group_features = kernel[conv.kernel_input_feature];
  const int64_t features_per_feature_group = features / conv.feature_group_count;
  const int64_t features_per_batch_group = features / conv.batch_group_count;
  const int64_t batch_per_group = in[conv.input_batch] / conv.batch_group_count;
  const int64_t in_step = in_strides[conv.input_feature],
                kernel_step = kernel_strides[conv.kernel_input_feature];

  for (Odometer at(out); at.valid(); at.Next()) {
    const int64_t feature = at[conv.output_feature];
    const int64_t batch = at[conv.output_batch] + feature / features_per_batch_group * batch_per_group;
    const int64_t first_input_feature = feature / features_per_feature_group * group_features;
    const int64_t x_start = batch * in_strides[conv.input_batch] + first_input_feature * in_step;
    const int64_t w_start = feature * kernel_strides[conv.kernel_output_feature];
    C sum{};
    for (Odometer place(kernel_sizes); place.valid(); place.Next()) {
      RETURN_IF_ERROR(evaluation.Tick(8));
      int64_t x_at = x_start, w_at = w_start;
      bool inside = true;
      for (size_t s = 0; s < spatial && inside; ++s) {
        const hlo::WindowDimension& window = conv.window[s];
        const int64_t coordinate = InputCoordinate(window, at[conv.output_spatial[s]], place[s], in_sizes[s]);
        inside = coordinate >= 0;
        x_at += coordinate * in_spatial[s];
        w_at += (window.reversal ? kernel_sizes[s] - 1 - place[s] : place[s]) * kernel_spatial[s];
      }
      if (!inside) continue;
      RETURN_IF_ERROR(evaluation.InBlocks(group_features, 1, [&](int64_t begin, int64_t end) {
        for (int64_t f = begin; f < end; ++f)
          sum = Sum(sum, Product(x[x_at + f * in_step], w[w_at + f * kernel_step]));
      }));
    }
    sums[Offset(at.index(), out_strides)] = sum;
  }
  StoreSums(sums, result);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> Convolution(Evaluation& evaluation, Instruction instruction, Operands operands) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const hlo::Shape &lhs = operands[0].shape(), &rhs = operands[1].shape();
  RETURN_IF_ERROR(VisitCarrier(SumCarrier(lhs.type, rhs.type, result.shape().type), [&]<typename C>() {
    return ConvolveIn<C>(evaluation, instruction.attributes<hlo::ConvolutionAttributes>(), operands[0],
                         operands[1], result);
  }));
  return result;
}

}  // namespace hlod::evaluator

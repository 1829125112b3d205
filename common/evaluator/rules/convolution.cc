// convolution with any number of spatial dimensions, both dilations, reversal, feature and batch groups. Sums
// are computed as in dot.
#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/contraction.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::RowMajorStrides;

namespace {

// Returns the input coordinate that kernel position `k` meets at output position `o`, or -1 in the padding
// and in the holes of base dilation.
int64_t InputCoordinate(const hlo::WindowDimension& window, int64_t o, int64_t k, int64_t input_size) {
  const int64_t at = o * window.stride + k * window.window_dilation - window.padding_low;
  if (at < 0 || at % window.base_dilation != 0 || at / window.base_dilation >= input_size) return -1;
  return at / window.base_dilation;
}

Dims Order(int64_t first, const Dims& middle, int64_t last) {
  Dims order = {first};
  order.insert(order.end(), middle.begin(), middle.end());
  order.push_back(last);
  return order;
}

// Adds, for each kernel position, its contribution to the output positions at which it meets the input: the
// product of the gathered features of the input with the kernel's features. Padding is skipped, so that an
// infinity in the kernel is never multiplied by a zero. x: [batch, spatial..., feature], w: [group,
// spatial..., input feature, output feature of the group], sums: [group, batch, spatial..., feature].
template <typename C>
class Places {
 public:
  Places(Evaluation& evaluation, const hlo::ConvolutionAttributes& conv, const Dims& in, const Dims& kernel,
         const Dims& out)
      : evaluation_(evaluation),
        conv_(conv),
        in_sizes_(Pick(in, conv.input_spatial)),
        kernel_sizes_(Pick(kernel, conv.kernel_spatial)),
        out_sizes_(Pick(out, conv.output_spatial)),
        in_features_(in[conv.input_feature]) {}

  // Adds the sums of one group and one image. `x` points at the group's first feature in the image.
  absl::Status Add(const C* x, const C* w, int64_t depth, int64_t features, C* sums) {
    const Dims in_strides = hlo::RowMajorStrides(in_sizes_), out_strides = hlo::RowMajorStrides(out_sizes_);
    const size_t spatial = in_sizes_.size();
    for (Odometer place(kernel_sizes_); place.valid(); place.Next(), w += depth * features) {
      // Along each dimension, pairs of an output position and the input position that it reads.
      std::vector<std::vector<std::pair<int64_t, int64_t>>> met(spatial);
      Dims counts(spatial);
      for (size_t s = 0; s < spatial; ++s) {
        const hlo::WindowDimension& window = conv_.window[s];
        const int64_t k = window.reversal ? kernel_sizes_[s] - 1 - place[s] : place[s];
        RETURN_IF_ERROR(evaluation_.InBlocks(out_sizes_[s], 8, [&](int64_t begin, int64_t end) {
          for (int64_t o = begin; o < end; ++o) {
            const int64_t i = InputCoordinate(window, o, k, in_sizes_[s]);
            if (i >= 0) met[s].emplace_back(o * out_strides[s], i * in_strides[s]);
          }
        }));
        counts[s] = static_cast<int64_t>(met[s].size());
      }
      for (Odometer at(counts); at.valid(); at.Next()) {
        int64_t to = 0, from = 0;
        for (size_t s = 0; s < spatial; ++s) {
          to += met[s][static_cast<size_t>(at[s])].first;
          from += met[s][static_cast<size_t>(at[s])].second;
        }
        rows_.push_back(to);
        gathered_.insert(gathered_.end(), x + from * in_features_, x + from * in_features_ + depth);
        if (static_cast<int64_t>(gathered_.size()) >= kGatheredMax)
          RETURN_IF_ERROR(Flush(w, depth, features, sums));
      }
      RETURN_IF_ERROR(Flush(w, depth, features, sums));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGatheredMax = 1 << 16;

  absl::Status Flush(const C* w, int64_t depth, int64_t features, C* sums) {
    const auto rows = static_cast<int64_t>(rows_.size());
    products_.resize(static_cast<size_t>(rows * features));
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(sums + rows_[r] * features, features, products_.data() + r * features);
    RETURN_IF_ERROR(AddProduct(evaluation_, rows, features, depth, gathered_.data(), w, products_.data()));
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(products_.data() + r * features, features, sums + rows_[r] * features);
    rows_.clear();
    gathered_.clear();
    return absl::OkStatus();
  }

  Evaluation& evaluation_;
  const hlo::ConvolutionAttributes& conv_;
  const Dims in_sizes_, kernel_sizes_, out_sizes_;
  const int64_t in_features_;
  std::vector<int64_t> rows_;           // The output positions.
  std::vector<C> gathered_, products_;  // The input's features by row, and the sums.
};

template <typename C>
absl::Status ConvolveIn(Evaluation& evaluation, const hlo::ConvolutionAttributes& conv, const Literal& lhs,
                        const Literal& rhs, Literal& result) {
  const Dims &in = lhs.shape().dims, &kernel = rhs.shape().dims, &out = result.shape().dims;
  // Output features are divided into `groups` consecutive groups. They are feature groups (each reads its own
  // input features) or batch groups (each reads its own part of the batch).
  const int64_t feature_groups = conv.feature_group_count, batch_groups = conv.batch_group_count;
  const int64_t groups = std::max(feature_groups, batch_groups);
  const int64_t features = out[conv.output_feature] / groups, depth = kernel[conv.kernel_input_feature];
  const int64_t images = out[conv.output_batch], places = Count(Pick(out, conv.output_spatial));
  const int64_t kernel_places = Count(Pick(kernel, conv.kernel_spatial));
  ASSIGN_OR_RETURN(
      const std::vector<C> x,
      InOrder<C>(evaluation, lhs, Order(conv.input_batch, conv.input_spatial, conv.input_feature)));
  // A group's output features are adjacent only within the rows of [..., group, feature].
  ASSIGN_OR_RETURN(const std::vector<C> all, InOrder<C>(evaluation, rhs,
                                                        Order(conv.kernel_output_feature, conv.kernel_spatial,
                                                              conv.kernel_input_feature)));
  std::vector<C> w(all.size()), sums(result.element_count(), C{});
  const int64_t image_size = in[conv.input_feature] * Count(Pick(in, conv.input_spatial));
  const Dims grouped = {groups, kernel_places * depth, features};
  RETURN_IF_ERROR(CopyElements(evaluation, grouped, sizeof(C), reinterpret_cast<const std::byte*>(all.data()),
                               {0, {features * kernel_places * depth, 1, kernel_places * depth}},
                               reinterpret_cast<std::byte*>(w.data()), {0, hlo::RowMajorStrides(grouped)}));
  Places<C> of_kernel(evaluation, conv, in, kernel, out);
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t image = 0; image < images; ++image) {
      const int64_t from = batch_groups > 1 ? group * images + image : image;
      const C* const first = x.data() + from * image_size + (feature_groups > 1 ? group * depth : 0);
      RETURN_IF_ERROR(of_kernel.Add(first, w.data() + group * kernel_places * depth * features, depth,
                                    features, sums.data() + (group * images + image) * places * features));
    }
  }
  // Reorders [group, batch, spatial..., feature] to the dimensions of the result, whose feature is [group,
  // feature].
  std::vector<C> ordered(sums.size());
  const Dims strides = RowMajorStrides(out);
  Dims dims = {groups, images},
       target = {features * strides[conv.output_feature], strides[conv.output_batch]};
  for (const int64_t d : conv.output_spatial) {
    dims.push_back(out[d]);
    target.push_back(strides[d]);
  }
  dims.push_back(features);
  target.push_back(strides[conv.output_feature]);
  RETURN_IF_ERROR(CopyElements(evaluation, dims, sizeof(C), reinterpret_cast<const std::byte*>(sums.data()),
                               {0, RowMajorStrides(dims)}, reinterpret_cast<std::byte*>(ordered.data()),
                               {0, target}));
  StoreSums(ordered, result);
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

// Convolutions and their transposes.
#include "hlod/ops/nn/convolution.h"

#include <string>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/movement.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

hlo::ConvolutionAttributes Numbers(int64_t spatial) {
  hlo::ConvolutionAttributes numbers;
  numbers.input_feature = numbers.output_feature = numbers.kernel_input_feature = 1;
  for (int64_t i = 0; i < spatial; ++i) {
    numbers.input_spatial.push_back(i + 2);
    numbers.kernel_spatial.push_back(i + 2);
    numbers.output_spatial.push_back(i + 2);
  }
  numbers.window.resize(static_cast<size_t>(spatial));
  return numbers;
}

// Returns x with a batch dimension, and true when it already had one.
std::pair<Op, bool> WithBatch(Lowering& l, Op x, Op weight, int64_t spatial) {
  const Dims dims = l.dims(x);
  const auto rank = static_cast<int64_t>(dims.size());
  if ((rank != spatial + 2 && rank != spatial + 1) || lazy::RankOf(l, weight) != spatial + 2) {
    Refuse("shapes %s and %s are not an input and a weight for %d dimensions", ListText(dims),
           ListText(l.dims(weight)), spatial);
  }
  if (rank == spatial + 2) return {x, true};
  Dims with = dims;
  with.insert(with.begin(), 1);
  return {l.Reshape(x, with), false};
}

// Adds the bias to the channels, and removes the batch dimension that WithBatch() added.
Op Finished(Lowering& l, Op result, Operands o, bool batched) {
  if (o.size() == 3) {
    const Dims dims = l.dims(result);
    if (l.dims(o[2]) != Dims{dims[1]}) {
      Refuse("the bias's shape %s is not [%d], one number for each channel", ListText(l.dims(o[2])), dims[1]);
    }
    result = result + l.b.Broadcast(o[2], dims, {1});
  }
  if (batched) return result;
  const Dims dims = l.dims(result);
  return l.Reshape(result, Dims(dims.begin() + 1, dims.end()));
}

Op ConvOps(Lowering& l, Operands o, int64_t spatial, const ConvOptions& options) {
  auto [x, batched] = WithBatch(l, o[0], o[1], spatial);
  const Dims dims = l.dims(x), weight = l.dims(o[1]);
  hlo::ConvolutionAttributes conv = Numbers(spatial);
  conv.feature_group_count = options.groups;
  if (options.groups < 1 || weight[0] % options.groups != 0 || dims[1] % options.groups != 0 ||
      weight[1] != dims[1] / options.groups) {
    Refuse("%d channels in %d groups do not fit the weight's shape %s", dims[1], options.groups,
           ListText(weight));
  }
  const Dims stride = lazy::SizesFor(options.stride, spatial, "the stride", 1);
  const Dims dilation = lazy::SizesFor(options.dilation, spatial, "the dilation", 1);
  const Dims padding = lazy::SizesFor(options.padding, spatial, "the padding", 0);
  const std::string_view rule = options.padding.rule();
  if (!rule.empty() && rule != "valid" && rule != "same") {
    Refuse("the padding \"%s\" is neither \"valid\" nor \"same\"", std::string(rule));
  }
  for (int64_t i = 0; i < spatial; ++i) {
    hlo::WindowDimension& window = conv.window[i];
    window.size = weight[i + 2];
    window.stride = stride[i];
    window.window_dilation = dilation[i];
    window.padding_low = window.padding_high = padding[i];
    const int64_t reach = dilation[i] * (window.size - 1);
    if (rule == "same") {
      if (stride[i] != 1) Refuse("the padding \"same\" needs strides of 1, not %s", ListText(stride));
      window.padding_low = reach / 2;
      window.padding_high = reach - reach / 2;
    }
    if (dims[i + 2] + window.padding_low + window.padding_high < reach + 1) {
      Refuse("a kernel of size %d with dilation %d does not fit the padded size %d of dimension %d",
             window.size, dilation[i], dims[i + 2] + window.padding_low + window.padding_high, i + 2);
    }
  }
  return Finished(l, l.b.Convolution(x, o[1], conv), o, batched);
}

Op ConvTransposeOps(Lowering& l, Operands o, int64_t spatial, const ConvTransposeOptions& options) {
  auto [x, batched] = WithBatch(l, o[0], o[1], spatial);
  const Dims weight = l.dims(o[1]);
  const int64_t groups = options.groups;
  if (groups < 1 || weight[0] % groups != 0 || weight[0] != l.dims(x)[1]) {
    Refuse("%d channels in %d groups do not fit the weight's shape %s", l.dims(x)[1], groups,
           ListText(weight));
  }
  hlo::ConvolutionAttributes conv = Numbers(spatial);
  conv.feature_group_count = groups;
  Op kernel = o[1];
  conv.kernel_input_feature = 0;
  conv.kernel_output_feature = 1;
  if (groups > 1) {  // Reshapes [in, out / groups, ...] to [in / groups, out, ...].
    Dims split = weight, order = {1, 0, 2}, joined = weight;
    split[0] /= groups;
    split.insert(split.begin(), groups);
    for (int64_t i = 0; i < spatial; ++i) order.push_back(i + 3);
    joined[0] /= groups;
    joined[1] *= groups;
    kernel = l.Reshape(lazy::Permuted(l, l.Reshape(kernel, split), order), joined);
  }
  const Dims stride = lazy::SizesFor(options.stride, spatial, "the stride", 1);
  const Dims dilation = lazy::SizesFor(options.dilation, spatial, "the dilation", 1);
  const Dims padding = lazy::SizesFor(options.padding, spatial, "the padding", 0);
  const Dims extra = lazy::SizesFor(options.output_padding, spatial, "the output padding", 0);
  for (int64_t i = 0; i < spatial; ++i) {
    if (extra[i] >= std::max(stride[i], dilation[i])) {
      Refuse("the output padding %s must be smaller than the stride %s or the dilation %s", ListText(extra),
             ListText(stride), ListText(dilation));
    }
    hlo::WindowDimension& window = conv.window[i];
    window.size = weight[i + 2];
    window.base_dilation = stride[i];
    window.window_dilation = dilation[i];
    window.padding_low = dilation[i] * (window.size - 1) - padding[i];
    window.padding_high = window.padding_low + extra[i];
    window.reversal = true;
  }
  return Finished(l, l.b.Convolution(x, kernel, conv), o, batched);
}

// Returns a row of the table under the name of PyTorch's function for another number of dimensions.
lazy::Operation Named(const char* pytorch, lazy::Operation row) {
  row.pytorch = pytorch;
  return row;
}

template <typename Options>
Tensor Convolve(const lazy::Operation& operation, const Operand& x, const Operand& weight, const Tensor& bias,
                int64_t spatial, const Options& options,
                Op (*lower)(Lowering&, Operands, int64_t, const Options&)) {
  std::vector<Operand> operands = {x, weight};
  if (bias.defined()) operands.emplace_back(bias, x.caller());
  return lazy::Call(operation, operands,
                    [&](Lowering& l, Operands o) { return lower(l, o, spatial, options); });
}

}  // namespace

Tensor Conv1d(const Operand& x, const Operand& weight, const Tensor& bias, ConvOptions options) {
  static const lazy::Operation kOperation = Named("nn.functional.conv1d", lazy::ops::Conv);
  return Convolve(kOperation, x, weight, bias, 1, options, ConvOps);
}
Tensor Conv2d(const Operand& x, const Operand& weight, const Tensor& bias, ConvOptions options) {
  return Convolve(lazy::ops::Conv, x, weight, bias, 2, options, ConvOps);
}
Tensor Conv3d(const Operand& x, const Operand& weight, const Tensor& bias, ConvOptions options) {
  static const lazy::Operation kOperation = Named("nn.functional.conv3d", lazy::ops::Conv);
  return Convolve(kOperation, x, weight, bias, 3, options, ConvOps);
}
Tensor ConvTbc(const Operand& x, const Operand& weight, const Tensor& bias, int64_t padding) {
  static constexpr lazy::Operation kOperation = {"ConvTbc", "nn.functional.conv_tbc",
                                                 lazy::Promotion::kCommon,
                                                 "a convolution over the first dimension"};
  const auto lower = [](Lowering& l, Operands o, int64_t, const ConvOptions& options) {
    if (l.dims(o[0]).size() != 3 || l.dims(o[1]).size() != 3) {
      Refuse(
          "the input of shape %s and the weight of shape %s are not [time, batch, channels] and [kernel, "
          "in channels, out channels]",
          ListText(l.dims(o[0])), ListText(l.dims(o[1])));
    }
    std::vector<Op> usual(o.begin(), o.end());
    usual[0] = lazy::Permuted(l, o[0], {1, 2, 0});
    usual[1] = lazy::Permuted(l, o[1], {2, 1, 0});
    return lazy::Permuted(l, ConvOps(l, usual, 1, options), {2, 0, 1});
  };
  return Convolve<ConvOptions>(kOperation, x, weight, bias, 1, {.padding = padding}, lower);
}
Tensor ConvTranspose1d(const Operand& x, const Operand& weight, const Tensor& bias,
                       ConvTransposeOptions options) {
  static const lazy::Operation kOperation = Named("nn.functional.conv_transpose1d", lazy::ops::ConvTranspose);
  return Convolve(kOperation, x, weight, bias, 1, options, ConvTransposeOps);
}
Tensor ConvTranspose2d(const Operand& x, const Operand& weight, const Tensor& bias,
                       ConvTransposeOptions options) {
  return Convolve(lazy::ops::ConvTranspose, x, weight, bias, 2, options, ConvTransposeOps);
}
Tensor ConvTranspose3d(const Operand& x, const Operand& weight, const Tensor& bias,
                       ConvTransposeOptions options) {
  static const lazy::Operation kOperation = Named("nn.functional.conv_transpose3d", lazy::ops::ConvTranspose);
  return Convolve(kOperation, x, weight, bias, 3, options, ConvTransposeOps);
}

}  // namespace hlod

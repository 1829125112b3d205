// Layers: their initial values and their calls.
#include "hlod/nn/layers.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/nn/argument_checks.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/nn/distance.h"
#include "hlod/ops/nn/embedding.h"
#include "hlod/ops/nn/normalization.h"
#include "hlod/ops/random.h"
#include "hlod/tensor/autograd.h"

namespace hlod::nn {
namespace {

// PyTorch's kaiming_uniform_ with a = sqrt(5), and its bound for a bias: 1 / sqrt(fan in).
Tensor WithinFanIn(DimList dims, int64_t fan_in) {
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  return Uniform(dims, -bound, bound);
}

}  // namespace

Linear::Linear(Module& parent, PartName name, int64_t in, int64_t out, bool with_bias)
    : Module(parent, std::move(name), "linear",
             {{"in", in, Limit::kNotNegative}, {"out", out, Limit::kNotNegative}}),
      weight(WithinFanIn({out, in}, in)) {
  if (with_bias) bias = WithinFanIn({out}, in);
  RegisterParameter("weight", weight);
  RegisterParameter("bias", bias);
}
Tensor Linear::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) { return hlod::Linear(in[0], weight, bias); });
}

Embedding::Embedding(Module& parent, PartName name, int64_t count, int64_t size,
                     std::optional<int64_t> padding)
    : Module(parent, std::move(name), "embedding",
             {{"count", count, Limit::kNotNegative},
              {"size", size, Limit::kNotNegative},
              {!padding.has_value() || (*padding >= -count && *padding < count),
               absl::StrCat("padding is ", padding.value_or(0), ", which is not one of ", count, " rows")}}),
      weight(Randn({count, size})),
      padding_(padding) {
  if (padding.has_value()) weight.Select(0, *padding).Zero_();
  RegisterParameter("weight", weight);
}
Tensor Embedding::operator()(const Tensor& indices, Caller caller) const {
  return Forward(caller, {indices},
                 [&](Tensors in) { return hlod::Embedding(in[0], weight, {.padding_index = padding_}); });
}

LayerNorm::LayerNorm(Module& parent, PartName name, Dims shape, double eps, bool with_bias)
    : Module(parent, std::move(name), "layer_norm",
             {{"shape", shape, Limit::kNotNegative}, {!shape.empty(), "shape has no dimensions"}}),
      weight(Ones(shape)),
      shape_(std::move(shape)),
      eps_(eps) {
  if (with_bias) bias = Zeros(shape_);
  RegisterParameter("weight", weight);
  RegisterParameter("bias", bias);
}
Tensor LayerNorm::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) { return hlod::LayerNorm(in[0], shape_, weight, bias, eps_); });
}

RmsNorm::RmsNorm(Module& parent, PartName name, Dims shape, double eps)
    : Module(parent, std::move(name), "rms_norm",
             {{"shape", shape, Limit::kNotNegative}, {!shape.empty(), "shape has no dimensions"}}),
      weight(Ones(shape)),
      shape_(std::move(shape)),
      eps_(eps) {
  RegisterParameter("weight", weight);
}
Tensor RmsNorm::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) { return hlod::RmsNorm(in[0], shape_, weight, eps_); });
}

BatchNorm::BatchNorm(Module& parent, PartName name, int64_t channels, double eps, double momentum)
    : Module(parent, std::move(name), "batch_norm", {{"channels", channels, Limit::kNotNegative}}),
      weight(Ones({channels})),
      bias(Zeros({channels})),
      running_mean(Zeros({channels})),
      running_var(Ones({channels})),
      num_batches_tracked(Zeros({}, {.type = kS64})),
      eps_(eps),
      momentum_(momentum) {
  RegisterParameter("weight", weight);
  RegisterParameter("bias", bias);
  RegisterBuffer("running_mean", running_mean);
  RegisterBuffer("running_var", running_var);
  RegisterBuffer("num_batches_tracked", num_batches_tracked);
}
Tensor BatchNorm::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) {
    Tensor batches = num_batches_tracked;  // Shares the buffer's data.
    if (training()) batches += 1;
    return hlod::BatchNorm(in[0], running_mean, running_var, weight, bias, training(), momentum_, eps_);
  });
}

namespace {

// Returns why channels do not divide into groups; empty when they do.
std::string FaultOfGroups(int64_t in, int64_t out, int64_t groups) {
  if (groups >= 1 && in >= 1 && out >= 1 && in % groups == 0 && out % groups == 0) return "";
  return absl::StrCat("groups (", groups, ") must divide the channels in (", in, ") and out (", out,
                      "), all of them positive");
}

LayerArgument OnePerKernelDimension(const char* name, const Sizes& values, size_t dims) {
  return OneOrOnePer(name, values, static_cast<int64_t>(dims),
                     absl::StrCat("the ", dims, " dimensions of the kernel"));
}

LayerArgument OneToThree(const Dims& kernel) {
  return {!kernel.empty() && kernel.size() <= 3,
          absl::StrCat("the kernel has ", kernel.size(), " dimensions, and must have 1 to 3")};
}

// Checks PyTorch's rule of the padding "same".
LayerArgument OnlyUnstrided(const Padding& padding, const Sizes& stride) {
  const Dims& values = stride.values();
  const bool strided = std::any_of(values.begin(), values.end(), [](int64_t value) { return value != 1; });
  return {padding.rule() != "same" || !strided, "padding is \"same\", which takes a stride of 1"};
}
LayerArgument KnownRule(const Padding& padding) {
  return {padding.rule().empty() || padding.rule() == "same" || padding.rule() == "valid",
          absl::StrCat("padding is \"", std::string(padding.rule()),
                       "\", and must be \"valid\", \"same\" or sizes")};
}

LayerArgument BelowStrideOrDilation(const ConvTransposeOptions& o, size_t dims) {
  const auto at = [](const Sizes& sizes, size_t i) {
    return sizes.values()[sizes.values().size() == 1 ? 0 : i];
  };
  for (const Sizes* const sizes : {&o.output_padding, &o.stride, &o.dilation}) {
    if (sizes->values().size() != 1 && sizes->values().size() != dims)
      return {true, ""};  // OnePerKernelDimension() reports it.
  }
  for (size_t i = 0; i < dims; ++i) {
    const int64_t extra = at(o.output_padding, i);
    if (extra < std::max(at(o.stride, i), at(o.dilation, i))) continue;
    return {false,
            absl::StrCat("output_padding is ", extra, ", and must be below the stride or the dilation")};
  }
  return {true, ""};
}

// Returns a convolution's weight: `rows` x `columns` channels of each group, then the kernel.
Tensor ConvWeight(int64_t groups, int64_t rows, int64_t columns, const Dims& kernel, int64_t* fan_in) {
  Dims dims = {rows, columns / groups};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  *fan_in = dims[1];
  for (const int64_t size : kernel) *fan_in *= size;
  return WithinFanIn(dims, *fan_in);
}

}  // namespace

Conv::Conv(Module& parent, PartName name, int64_t in, int64_t out, Dims kernel, ConvOptions options,
           bool with_bias)
    : Module(parent, std::move(name), "conv",
             {OneToThree(kernel),
              {"kernel", kernel, Limit::kPositive},
              {"stride", options.stride, Limit::kPositive},
              {"padding", options.padding, Limit::kNotNegative},
              {"dilation", options.dilation, Limit::kPositive},
              OnePerKernelDimension("stride", options.stride, kernel.size()),
              OnePerKernelDimension("padding", options.padding, kernel.size()),
              OnePerKernelDimension("dilation", options.dilation, kernel.size()),
              KnownRule(options.padding),
              OnlyUnstrided(options.padding, options.stride),
              {false, FaultOfGroups(in, out, options.groups)}}),
      options_(std::move(options)) {
  int64_t fan_in = 0;
  weight = ConvWeight(options_.groups, out, in, kernel, &fan_in);
  if (with_bias) bias = WithinFanIn({out}, fan_in);
  RegisterParameter("weight", weight);
  RegisterParameter("bias", bias);
}
Tensor Conv::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) {
    switch (weight.rank()) {
      case 3: return Conv1d(in[0], weight, bias, options_);
      case 4: return Conv2d(in[0], weight, bias, options_);
      default: return Conv3d(in[0], weight, bias, options_);
    }
  });
}

ConvTranspose::ConvTranspose(Module& parent, PartName name, int64_t in, int64_t out, Dims kernel,
                             ConvTransposeOptions options, bool with_bias)
    : Module(parent, std::move(name), "conv_transpose",
             {OneToThree(kernel),
              {"kernel", kernel, Limit::kPositive},
              {"stride", options.stride, Limit::kPositive},
              {"padding", options.padding, Limit::kNotNegative},
              {"output_padding", options.output_padding, Limit::kNotNegative},
              {"dilation", options.dilation, Limit::kPositive},
              OnePerKernelDimension("stride", options.stride, kernel.size()),
              OnePerKernelDimension("padding", options.padding, kernel.size()),
              OnePerKernelDimension("output_padding", options.output_padding, kernel.size()),
              OnePerKernelDimension("dilation", options.dilation, kernel.size()),
              BelowStrideOrDilation(options, kernel.size()),
              {false, FaultOfGroups(in, out, options.groups)}}),
      options_(std::move(options)) {
  int64_t fan_in = 0;
  weight = ConvWeight(options_.groups, in, out, kernel, &fan_in);
  if (with_bias) bias = WithinFanIn({out}, fan_in);
  RegisterParameter("weight", weight);
  RegisterParameter("bias", bias);
}
Tensor ConvTranspose::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) {
    switch (weight.rank()) {
      case 3: return ConvTranspose1d(in[0], weight, bias, options_);
      case 4: return ConvTranspose2d(in[0], weight, bias, options_);
      default: return ConvTranspose3d(in[0], weight, bias, options_);
    }
  });
}

GroupNorm::GroupNorm(Module& parent, PartName name, int64_t groups, int64_t channels, double eps, bool affine)
    : Module(parent, std::move(name), "group_norm",
             {{"groups", groups, Limit::kPositive},
              {"channels", channels, Limit::kNotNegative},
              {groups <= 0 || channels % groups == 0,
               absl::StrCat("the channels (", channels, ") do not divide into ", groups, " groups")}}),
      groups_(groups),
      eps_(eps) {
  if (affine) {
    weight = Ones({channels});
    bias = Zeros({channels});
  }
  RegisterParameter("weight", weight);
  RegisterParameter("bias", bias);
}
Tensor GroupNorm::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x},
                 [&](Tensors in) { return hlod::GroupNorm(in[0], groups_, weight, bias, eps_); });
}

InstanceNorm::InstanceNorm(Module& parent, PartName name, int64_t channels, double eps, double momentum,
                           bool affine, bool track_running_stats)
    : Module(parent, std::move(name), "instance_norm", {{"channels", channels, Limit::kNotNegative}}),
      eps_(eps),
      momentum_(momentum) {
  if (affine) {
    weight = Ones({channels});
    bias = Zeros({channels});
  }
  if (track_running_stats) {
    running_mean = Zeros({channels});
    running_var = Ones({channels});
    num_batches_tracked = Zeros({}, {.type = kS64});
  }
  RegisterParameter("weight", weight);
  RegisterParameter("bias", bias);
  RegisterBuffer("running_mean", running_mean);
  RegisterBuffer("running_var", running_var);
  RegisterBuffer("num_batches_tracked", num_batches_tracked);
}
Tensor InstanceNorm::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) {
    const bool tracked = running_mean.defined();
    Tensor batches = num_batches_tracked;  // Shares the buffer's data.
    if (tracked && training()) batches += 1;
    return hlod::InstanceNorm(in[0], running_mean, running_var, weight, bias, training() || !tracked,
                              momentum_, eps_);
  });
}

EmbeddingBag::EmbeddingBag(Module& parent, PartName name, int64_t count, int64_t size, BagMode mode)
    : Module(parent, std::move(name), "embedding_bag",
             {{"count", count, Limit::kNotNegative}, {"size", size, Limit::kNotNegative}}),
      weight(Randn({count, size})),
      mode_(mode) {
  RegisterParameter("weight", weight);
}
Tensor EmbeddingBag::operator()(const Tensor& indices, const Tensor& offsets, Caller caller) const {
  return Forward(caller, {indices, offsets}, [&](Tensors in) {
    return hlod::EmbeddingBag(in[0], weight, {.mode = mode_, .offsets = in[1]});
  });
}

Bilinear::Bilinear(Module& parent, PartName name, int64_t in1, int64_t in2, int64_t out, bool with_bias)
    : Module(parent, std::move(name), "bilinear",
             {{"in1", in1, Limit::kPositive},
              {"in2", in2, Limit::kNotNegative},
              {"out", out, Limit::kNotNegative}}),
      weight(WithinFanIn({out, in1, in2}, in1)) {
  if (with_bias) bias = WithinFanIn({out}, in1);
  RegisterParameter("weight", weight);
  RegisterParameter("bias", bias);
}
Tensor Bilinear::operator()(const Tensor& x1, const Tensor& x2, Caller caller) const {
  return Forward(caller, {x1, x2}, [&](Tensors in) { return hlod::Bilinear(in[0], in[1], weight, bias); });
}

Dropout::Dropout(Module& parent, PartName name, double probability)
    : Module(parent, std::move(name), "dropout", {{"p", probability, Limit::kUpToOne}}), p(probability) {}
Tensor Dropout::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) { return hlod::Dropout(in[0], p, training()); });
}

MultiheadAttention::MultiheadAttention(Module& parent, PartName name, int64_t size, int64_t heads,
                                       bool with_bias, double dropout_p)
    : Module(parent, std::move(name), "multihead_attention",
             {{"size", size, Limit::kPositive},
              {"heads", heads, Limit::kPositive},
              {"dropout_p", dropout_p, Limit::kUpToOne},
              {heads <= 0 || size % heads == 0,
               absl::StrCat("the size (", size, ") is not a multiple of the ", heads, " heads")}}),
      out_proj(*this, Part("out_proj"), size, size, with_bias),
      dropout(dropout_p),
      heads_(heads) {
  const double bound = std::sqrt(6.0 / static_cast<double>(4 * size));  // Xavier's bound for [3 size, size].
  in_proj_weight = Uniform({3 * size, size}, -bound, bound);
  if (with_bias) {
    in_proj_bias = Zeros({3 * size});
    const NoGrad scope;
    out_proj.bias.Zero_();
  }
  RegisterParameter("in_proj_weight", in_proj_weight);
  RegisterParameter("in_proj_bias", in_proj_bias);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionOptions& options, Caller caller) const {
  return Forward(caller, {query, key, value}, [&](Tensors in) {
    const int64_t size = in_proj_weight.size(1);
    // [batch, length, size] to [batch, heads, length, size / heads].
    const auto project = [&](const Tensor& x, int64_t part) {
      const Tensor weight = in_proj_weight.Narrow(0, part * size, size);
      const Tensor bias = in_proj_bias.defined() ? in_proj_bias.Narrow(0, part * size, size) : Tensor();
      return hlod::Linear(x, weight, bias)
          .Reshape({x.size(0), x.size(1), heads_, size / heads_})
          .Transpose(1, 2);
    };
    AttentionOptions weighed = options;
    if (training()) weighed.dropout = std::max(weighed.dropout, dropout);
    const Tensor attended =
        ScaledDotProductAttention(project(in[0], 0), project(in[1], 1), project(in[2], 2), weighed);
    return out_proj(attended.Transpose(1, 2).Reshape({in[0].size(0), in[0].size(1), size}));
  });
}

}  // namespace hlod::nn

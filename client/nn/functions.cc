// The layers that are functions without weights (hlod/nn/activations.h, hlod/nn/pooling.h). Here, because
// each function that is put into a std::function costs every file that includes the header time.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/nn/argument_checks.h"
#include "hlod/nn/activations.h"
#include "hlod/nn/pooling.h"

namespace hlod::nn {

Tensor Function::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) { return call_(in[0]); });
}

Gelu::Gelu(Module& parent, PartName name, GeluApproximation approximation)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Gelu(x, approximation); }) {}

LeakyRelu::LeakyRelu(Module& parent, PartName name, double slope)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::LeakyRelu(x, slope); }) {}

Elu::Elu(Module& parent, PartName name, double alpha)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Elu(x, alpha); }) {}

Celu::Celu(Module& parent, PartName name, double alpha)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Celu(x, alpha); }, "celu",
               {{"alpha", alpha, Limit::kNotZero}}) {}

Softplus::Softplus(Module& parent, PartName name, double beta, double threshold)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Softplus(x, beta, threshold); }) {
}

Hardtanh::Hardtanh(Module& parent, PartName name, double min, double max)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Hardtanh(x, min, max); },
               "hardtanh", {{min < max, absl::StrCat("min (", min, ") is not below max (", max, ")")}}) {}

Hardshrink::Hardshrink(Module& parent, PartName name, double lambda)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Hardshrink(x, lambda); }) {}

Softshrink::Softshrink(Module& parent, PartName name, double lambda)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Softshrink(x, lambda); },
               "softshrink", {{"lambda", lambda, Limit::kNotNegative}}) {}

Threshold::Threshold(Module& parent, PartName name, Scalar threshold, Scalar value)
    : Function(parent, std::move(name),
               [=](const Tensor& x) { return hlod::Threshold(x, threshold, value); }) {}

Glu::Glu(Module& parent, PartName name, int64_t dim)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Glu(x, dim); }) {}

Softmax::Softmax(Module& parent, PartName name, int64_t dim)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Softmax(x, dim); }) {}

LogSoftmax::LogSoftmax(Module& parent, PartName name, int64_t dim)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::LogSoftmax(x, dim); }) {}

Softmin::Softmin(Module& parent, PartName name, int64_t dim)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Softmin(x, dim); }) {}
namespace {

bool AllPositive(const InterpolateOptions& options) {
  for (const double factor : options.scale_factor) {
    if (!(factor > 0)) return false;
  }
  return true;
}

}  // namespace

Upsample::Upsample(Module& parent, PartName name, InterpolateOptions options)
    : Function(parent, std::move(name), [options](const Tensor& x) { return Interpolate(x, options); },
               "upsample",
               {{options.size.has_value() == options.scale_factor.empty(),
                 "either a size or a scale_factor must be given"},
                {"size", options.size.value_or(Sizes(1)), Limit::kPositive},
                {AllPositive(options), "a scale_factor is not positive"}}) {}

PixelShuffle::PixelShuffle(Module& parent, PartName name, int64_t factor)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::PixelShuffle(x, factor); },
               "pixel_shuffle", {{"factor", factor, Limit::kPositive}}) {}

PixelUnshuffle::PixelUnshuffle(Module& parent, PartName name, int64_t factor)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::PixelUnshuffle(x, factor); },
               "pixel_unshuffle", {{"factor", factor, Limit::kPositive}}) {}

ChannelShuffle::ChannelShuffle(Module& parent, PartName name, int64_t groups)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::ChannelShuffle(x, groups); },
               "channel_shuffle", {{"groups", groups, Limit::kPositive}}) {}

Flatten::Flatten(Module& parent, PartName name, int64_t start, int64_t end)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Flatten(x, start, end); },
               "flatten",
               {{(start < 0) != (end < 0) || start <= end,
                 absl::StrCat("start (", start, ") comes after end (", end, ")")}}) {}

namespace {

LayerArgument OnePerDimension(const char* name, const Sizes& values, int64_t dims) {
  return OneOrOnePer(name, values, dims, absl::StrCat(dims, dims == 1 ? " dimension" : " dimensions"));
}

// Checks that windows begin inside the input.
LayerArgument AtMostHalf(const Sizes& kernel, const Sizes& padding) {
  const Dims &sizes = kernel.values(), &pads = padding.values();
  if (sizes.empty() || pads.empty()) return {true, ""};  // OnePerDimension() reports it.
  for (size_t i = 0; i < std::max(sizes.size(), pads.size()); ++i) {
    const int64_t size = sizes[sizes.size() == 1 ? 0 : std::min(i, sizes.size() - 1)];
    const int64_t pad = pads[pads.size() == 1 ? 0 : std::min(i, pads.size() - 1)];
    if (2 * pad > size)
      return {false,
              absl::StrCat("padding is ", pad, ", and must be at most half of the kernel size, ", size)};
  }
  return {true, ""};
}

}  // namespace

std::string PoolFault(int64_t dims, const Sizes& kernel, const std::optional<Sizes>& stride,
                      const Sizes& padding, const Sizes& dilation, std::optional<int64_t> divisor) {
  const Sizes& steps = stride.has_value() ? *stride : kernel;
  for (const LayerArgument& argument :
       {OnePerDimension("kernel", kernel, dims), LayerArgument("kernel", kernel, Limit::kPositive),
        OnePerDimension("stride", steps, dims), LayerArgument("stride", steps, Limit::kPositive),
        OnePerDimension("padding", padding, dims), LayerArgument("padding", padding, Limit::kNotNegative),
        AtMostHalf(kernel, padding), OnePerDimension("dilation", dilation, dims),
        LayerArgument("dilation", dilation, Limit::kPositive),
        LayerArgument("divisor", divisor.value_or(1), Limit::kNotZero)}) {
    if (!argument.fault().empty()) return argument.fault();
  }
  return "";
}
std::string AdaptivePoolFault(int64_t dims, const Sizes& output) {
  const LayerArgument count = OnePerDimension("output", output, dims);
  return !count.fault().empty() ? count.fault()
                                : LayerArgument("output", output, Limit::kFromMinusOne).fault();
}

Identity::Identity(Module& parent, PartName name)
    : Function(parent, std::move(name), [](const Tensor& x) { return x; }) {}
}  // namespace hlod::nn

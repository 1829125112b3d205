// Layers without weights that change the sizes of images: pooling, resizing, flattening.
#pragma once

#include <string>
#include <utility>

#include "hlod/nn/activations.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/channel_shuffle.h"
#include "hlod/ops/nn/interpolation.h"
#include "hlod/ops/nn/pooling.h"
#include "hlod/ops/shape.h"

namespace hlod::nn {

// Return why the arguments of a pooling layer over `dims` dimensions are refused; empty when they are not.
std::string PoolFault(int64_t dims, const Sizes& kernel, const std::optional<Sizes>& stride,
                      const Sizes& padding, const Sizes& dilation, std::optional<int64_t> divisor);
inline std::string PoolFault(int64_t dims, const Sizes& kernel, const MaxPoolOptions& o) {
  return PoolFault(dims, kernel, o.stride, o.padding, o.dilation, {});
}
inline std::string PoolFault(int64_t dims, const Sizes& kernel, const AvgPoolOptions& o) {
  return PoolFault(dims, kernel, o.stride, o.padding, 1, o.divisor);
}
std::string AdaptivePoolFault(int64_t dims, const Sizes& output);

// A layer that is a pooling function with its kernel and options.
template <int64_t kDims, typename Options, Tensor (*kFunction)(const Operand&, Sizes, Options)>
class Pool : public Module {
 public:
  Pool(Module& parent, PartName name, Sizes kernel, Options options = {})
      : Module(parent, std::move(name), "pool", {{false, PoolFault(kDims, kernel, options)}}),
        kernel_(std::move(kernel)),
        options_(std::move(options)) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return kFunction(in[0], kernel_, options_); });
  }

 private:
  Sizes kernel_;
  Options options_;
};
using MaxPool1d = Pool<1, MaxPoolOptions, &hlod::MaxPool1d>;
using MaxPool2d = Pool<2, MaxPoolOptions, &hlod::MaxPool2d>;
using MaxPool3d = Pool<3, MaxPoolOptions, &hlod::MaxPool3d>;
using AvgPool1d = Pool<1, AvgPoolOptions, &hlod::AvgPool1d>;
using AvgPool2d = Pool<2, AvgPoolOptions, &hlod::AvgPool2d>;
using AvgPool3d = Pool<3, AvgPoolOptions, &hlod::AvgPool3d>;

template <int64_t kDims, Tensor (*kFunction)(const Operand&, Sizes)>
class AdaptiveAvgPool : public Module {
 public:
  AdaptiveAvgPool(Module& parent, PartName name, Sizes output)
      : Module(parent, std::move(name), "adaptive_pool", {{false, AdaptivePoolFault(kDims, output)}}),
        output_(std::move(output)) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return kFunction(in[0], output_); });
  }

 private:
  Sizes output_;
};
using AdaptiveAvgPool1d = AdaptiveAvgPool<1, &hlod::AdaptiveAvgPool1d>;
using AdaptiveAvgPool2d = AdaptiveAvgPool<2, &hlod::AdaptiveAvgPool2d>;
using AdaptiveAvgPool3d = AdaptiveAvgPool<3, &hlod::AdaptiveAvgPool3d>;

template <int64_t kDims, ValuesAndIndices (*kFunction)(const Operand&, Sizes)>
class AdaptiveMaxPool : public Module {
 public:
  AdaptiveMaxPool(Module& parent, PartName name, Sizes output)
      : Module(parent, std::move(name), "adaptive_pool", {{false, AdaptivePoolFault(kDims, output)}}),
        output_(std::move(output)) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return kFunction(in[0], output_).values; });
  }

 private:
  Sizes output_;
};
using AdaptiveMaxPool1d = AdaptiveMaxPool<1, &hlod::AdaptiveMaxPool1d>;
using AdaptiveMaxPool2d = AdaptiveMaxPool<2, &hlod::AdaptiveMaxPool2d>;
using AdaptiveMaxPool3d = AdaptiveMaxPool<3, &hlod::AdaptiveMaxPool3d>;

struct Upsample : Function {
  Upsample(Module& parent, PartName name, InterpolateOptions options);
};
struct PixelShuffle : Function {
  PixelShuffle(Module& parent, PartName name, int64_t factor);
};
struct PixelUnshuffle : Function {
  PixelUnshuffle(Module& parent, PartName name, int64_t factor);
};
struct ChannelShuffle : Function {
  ChannelShuffle(Module& parent, PartName name, int64_t groups);
};
// Joins all dimensions from `start` on into one; the default keeps the batch dimension.
struct Flatten : Function {
  Flatten(Module& parent, PartName name, int64_t start = 1, int64_t end = -1);
};
struct Identity : Function {
  Identity(Module& parent, PartName name);
};

}  // namespace hlod::nn

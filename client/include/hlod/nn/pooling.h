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

// A layer that is a pooling function with its kernel and options.
template <typename Options, Tensor (*kFunction)(const Operand&, Sizes, Options)>
class Pool : public Module {
 public:
  Pool(Module& parent, std::string name, Sizes kernel, Options options = {})
      : Module(parent, std::move(name)), kernel_(std::move(kernel)), options_(std::move(options)) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return kFunction(in[0], kernel_, options_); });
  }

 private:
  Sizes kernel_;
  Options options_;
};
using MaxPool1d = Pool<MaxPoolOptions, &hlod::MaxPool1d>;
using MaxPool2d = Pool<MaxPoolOptions, &hlod::MaxPool2d>;
using MaxPool3d = Pool<MaxPoolOptions, &hlod::MaxPool3d>;
using AvgPool1d = Pool<AvgPoolOptions, &hlod::AvgPool1d>;
using AvgPool2d = Pool<AvgPoolOptions, &hlod::AvgPool2d>;
using AvgPool3d = Pool<AvgPoolOptions, &hlod::AvgPool3d>;

template <Tensor (*kFunction)(const Operand&, Sizes)>
class AdaptiveAvgPool : public Module {
 public:
  AdaptiveAvgPool(Module& parent, std::string name, Sizes output)
      : Module(parent, std::move(name)), output_(std::move(output)) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return kFunction(in[0], output_); });
  }

 private:
  Sizes output_;
};
using AdaptiveAvgPool1d = AdaptiveAvgPool<&hlod::AdaptiveAvgPool1d>;
using AdaptiveAvgPool2d = AdaptiveAvgPool<&hlod::AdaptiveAvgPool2d>;
using AdaptiveAvgPool3d = AdaptiveAvgPool<&hlod::AdaptiveAvgPool3d>;

template <ValuesAndIndices (*kFunction)(const Operand&, Sizes)>
class AdaptiveMaxPool : public Module {
 public:
  AdaptiveMaxPool(Module& parent, std::string name, Sizes output)
      : Module(parent, std::move(name)), output_(std::move(output)) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return kFunction(in[0], output_).values; });
  }

 private:
  Sizes output_;
};
using AdaptiveMaxPool1d = AdaptiveMaxPool<&hlod::AdaptiveMaxPool1d>;
using AdaptiveMaxPool2d = AdaptiveMaxPool<&hlod::AdaptiveMaxPool2d>;
using AdaptiveMaxPool3d = AdaptiveMaxPool<&hlod::AdaptiveMaxPool3d>;

struct Upsample : Function {
  Upsample(Module& parent, std::string name, InterpolateOptions options);
};
struct PixelShuffle : Function {
  PixelShuffle(Module& parent, std::string name, int64_t factor);
};
struct PixelUnshuffle : Function {
  PixelUnshuffle(Module& parent, std::string name, int64_t factor);
};
struct ChannelShuffle : Function {
  ChannelShuffle(Module& parent, std::string name, int64_t groups)
      : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::ChannelShuffle(x, groups); }) {}
};
// Joins all dimensions from `start` on into one; the default keeps the batch dimension.
struct Flatten : Function {
  Flatten(Module& parent, std::string name, int64_t start = 1, int64_t end = -1);
};
struct Identity : Function {
  Identity(Module& parent, std::string name);
};

}  // namespace hlod::nn

// Layers, initialised as PyTorch initialises them. Each is a C++ member of the module that contains it, and
// is called like a function. Weights are made on the host when they are first used, or on a device when
// To(device) comes first.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hlod/nn/module.h"
#include "hlod/ops/nn/attention.h"
#include "hlod/ops/nn/convolution.h"
#include "hlod/ops/nn/dropout.h"
#include "hlod/ops/nn/embedding.h"

namespace hlod::nn {

// x weight^T + bias: weight [out, in], bias [out], both uniform within 1 / sqrt(in).
class Linear : public Module {
 public:
  Linear(Module& parent, PartName name, int64_t in, int64_t out, bool with_bias = true);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;
  Tensor weight, bias;
};

// Rows of a table by index: weight [count, size], normal. The row `padding`, when given, is zero at first.
class Embedding : public Module {
 public:
  Embedding(Module& parent, PartName name, int64_t count, int64_t size, std::optional<int64_t> padding = {});
  Tensor operator()(const Tensor& indices, Caller caller = Caller::Here()) const;
  Tensor weight;

 private:
  std::optional<int64_t> padding_;
};

// Normalisation over the last dimensions, of sizes `shape`: weight one, bias zero.
class LayerNorm : public Module {
 public:
  LayerNorm(Module& parent, PartName name, Dims shape, double eps = 1e-5, bool with_bias = true);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;
  Tensor weight, bias;

 private:
  Dims shape_;
  double eps_;
};

// x / sqrt(mean(x x) + eps) weight over the last dimensions.
class RmsNorm : public Module {
 public:
  RmsNorm(Module& parent, PartName name, Dims shape, double eps = 1e-6);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;
  Tensor weight;

 private:
  Dims shape_;
  double eps_;
};

// Normalises each channel (dimension 1) over all other dimensions, for any rank. Training uses the batch's
// statistics and updates the buffers running_mean and running_var; evaluation uses the buffers.
class BatchNorm : public Module {
 public:
  BatchNorm(Module& parent, PartName name, int64_t channels, double eps = 1e-5, double momentum = 0.1);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;  // Updates the buffers in place.
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 private:
  double eps_, momentum_;
};

// Normalisation over each of `groups` groups of channels of each example: weight one, bias zero.
class GroupNorm : public Module {
 public:
  GroupNorm(Module& parent, PartName name, int64_t groups, int64_t channels, double eps = 1e-5,
            bool affine = true);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;
  Tensor weight, bias;

 private:
  int64_t groups_;
  double eps_;
};

// Normalisation of each channel of each example; weights and running statistics only when asked for.
class InstanceNorm : public Module {
 public:
  InstanceNorm(Module& parent, PartName name, int64_t channels, double eps = 1e-5, double momentum = 0.1,
               bool affine = false, bool track_running_stats = false);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;  // Updates the buffers in place.
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 private:
  double eps_, momentum_;
};

// Convolution over 1 to 3 dimensions, one per size of `kernel`: weight [out, in / groups, kernel...],
// uniform within 1 / sqrt(in / groups * kernel).
class Conv : public Module {
 public:
  Conv(Module& parent, PartName name, int64_t in, int64_t out, Dims kernel, ConvOptions options = {},
       bool with_bias = true);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;
  Tensor weight, bias;

 private:
  ConvOptions options_;
};

// The transpose of a convolution: weight [in, out / groups, kernel...], uniform within 1 / sqrt(out / groups
// * kernel).
class ConvTranspose : public Module {
 public:
  ConvTranspose(Module& parent, PartName name, int64_t in, int64_t out, Dims kernel,
                ConvTransposeOptions options = {}, bool with_bias = true);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;
  Tensor weight, bias;

 private:
  ConvTransposeOptions options_;
};

// Bags of rows of a table: weight [count, size], normal.
class EmbeddingBag : public Module {
 public:
  EmbeddingBag(Module& parent, PartName name, int64_t count, int64_t size, BagMode mode = BagMode::kMean);
  // Each row of a matrix of indices is a bag. A vector of indices is split into bags at the offsets.
  Tensor operator()(const Tensor& indices, const Tensor& offsets = {}, Caller caller = Caller::Here()) const;
  Tensor weight;

 private:
  BagMode mode_;
};

// x1 weight[k] x2 + bias[k]: weight [out, in1, in2], all uniform within 1 / sqrt(in1).
class Bilinear : public Module {
 public:
  Bilinear(Module& parent, PartName name, int64_t in1, int64_t in2, int64_t out, bool with_bias = true);
  Tensor operator()(const Tensor& x1, const Tensor& x2, Caller caller = Caller::Here()) const;
  Tensor weight, bias;
};

// While training, elements are zero with probability p and the others grow by 1 / (1 - p). p may change from
// call to call: after its first change it is sent as an argument, so a schedule of p compiles only twice.
class Dropout : public Module {
 public:
  Dropout(Module& parent, PartName name, double probability = 0.5);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;
  double p;
};

// Dropout by another rule: of whole channels (Dropout1d to 3d), or with values that keep mean and variance
// (AlphaDropout, FeatureAlphaDropout).
template <Tensor (*kFunction)(const Operand&, double, bool)>
class DropoutBy : public Module {
 public:
  DropoutBy(Module& parent, PartName name, double probability = 0.5)
      : Module(parent, std::move(name), "dropout", {{"p", probability, Limit::kUpToOne}}), p(probability) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return kFunction(in[0], p, training()); });
  }
  double p;
};
using Dropout1d = DropoutBy<&hlod::Dropout1d>;
using Dropout2d = DropoutBy<&hlod::Dropout2d>;
using Dropout3d = DropoutBy<&hlod::Dropout3d>;
using AlphaDropout = DropoutBy<&hlod::AlphaDropout>;
using FeatureAlphaDropout = DropoutBy<&hlod::FeatureAlphaDropout>;

// Attention with `heads` heads of size / heads each over [batch, length, size]: projections in_proj_weight
// [3 size, size] (Xavier uniform) and out_proj. torch.nn.MultiheadAttention with batch_first.
class MultiheadAttention : public Module {
 public:
  MultiheadAttention(Module& parent, PartName name, int64_t size, int64_t heads, bool with_bias = true,
                     double dropout_p = 0);
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                    const AttentionOptions& options = {}, Caller caller = Caller::Here()) const;
  Tensor in_proj_weight, in_proj_bias;
  Linear out_proj;
  double dropout;  // The dropout of the attention weights while training; may change as Dropout::p may.

 private:
  int64_t heads_;
};

// Layers and functions one after another; layers are named by their place, "0", "1", ...
//   nn::Sequential net{*this, "net"};  net.Add<nn::Linear>(64, 128).Add(Relu).Add<nn::Linear>(128, 10);
class Sequential : public Module {
 public:
  using Module::Module;

  template <typename Layer, typename... Args>
  Sequential& Add(Args&&... args) {
    const CallerScope scope(Caller{});  // Errors name no line: none is known here.
    auto layer = std::make_unique<Layer>(*this, PartName(std::to_string(steps_.size()), Caller{}),
                                         std::forward<Args>(args)...);
    steps_.push_back([layer = layer.get()](const Tensor& x) { return (*layer)(x); });
    layers_.push_back(std::move(layer));
    return *this;
  }
  Sequential& Add(std::function<Tensor(const Tensor&)> function) {
    steps_.push_back(std::move(function));
    return *this;
  }
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) {
      Tensor y = in[0];
      for (const auto& step : steps_) y = step(y);
      return y;
    });
  }

 private:
  std::vector<std::function<Tensor(const Tensor&)>> steps_;
  std::vector<std::unique_ptr<Module>> layers_;
};

}  // namespace hlod::nn

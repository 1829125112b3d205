// Layers without weights that are functions of each element or of one dimension.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hlod/nn/module.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/activation.h"
#include "hlod/ops/nn/softmax.h"

namespace hlod::nn {

// A layer that is a function.
class Function : public Module {
 public:
  using Call = std::function<Tensor(const Tensor&)>;
  Function(Module& parent, PartName name, Call call)
      : Module(parent, std::move(name)), call_(std::move(call)) {}
  // For layers whose arguments have limits, as Module has it.
  Function(Module& parent, PartName name, Call call, const char* layer,
           std::initializer_list<LayerArgument> arguments)
      : Module(parent, std::move(name), layer, arguments), call_(std::move(call)) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;

 private:
  Call call_;
};

template <Tensor (*kFunction)(const Operand&)>
class Elementwise : public Module {
 public:
  using Module::Module;
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return kFunction(in[0]); });
  }
};
using Relu = Elementwise<&hlod::Relu>;
using Relu6 = Elementwise<&hlod::Relu6>;
using Selu = Elementwise<&hlod::Selu>;
using Silu = Elementwise<&hlod::Silu>;
using Mish = Elementwise<&hlod::Mish>;
using Sigmoid = Elementwise<&hlod::Sigmoid>;
using LogSigmoid = Elementwise<&hlod::Logsigmoid>;
using Tanh = Elementwise<&hlod::Tanh>;
using Softsign = Elementwise<&hlod::Softsign>;
using Tanhshrink = Elementwise<&hlod::Tanhshrink>;
using Hardsigmoid = Elementwise<&hlod::Hardsigmoid>;
using Hardswish = Elementwise<&hlod::Hardswish>;

struct Gelu : Function {
  Gelu(Module& parent, PartName name, GeluApproximation approximation = GeluApproximation::kNone);
};
struct LeakyRelu : Function {
  LeakyRelu(Module& parent, PartName name, double slope = 0.01);
};
struct Elu : Function {
  Elu(Module& parent, PartName name, double alpha = 1);
};
struct Celu : Function {
  Celu(Module& parent, PartName name, double alpha = 1);
};
struct Softplus : Function {
  Softplus(Module& parent, PartName name, double beta = 1, double threshold = 20);
};
struct Hardtanh : Function {
  Hardtanh(Module& parent, PartName name, double min = -1, double max = 1);
};
struct Hardshrink : Function {
  Hardshrink(Module& parent, PartName name, double lambda = 0.5);
};
struct Softshrink : Function {
  Softshrink(Module& parent, PartName name, double lambda = 0.5);
};
struct Threshold : Function {
  Threshold(Module& parent, PartName name, Scalar threshold, Scalar value);
};
struct Glu : Function {
  Glu(Module& parent, PartName name, int64_t dim = -1);
};
struct Softmax : Function {
  Softmax(Module& parent, PartName name, int64_t dim);
};
struct LogSoftmax : Function {
  LogSoftmax(Module& parent, PartName name, int64_t dim);
};
struct Softmin : Function {
  Softmin(Module& parent, PartName name, int64_t dim);
};

// x where it is positive, else x times a learned slope: one for all channels, or one per channel. Slopes
// begin as `slope`.
class Prelu : public Module {
 public:
  Prelu(Module& parent, PartName name, int64_t count = 1, double slope = 0.25);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return hlod::Prelu(in[0], weight); });
  }
  Tensor weight;
};

// x where it is positive, else x times a slope: while training a random one per element, otherwise the mean
// of the bounds.
class Rrelu : public Module {
 public:
  Rrelu(Module& parent, PartName name, double lower = 1.0 / 8, double upper = 1.0 / 3);
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](Tensors in) { return hlod::Rrelu(in[0], lower_, upper_, training()); });
  }

 private:
  double lower_, upper_;
};

}  // namespace hlod::nn

// Normalisation: statistics are computed in f32 at least and rounded once at the end.
#include "hlod/ops/nn/normalization.h"

#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/pooling.h"
#include "hlod/ops/reduction.h"
#include "hlod/tensor/autograd.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

PrimitiveType Wide(Lowering& l, Op x) {
  const PrimitiveType type = l.type(x);
  if (!hlo::IsFloat(type)) Refuse("a tensor of a floating type is needed, not of %s", hlo::Name(type));
  return hlo::Info(type).bits < 32 ? hlo::kF32 : type;
}

Dims OtherDims(int64_t rank, const Dims& dims) {
  Dims others;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(dims.begin(), dims.end(), i) == dims.end()) others.push_back(i);
  }
  return others;
}

double CountOf(Lowering& l, Op x, const Dims& dims) {
  double count = 1;
  for (const int64_t dim : dims) count *= static_cast<double>(l.dims(x)[dim]);
  return count;
}

Op MeanOver(Lowering& l, Op x, const Dims& dims) {
  return l.Reduce(hlo::kAdd, x, dims) / l.Number(l.type(x), CountOf(l, x, dims));
}

Op Rsqrt(Lowering& l, Op x, double eps) {
  return l.b.Unary(hlo::kRsqrt, x + l.Setting(l.type(x), eps, "eps"));
}

struct NormMoments {
  Op centred;    // x minus its mean.
  Op mean, var;  // Without the reduced dimensions.
};

NormMoments MomentsOver(Lowering& l, Op x, const Dims& dims) {
  const Dims kept = OtherDims(lazy::RankOf(l, x), dims);
  NormMoments moments;
  moments.mean = MeanOver(l, x, dims);
  moments.centred = x - l.b.Broadcast(moments.mean, l.dims(x), kept);
  moments.var = MeanOver(l, moments.centred * moments.centred, dims);
  return moments;
}

// Returns x weight + bias, each along `dims` of x. The operands behind the first are the defined ones of the
// two.
Op Affine(Lowering& l, Op x, Operands o, bool weight, bool bias, const Dims& dims) {
  const Dims shape = l.dims(x);
  size_t next = 1;
  const auto along = [&](const char* name) {
    Dims expected;
    for (const int64_t dim : dims) expected.push_back(shape[dim]);
    const Op operand = o[next++];
    if (l.dims(operand) != expected) {
      Refuse("the %s's shape %s is not %s", name, ListText(l.dims(operand)), ListText(expected));
    }
    return l.b.Broadcast(l.Convert(operand, l.type(x)), shape, dims);
  };
  if (weight) x = x * along("weight");
  if (bias) x = x + along("bias");
  return x;
}

std::vector<Operand> With(const Operand& x, std::initializer_list<const Tensor*> optional) {
  std::vector<Operand> operands = {x};
  for (const Tensor* tensor : optional) {
    if (tensor->defined()) operands.emplace_back(*tensor, x.caller());
  }
  return operands;
}

// Returns the last dimensions of x. Refuses x unless they have the sizes in `shape`.
Dims LastDims(Lowering& l, Op x, DimList shape) {
  const Dims dims = l.dims(x);
  const size_t rank = dims.size();
  if (shape.empty() || shape.size() > rank ||
      !std::equal(shape.begin(), shape.end(), dims.end() - shape.size())) {
    Refuse("the last sizes of shape %s are not %s", ListText(dims), ListText(shape));
  }
  Dims last;
  for (size_t i = rank - shape.size(); i < rank; ++i) last.push_back(static_cast<int64_t>(i));
  return last;
}

// Returns all dimensions but the channels'.
Dims ChannelsOf(Lowering& l, Op x) {
  if (l.dims(x).size() < 2) Refuse("shape %s is not [batch, channels, ...]", ListText(l.dims(x)));
  return OtherDims(lazy::RankOf(l, x), {1});
}

// Returns the centred x divided by the square root of the variance over `dims`.
Op Scaled(Lowering& l, const NormMoments& moments, double eps, const Dims& dims) {
  const Dims shape = l.dims(moments.centred);
  const Dims kept = OtherDims(static_cast<int64_t>(shape.size()), dims);
  return moments.centred * l.b.Broadcast(Rsqrt(l, moments.var, eps), shape, kept);
}

}  // namespace

Tensor LayerNorm(const Operand& x, DimList shape, const Tensor& weight, const Tensor& bias, double eps) {
  return lazy::Call(lazy::ops::LayerNorm, With(x, {&weight, &bias}), [&](Lowering& l, Operands o) {
    const Op in = l.Convert(o[0], Wide(l, o[0]));
    const Dims last = LastDims(l, in, shape);
    const Op normal = Scaled(l, MomentsOver(l, in, last), eps, last);
    return l.Convert(Affine(l, normal, o, weight.defined(), bias.defined(), last), l.type(o[0]));
  });
}

NormalizationResult NativeLayerNorm(const Operand& x, DimList shape, const Tensor& weight, const Tensor& bias,
                                    double eps) {
  std::vector<Tensor> results =
      lazy::CallSeveral(lazy::ops::LayerNorm, With(x, {&weight, &bias}), [&](Lowering& l, Operands o) {
        const Op in = l.Convert(o[0], Wide(l, o[0]));
        const Dims last = LastDims(l, in, shape);
        const NormMoments moments = MomentsOver(l, in, last);
        Dims kept = l.dims(in);
        for (const int64_t dim : last) kept[dim] = 1;
        const Op out = Affine(l, Scaled(l, moments, eps, last), o, weight.defined(), bias.defined(), last);
        const PrimitiveType type = l.type(o[0]);
        // Gradients flow through the first result alone, as in PyTorch.
        const auto data = [&](Op x) { return lazy::StopGradient(l, l.Convert(l.Reshape(x, kept), type)); };
        return std::vector<Op>{l.Convert(out, type), data(moments.mean), data(Rsqrt(l, moments.var, eps))};
      });
  return {results[0], results[1], results[2]};
}

Tensor RmsNorm(const Operand& x, DimList shape, const Tensor& weight, double eps) {
  return lazy::Call(lazy::ops::RmsNorm, With(x, {&weight}), [&](Lowering& l, Operands o) {
    const Op in = l.Convert(o[0], Wide(l, o[0]));
    const Dims last = LastDims(l, in, shape), kept = OtherDims(lazy::RankOf(l, in), last);
    const Op root = Rsqrt(l, MeanOver(l, in * in, last), eps);
    const Op normal = in * l.b.Broadcast(root, l.dims(in), kept);
    return l.Convert(Affine(l, normal, o, weight.defined(), false, last), l.type(o[0]));
  });
}

Tensor GroupNorm(const Operand& x, int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  return lazy::Call(lazy::ops::GroupNorm, With(x, {&weight, &bias}), [&](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[0]);
    if (dims.size() < 2 || groups < 1 || dims[1] % groups != 0) {
      Refuse("the channels of shape %s do not divide into %d groups", ListText(dims), groups);
    }
    const int64_t inner = lazy::Count(dims) == 0 ? 0 : lazy::Count(dims) / (dims[0] * groups);
    const Op in = l.Reshape(l.Convert(o[0], Wide(l, o[0])), {dims[0], groups, inner});
    const Op normal = l.Reshape(Scaled(l, MomentsOver(l, in, {2}), eps, {2}), dims);
    return l.Convert(Affine(l, normal, o, weight.defined(), bias.defined(), {1}), l.type(o[0]));
  });
}

Tensor InstanceNorm(const Operand& x, const Tensor& weight, const Tensor& bias, double eps) {
  const CallerScope scope(x.caller());
  const Tensor& tensor = lazy::TensorOf(lazy::ops::GroupNorm, x);
  return GroupNorm(x, tensor.rank() < 2 ? 1 : tensor.dims()[1], weight, bias, eps);
}

Tensor InstanceNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                    const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum,
                    double eps) {
  const CallerScope scope(x.caller());
  if (!use_input_stats) return BatchNorm(x, running_mean, running_var, weight, bias, false, momentum, eps);
  const Tensor result = InstanceNorm(x, weight, bias, eps);
  if (!running_mean.defined() && !running_var.defined()) return result;
  const Tensor& in = lazy::TensorOf(lazy::ops::GroupNorm, x);
  Dims spatial;
  int64_t count = 1;
  for (int64_t i = 2; i < in.rank(); ++i) {
    spatial.push_back(i);
    count *= in.dims()[i];
  }
  if (count < 2) {  // The variance of one value is not a number, and would stay in the running statistics.
    throw Error(MakeError(ErrorKind::kArgument,
                          "running statistics need more than one value for each channel "
                          "of an example; the shape is " +
                              ListText(in.dims())),
                "nn.functional.instance_norm", x.caller());
  }
  const auto [var, mean] = VarMean(x, spatial);
  const Dims batch = {0};
  const auto update = [&](const Tensor& running, const Tensor& each) {
    if (!running.defined()) return;
    Tensor target = running;
    target.Copy_(running * (1 - momentum) + Mean(each, batch) * momentum);
  };
  update(running_mean, mean);
  update(running_var, var);
  return result;
}

namespace {

// Normalises by the running statistics. The other results are empty.
NormalizationResult InferenceNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                                  const Tensor& weight, const Tensor& bias, double eps) {
  const bool affine[] = {weight.defined(), bias.defined()};
  const std::vector<Operand> operands = With(x, {&weight, &bias, &running_mean, &running_var});
  std::vector<Tensor> results =
      lazy::CallSeveral(lazy::ops::BatchNorm, operands, [&](Lowering& l, Operands o) {
        ChannelsOf(l, o[0]);
        if (!running_mean.defined() || !running_var.defined()) {
          Refuse("outside training the running mean and variance are needed");
        }
        const Op in = l.Convert(o[0], Wide(l, o[0]));
        const Dims dims = l.dims(in);
        const Op mean = l.Convert(o[o.size() - 2], l.type(in)), var = l.Convert(o[o.size() - 1], l.type(in));
        if (l.dims(mean) != Dims{dims[1]} || l.dims(var) != Dims{dims[1]}) {
          Refuse("running statistics of shapes %s and %s are not one number for each of %d channels",
                 ListText(l.dims(mean)), ListText(l.dims(var)), dims[1]);
        }
        const Op centred = in - l.b.Broadcast(mean, dims, {1});
        const Op normal = centred * l.b.Broadcast(Rsqrt(l, var, eps), dims, {1});
        // Statistics of the batch are not computed.
        const auto none = [&] { return l.Full(l.type(o[0]), {0}, 0); };
        return std::vector<Op>{l.Convert(Affine(l, normal, o, affine[0], affine[1], {1}), l.type(o[0])),
                               none(), none()};
      });
  return {results[0], results[1], results[2]};
}

}  // namespace

NormalizationResult NativeBatchNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                                    const Tensor& weight, const Tensor& bias, bool training, double momentum,
                                    double eps) {
  if (!training) return InferenceNorm(x, running_mean, running_var, weight, bias, eps);
  const std::vector<Tensor> results =
      lazy::CallSeveral(lazy::ops::BatchNorm, With(x, {&weight, &bias}), [&](Lowering& l, Operands o) {
        const Op in = l.Convert(o[0], Wide(l, o[0]));
        const Dims dims = ChannelsOf(l, in);
        const double count = CountOf(l, in, dims);
        if (count == 1) {
          Refuse("training needs more than one value for each channel; the shape is %s",
                 ListText(l.dims(in)));
        }
        const NormMoments moments = MomentsOver(l, in, dims);
        const Op normal = Scaled(l, moments, eps, dims);
        const Op out = Affine(l, normal, o, weight.defined(), bias.defined(), {1});
        // The running variance estimates that of the population, with Bessel's correction.
        const auto data = [&](Op x) { return lazy::StopGradient(l, x); };
        return std::vector<Op>{l.Convert(out, l.type(o[0])), data(moments.mean),
                               data(moments.var * l.Number(l.type(in), count / (count - 1))),
                               data(Rsqrt(l, moments.var, eps))};
      });
  const auto update = [&](const Tensor& running, const Tensor& batch) {
    if (!running.defined()) return;
    const NoGrad scope;  // The statistics are not differentiated.
    Tensor target = running;
    const Operand operands[] = {Operand(target, x.caller()), Operand(batch, x.caller())};
    lazy::CallInPlace(lazy::ops::BatchNorm, target, operands, [&](Lowering& l, Operands o) {
      const PrimitiveType type = l.type(o[0]);
      return o[0] * l.Setting(type, 1 - momentum, "kept") +
             l.Convert(o[1], type) * l.Setting(type, momentum, "momentum");
    });
  };
  // A batch without elements has no statistics.
  if (results[0].numel() > 0) {
    update(running_mean, results[1]);
    update(running_var, results[2]);
  }
  return {results[0], results[1], results[3]};
}

Tensor BatchNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                 const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps) {
  const CallerScope scope(x.caller());
  // Without elements the channels are not checked.
  const Tensor& in = lazy::TensorOf(lazy::ops::BatchNorm, x);
  if (in.numel() == 0 && in.rank() < 2) return in.Clone(x.caller());
  return NativeBatchNorm(x, running_mean, running_var, weight, bias, training, momentum, eps).output;
}

// Divides x by (k + alpha mean)^beta, where the mean is over the squares of `size` neighbouring channels;
// channels beyond the ends count as 0.
Tensor LocalResponseNorm(const Operand& x, int64_t size, double alpha, double beta, double k) {
  const CallerScope scope(x.caller());
  const Tensor& in = lazy::TensorOf(lazy::ops::AvgPool, x);
  const Dims dims = in.dims();
  lazy::Explain(lazy::ops::AvgPool, {&x, 1}, x.caller(), [&] {
    if (dims.size() < 3) Refuse("shape %s is not [batch, channels, ...]", ListText(dims));
    if (size < 1) Refuse("the size (%d) must be at least 1", size);
  });
  if (in.numel() == 0) return in;
  const Tensor squares = Mul(x, x).Reshape({dims[0], 1, dims[1], in.numel() / dims[0] / dims[1]});
  const Tensor padded = Pad(squares, {0, 0, size / 2, (size - 1) / 2});
  const Tensor means = AvgPool2d(padded, {size, 1}, {.stride = 1}).Reshape(dims);
  return Div(x, Pow(means * alpha + k, beta));
}

}  // namespace hlod

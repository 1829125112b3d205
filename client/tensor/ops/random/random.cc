// Uniform, normal and integer random tensors, bernoulli, multinomial.
#include "hlod/ops/random.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/random/random.h"
#include "client/tensor/ops/reduction/scan.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/numbers.h"

namespace hlod {

using lazy::DrawFor;
using lazy::Lowering;
using lazy::NormalOps;
using lazy::Op;
using lazy::Operands;
using lazy::RandomFloats;
using lazy::RandomState;
using lazy::Refuse;

// The Box-Muller transform: sqrt(-2 ln(1 - u)) cos(2 pi v). u is below 1, so the logarithm is finite.
Op lazy::NormalOps(Lowering& l, RandomState state, PrimitiveType type, const Dims& shape) {
  const PrimitiveType compute = type == hlo::kF64 ? hlo::kF64 : hlo::kF32;
  Dims pair = {2};
  pair.insert(pair.end(), shape.begin(), shape.end());
  const Op both = lazy::RandomUniform(l, state, compute, pair);
  const Op u = l.Reshape(lazy::SliceDim(l, both, 0, 0, 1), shape);
  const Op v = l.Reshape(lazy::SliceDim(l, both, 0, 1, 2), shape);
  const Op radius =
      l.b.Unary(hlo::kSqrt, l.b.Unary(hlo::kLog, l.Number(compute, 1) - u) * l.Number(compute, -2));
  const Op angle = v * l.Number(compute, 2 * std::numbers::pi);
  return l.Convert(radius * l.b.Unary(hlo::kCosine, angle), type);
}

Op lazy::GumbelOps(Lowering& l, Op uniform) {
  const PrimitiveType type = l.type(uniform);
  const double least =
      type == hlo::kF64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const Op inside = l.b.Binary(hlo::kMaximum, uniform, l.Full(type, l.dims(uniform), least));
  const auto minus_log = [&](Op x) { return l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kLog, x)); };
  return minus_log(minus_log(inside));
}

namespace {

Op BernoulliOps(Lowering& l, Op p, PrimitiveType type) {
  const Dims dims = l.dims(p);
  const PrimitiveType wide = l.type(p) == hlo::kF64 ? hlo::kF64 : hlo::kF32;
  const Op uniform = lazy::RandomUniform(l, DrawFor(l, dims), wide, dims);
  return l.Convert(lazy::CompareOps(l, uniform, l.Convert(p, wide), lazy::Order::kLt), type);
}

// Samples without replacement: each weight is the rate of an exponential waiting time, and the `count`
// shortest times are drawn. A weight of 0 has an infinite time.
Op DrawnOnce(Lowering& l, Op weights, int64_t count) {
  const Dims dims = l.dims(weights);
  const int64_t last = lazy::RankOf(l, weights) - 1;
  const PrimitiveType type = l.type(weights);
  const Op uniform = lazy::RandomUniform(l, DrawFor(l, dims), type, dims);
  const Op wait = l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kLogPlusOne, l.b.Unary(hlo::kNegate, uniform)));
  const Op never = l.Full(type, dims, -lazy::kInfinity);
  const Op order = l.b.Select(lazy::CompareOps(l, weights, 0, lazy::Order::kGt),
                              l.b.Unary(hlo::kNegate, wait / weights), never);
  return lazy::FirstWithIndex(l, order, count, last, true)[1];
}

// Samples with replacement: returns the index at which the running sum of the weights exceeds a uniform
// number between 0 and their sum.
Op DrawnAgain(Lowering& l, Op weights, int64_t count) {
  Dims dims = l.dims(weights);
  const int64_t last = lazy::RankOf(l, weights) - 1;
  const PrimitiveType type = l.type(weights);
  const Op sums = lazy::Prefixes(l, weights, last, hlo::kAdd);
  const Op total = lazy::SliceDim(l, sums, last, dims[last] - 1, dims[last]);
  dims[last] = count;
  const Op at = lazy::MulOps(l, lazy::RandomUniform(l, DrawFor(l, dims), type, dims), total);
  // Rounding can make the number equal to the sum, which no index exceeds.
  const Op inside = lazy::CompareOps(l, at, total, lazy::Order::kLt);
  return lazy::SearchOps(l, sums, l.b.Select(inside, at, l.Full(type, dims, 0)), true);
}

}  // namespace

Tensor Rand(DimList dims, TensorOptions options, Caller caller) {
  return RandomFloats(lazy::ops::Rand, dims, options, caller, lazy::RandomUniform);
}

Tensor Uniform(DimList dims, double low, double high, TensorOptions options, Caller caller) {
  return RandomFloats(lazy::ops::Uniform, dims, options, caller,
                      [low, high](Lowering& l, RandomState state, PrimitiveType type, const Dims& shape) {
                        const Op unit = lazy::RandomUniform(l, state, type, shape);
                        return unit * l.Varying(type, high - low) + l.Varying(type, low);
                      });
}

Tensor Randn(DimList dims, TensorOptions options, Caller caller) {
  return RandomFloats(lazy::ops::Randn, dims, options, caller, NormalOps);
}

Tensor Normal(double mean, double deviation, DimList dims, TensorOptions options, Caller caller) {
  if (!(deviation >= 0)) {
    lazy::Throw(ErrorKind::kArgument, absl::StrFormat("the standard deviation (%g) is negative", deviation),
                "normal", caller);
  }
  return RandomFloats(lazy::ops::Normal, dims, options, caller,
                      [=](Lowering& l, RandomState state, PrimitiveType type, const Dims& shape) {
                        return NormalOps(l, state, type, shape) * l.Varying(type, deviation) +
                               l.Varying(type, mean);
                      });
}

Tensor Normal(const Operand& mean, const Operand& deviation) {
  return lazy::Call(lazy::ops::Normal, {mean, deviation}, [&](Lowering& l, Operands o) {
    if (deviation.tensor() == nullptr && !(deviation.scalar().ToDouble() >= 0)) {
      Refuse("the standard deviation (%g) is negative", deviation.scalar().ToDouble());
    }
    if (!hlo::IsFloat(l.type(o[0])))
      Refuse("random numbers of type %s do not exist", hlo::Name(l.type(o[0])));
    const Dims dims = lazy::BroadcastDims(l.dims(o[0]), l.dims(o[1]));
    const Op normal = NormalOps(l, DrawFor(l, dims), l.type(o[0]), dims);
    return lazy::AddOps(l, lazy::MulOps(l, normal, o[1]), o[0]);
  });
}

Tensor Randint(int64_t low, int64_t high, DimList dims, TensorOptions options, Caller caller) {
  if (low >= high) {
    lazy::Throw(ErrorKind::kArgument, absl::StrFormat("no integer is at least %d and below %d", low, high),
                "randint", caller);
  }
  return lazy::RandomNumbers(
      lazy::ops::Randint, dims, options.type.value_or(kS64), options, caller,
      [=](Lowering& l, RandomState state, PrimitiveType type, const Dims& shape) {
        const Op bits = lazy::RandomBits(l, state, hlo::kU64, shape);
        const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
        // The bits of a u64 are sent as an s64.
        const bool begins = l.Varies(low, "low"), ends = l.Varies(high, "high"), varies = begins || ends;
        const Op by = varies ? l.Convert(l.Varying(hlo::kS64, static_cast<int64_t>(range)), hlo::kU64)
                             : l.b.Constant(Literal::Scalar(range));
        const Op first = varies ? l.Varying(hlo::kS64, low) : l.Number(hlo::kS64, low);
        const Op rest = l.b.Binary(hlo::kRemainder, bits, by);
        return l.Convert(l.Convert(rest, hlo::kS64) + first, type);
      });
}

Tensor Randperm(int64_t n, TensorOptions options, Caller caller) {
  return lazy::RandomNumbers(
      lazy::ops::Randperm, {n}, options.type.value_or(kS64), options, caller,
      [](Lowering& l, RandomState state, PrimitiveType type, const Dims& shape) {
        const Op operands[] = {lazy::RandomBits(l, state, hlo::kU64, shape), lazy::IndexIota(l, shape, 0)};
        return l.Convert(lazy::SortOps(l, operands, 0, false)[1], type);
      });
}

Tensor RandLike(const Operand& x, LikeOptions options) {
  const Tensor& like = lazy::TensorOf(lazy::ops::RandLike, x);
  return Rand(like.dims(), lazy::OptionsLike(like, options), x.caller());
}
Tensor RandnLike(const Operand& x, LikeOptions options) {
  const Tensor& like = lazy::TensorOf(lazy::ops::RandnLike, x);
  return Randn(like.dims(), lazy::OptionsLike(like, options), x.caller());
}
Tensor RandintLike(const Operand& x, int64_t low, int64_t high, LikeOptions options) {
  const Tensor& like = lazy::TensorOf(lazy::ops::RandintLike, x);
  return Randint(low, high, like.dims(), lazy::OptionsLike(like, options), x.caller());
}

Tensor Bernoulli(const Operand& p) {
  return lazy::Unary(lazy::ops::Bernoulli, p, [](Lowering& l, Op p) {
    if (!hlo::IsFloat(l.type(p)))
      Refuse("probabilities are of a floating type, not %s", hlo::Name(l.type(p)));
    return BernoulliOps(l, p, l.type(p));
  });
}
Tensor Bernoulli(const Operand& x, double p) {
  return lazy::Unary(lazy::ops::Bernoulli, x, [p](Lowering& l, Op x) {
    if (!(p >= 0 && p <= 1)) Refuse("the probability (%g) is not between 0 and 1", p);
    return BernoulliOps(l, l.BroadcastTo(l.Varying(hlo::kF64, p), l.dims(x)), l.type(x));
  });
}

Tensor Multinomial(const Operand& weights, int64_t count, bool replacement) {
  return lazy::Unary(lazy::ops::Multinomial, weights, [&](Lowering& l, Op x) {
    const Dims dims = l.dims(x);
    if (dims.empty() || dims.size() > 2) {
      Refuse("weights are a vector or a matrix, not of shape %s", lazy::ListText(dims));
    }
    if (!hlo::IsFloat(l.type(x))) Refuse("weights are of a floating type, not %s", hlo::Name(l.type(x)));
    if (count <= 0) Refuse("the number of samples (%d) must be positive", count);
    if (dims.back() == 0 || (!replacement && count > dims.back())) {
      Refuse("%d samples cannot be drawn of %d weights", count, dims.back());
    }
    const Op wide = l.Convert(x, lazy::WideType(l.type(x)));
    return replacement ? DrawnAgain(l, wide, count) : DrawnOnce(l, wide, count);
  });
}

}  // namespace hlod

// Covariances, as compositions of other operations.
#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"
#include "hlod/ops/statistics.h"

namespace hlod {

using lazy::ListText;
using lazy::Refuse;
using lazy::TensorOf;

namespace {

Tensor Weights(const Operand& x, int64_t observations, const Tensor& fweights, const Tensor& aweights) {
  lazy::Explain(lazy::ops::Cov, {&x, 1}, x.caller(), [&] {
    for (const Tensor* weights : {&fweights, &aweights}) {
      if (weights->defined() && weights->dims() != Dims{observations}) {
        Refuse("weights of shape %s are not one for each of %d observations", ListText(weights->dims()),
               observations);
      }
    }
    if (fweights.defined() && !hlo::IsInteger(fweights.dtype())) Refuse("fweights are integers");
    if (aweights.defined() && !hlo::IsFloat(aweights.dtype())) Refuse("aweights are of a floating type");
  });
  if (!fweights.defined()) return aweights;
  if (!aweights.defined()) return fweights;
  return Mul(Operand(fweights, x.caller()), Operand(aweights, x.caller()));
}

}  // namespace

Tensor Cov(const Operand& x, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  const CallerScope scope(x.caller());
  const Caller& caller = x.caller();
  const auto of = [&](const auto& value) { return Operand(value, caller); };
  Tensor in = TensorOf(lazy::ops::Cov, x);
  lazy::Explain(lazy::ops::Cov, {&x, 1}, caller, [&] {
    if (in.rank() > 2) Refuse("variables are the rows of a matrix, not of shape %s", ListText(in.dims()));
    if (in.dtype() == kPred) Refuse("the covariance of bools is not defined");
  });
  if (in.rank() < 2) in = in.Reshape({1, in.numel()}, caller);
  const int64_t observations = in.dims()[1];
  const Tensor weights = Weights(x, observations, fweights, aweights);
  if (!weights.defined()) {
    const Tensor mean = Div(of(Sum(of(in), {1}, true)), of(observations));
    const Tensor deviation = Sub(of(in), of(mean));
    const Tensor product = MatMul(of(deviation), of(Conj(of(deviation)).T(caller)));
    return Squeeze(of(Div(of(product), of(std::max<int64_t>(observations - correction, 0)))));
  }
  const Tensor sum = Sum(of(weights));
  const Tensor mean = Div(of(Sum(of(Mul(of(in), of(weights))), {1}, true)), of(sum));
  Tensor norm = Sub(of(sum), of(correction));
  if (aweights.defined() && correction != 0) {
    const Tensor squares = Div(of(Sum(of(Mul(of(weights), of(aweights))))), of(sum));
    norm = Sub(of(sum), of(Mul(of(squares), of(correction))));
  }
  const Tensor deviation = Sub(of(in), of(mean));
  const Tensor weighted = Conj(of(Mul(of(deviation), of(weights)))).T(caller);
  const Tensor product = MatMul(of(deviation), of(weighted));
  return Squeeze(of(Div(of(product), of(ClampMin(of(norm), of(0))))));
}

Tensor Corrcoef(const Operand& x) {
  const CallerScope scope(x.caller());
  const Caller& caller = x.caller();
  const auto of = [&](const auto& value) { return Operand(value, caller); };
  const Tensor covariance = Cov(x);
  if (covariance.rank() == 0) return Div(of(covariance), of(covariance));
  const Tensor deviation = Sqrt(of(Real(of(covariance.Diagonal(0, 0, 1, caller)))));
  const Tensor rows = deviation.Unsqueeze(1, caller), columns = deviation.Unsqueeze(0, caller);
  const Tensor ratio = Div(of(Div(of(covariance), of(rows))), of(columns));
  const auto clipped = [&](const Tensor& part) { return Clamp(of(part), of(-1), of(1)); };
  if (!hlo::IsComplex(ratio.dtype())) return clipped(ratio);
  return Complex(of(clipped(Real(of(ratio)))), of(clipped(Imag(of(ratio)))));
}

}  // namespace hlod

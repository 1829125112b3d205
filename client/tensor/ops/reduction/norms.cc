// Norms and distances, as compositions of other operations.
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/autocast.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/norm.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"

namespace hlod {

using lazy::ListText;
using lazy::Refuse;
using lazy::TensorOf;

namespace {

// The number of rows up to which the Euclidean distance is computed as the norm of differences.
constexpr int64_t kDirectRows = 25;

// Uses |x|^2 + |y|^2 - 2 x y^T, which rounding can make negative. The derivative is 0 where the distance is
// 0, as in PyTorch.
Tensor EuclideanByProduct(const Tensor& x, const Tensor& y, const Caller& caller) {
  const auto of = [&](const auto& value) { return Operand(value, caller); };
  const Tensor x_squares = Sum(of(Square(of(x))), {-1}, true);
  const Tensor y_squares = Sum(of(Square(of(y))), {-1}, true).Transpose(-1, -2, caller);
  const Tensor product = MatMul(of(x), of(y.Transpose(-1, -2, caller)));
  const Tensor squares = Sub(of(Add(of(x_squares), of(y_squares))), of(product), 2);
  const Tensor far = Gt(of(squares), of(0)), nan = Isnan(of(squares));
  const Tensor differ = LogicalOr(of(far), of(nan));
  const Tensor safe = Where(of(differ), of(squares), of(1));
  return Where(of(differ), of(Sqrt(of(safe))), of(0));
}

}  // namespace

Tensor Norm(const Operand& x, double p, DimList dims, bool keepdim, std::optional<PrimitiveType> type) {
  const CallerScope scope(x.caller());
  return VectorNorm(x, p, dims, keepdim, type);
}

Tensor Dist(const Operand& x, const Operand& y, double p) {
  const CallerScope scope(x.caller());
  const Tensor& a = TensorOf(lazy::ops::Dist, x);
  const Tensor& b = TensorOf(lazy::ops::Dist, y);
  const lazy::CompositeCast cast("dist", {&a, &b});
  const Tensor left = cast(a), right = cast(b);
  const Tensor difference = Sub(Operand(left, x.caller()), Operand(right, x.caller()));
  return VectorNorm(Operand(difference, x.caller()), p);
}

Tensor Cdist(const Operand& x, const Operand& y, double p) {
  const CallerScope scope(x.caller());
  const Caller& caller = x.caller();
  const Operand operands[] = {x, y};
  Dims batch;
  lazy::Explain(lazy::ops::Cdist, operands, caller, [&] {
    const Dims a = TensorOf(lazy::ops::Cdist, x).dims(), b = TensorOf(lazy::ops::Cdist, y).dims();
    if (a.size() < 2 || b.size() < 2 || a.back() != b.back()) {
      Refuse("shapes %s and %s are not rows of one length", ListText(a), ListText(b));
    }
    if (!(p >= 0)) Refuse("the norm's order (%g) is negative", p);
    batch = lazy::BroadcastDims(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  });
  const lazy::CompositeCast cast("cdist", {x.tensor(), y.tensor()});
  const Tensor a = cast(*x.tensor()), b = cast(*y.tensor());
  const int64_t rows = a.size(-2), others = b.size(-2), columns = a.size(-1);
  Dims dims = batch;
  dims.insert(dims.end(), {rows, others});
  if (columns == 0) return NewZeros(Operand(a, caller), dims);
  if (p == 2 && (rows > kDirectRows || others > kDirectRows)) return EuclideanByProduct(a, b, caller);
  const Tensor left = a.Unsqueeze(-2, caller), right = b.Unsqueeze(-3, caller);
  return VectorNorm(Operand(Sub(Operand(left, caller), Operand(right, caller)), caller), p, {-1});
}

Tensor Renorm(const Operand& x, double p, int64_t dim, double maxnorm) {
  const CallerScope scope(x.caller());
  const Caller& caller = x.caller();
  const auto of = [&](const auto& value) { return Operand(value, caller); };
  const Tensor& tensor = TensorOf(lazy::ops::Renorm, x);
  Dims others;
  lazy::Explain(lazy::ops::Renorm, {&x, 1}, caller, [&] {
    if (tensor.rank() < 2)
      Refuse("at least two dimensions are needed; the shape is %s", ListText(tensor.dims()));
    if (!(p > 0) || !(maxnorm >= 0)) Refuse("order %g and greatest norm %g must be positive", p, maxnorm);
    const int64_t at = lazy::WrapDim(dim, tensor.rank());
    for (int64_t i = 0; i < tensor.rank(); ++i) {
      if (i != at) others.push_back(i);
    }
  });
  const lazy::CompositeCast cast("renorm", {&tensor});
  const Tensor in = cast(tensor);
  const Tensor norm = VectorNorm(of(in), p, others, true);
  const Tensor scale = Div(of(maxnorm), of(Add(of(norm), of(1e-7))));
  return Mul(of(in), of(Where(of(Gt(of(norm), of(maxnorm))), of(scale), of(1.0))));
}

}  // namespace hlod

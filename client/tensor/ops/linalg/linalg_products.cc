// torch.linalg: products, powers and norms, composed of other operations.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/numbers.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/linalg.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"

namespace hlod::linalg {

using lazy::ListText;
using lazy::Refuse;

namespace {

using lazy::kInfinity;

template <typename F>
void Check(const lazy::Operation& operation, const Operand& x, F body) {
  lazy::Explain(operation, {&x, 1}, x.caller(), body);
}

int64_t Product(DimList dims, size_t from, size_t to) {
  return std::accumulate(dims.begin() + from, dims.begin() + to, int64_t{1}, std::multiplies<>());
}

}  // namespace

Tensor MatrixPower(const Operand& x, int64_t n) {
  const CallerScope scope(x.caller());
  const Tensor& in = lazy::TensorOf(lazy::ops::LinalgMatrixPower, x);
  Check(lazy::ops::LinalgMatrixPower, x, [&] {
    if (in.rank() < 2 || in.size(-1) != in.size(-2))
      Refuse("the matrices of shape %s are not square", ListText(in.dims()));
  });
  if (n == 0) {
    const Tensor identity = Eye(in.size(-1), {}, {.type = in.dtype(), .device = in.device()});
    return identity.Expand(in.dims()).Clone();
  }
  Tensor square = n < 0 ? Inv(x) : in, power;
  for (uint64_t rest = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n); rest > 0; rest /= 2) {
    if (rest % 2 != 0) power = power.defined() ? MatMul(power, square) : square;
    if (rest > 1) square = MatMul(square, square);
  }
  return n == 1 ? power.Clone() : power;
}

Tensor MultiDot(const std::vector<Tensor>& tensors, Caller caller) {
  const std::vector<Operand> operands = lazy::OperandsOf(tensors, caller);
  const size_t count = tensors.size();
  std::vector<Tensor> matrices = tensors;
  bool row = false, column = false;
  std::vector<double> sizes;  // Matrix i is [sizes[i], sizes[i + 1]].
  lazy::Explain(lazy::ops::LinalgMultiDot, operands, caller, [&] {
    if (count < 2) Refuse("at least two tensors are needed, not %d", count);
    row = tensors.front().rank() == 1;
    column = tensors.back().rank() == 1;
    if (row) matrices.front() = matrices.front().Unsqueeze(0, caller);
    if (column) matrices.back() = matrices.back().Unsqueeze(1, caller);
    for (size_t i = 0; i < count; ++i) {
      const Dims& dims = matrices[i].dims();
      if (dims.size() != 2) Refuse("argument %d of shape %s is not a matrix", i, ListText(dims));
      if (i > 0 && static_cast<double>(dims[0]) != sizes.back()) {
        Refuse("argument %d of shape %s does not follow one with %g columns", i, ListText(dims),
               sizes.back());
      }
      if (i == 0) sizes.push_back(static_cast<double>(dims[0]));
      sizes.push_back(static_cast<double>(dims[1]));
    }
  });
  // Dynamic programming over chains: the least cost of multiplying matrices i to j, and the position of the
  // last split.
  std::vector<std::vector<double>> cost(count, std::vector<double>(count, 0));
  std::vector<std::vector<size_t>> split(count, std::vector<size_t>(count, 0));
  for (size_t length = 1; length < count; ++length) {
    for (size_t i = 0; i + length < count; ++i) {
      const size_t j = i + length;
      cost[i][j] = kInfinity;
      for (size_t k = i; k < j; ++k) {
        const double here = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (here < cost[i][j]) cost[i][j] = here, split[i][j] = k;
      }
    }
  }
  const std::function<Tensor(size_t, size_t)> multiply = [&](size_t i, size_t j) -> Tensor {
    if (i == j) return matrices[i];
    const size_t k = split[i][j];
    return MatMul(Operand(multiply(i, k), caller), Operand(multiply(k + 1, j), caller));
  };
  Tensor product = multiply(0, count - 1);
  if (row) product = product.Squeeze(0, caller);
  if (column) product = product.Squeeze(-1, caller);
  return product;
}

Tensor Tensorinv(const Tensor& x, int64_t ind, Caller caller) {
  const CallerScope scope(caller);
  const Dims& dims = x.dims();
  const auto at = static_cast<size_t>(ind);
  Check(lazy::ops::LinalgInv, Operand(x), [&] {
    if (ind < 1 || at >= dims.size() || Product(dims, 0, at) != Product(dims, at, dims.size())) {
      Refuse("the first %d sizes of shape %s do not multiply to what the others do", ind, ListText(dims));
    }
  });
  const int64_t n = Product(dims, 0, at);
  Dims to(dims.begin() + ind, dims.end());
  to.insert(to.end(), dims.begin(), dims.begin() + ind);
  return Inv(x.Reshape({n, n})).Reshape(to);
}

Tensor Tensorsolve(const Tensor& a, const Tensor& b, DimList moved, Caller caller) {
  const CallerScope scope(caller);
  Tensor matrix = a;
  if (!moved.empty()) {  // The reduced dimensions go to the end.
    Dims order, last;
    Check(lazy::ops::LinalgSolve, Operand(a), [&] { last = lazy::WrapDims(moved, a.rank()); });
    for (int64_t i = 0; i < a.rank(); ++i) {
      if (std::find(last.begin(), last.end(), i) == last.end()) order.push_back(i);
    }
    order.insert(order.end(), last.begin(), last.end());
    matrix = a.Permute(order);
  }
  const Dims& dims = matrix.dims();
  const int64_t n = b.numel();
  Check(lazy::ops::LinalgSolve, Operand(a), [&] {
    if (b.rank() > a.rank() || n * n != a.numel()) {
      Refuse("shape %s is not a square system for right sides of shape %s", ListText(dims),
             ListText(b.dims()));
    }
  });
  const Dims to(dims.begin() + b.rank(), dims.end());
  return Solve(matrix.Reshape({n, n}), b.Reshape({n})).Reshape(to);
}

Tensor Cross(const Operand& x, const Operand& y, int64_t dim) {
  const CallerScope scope(x.caller());
  Check(lazy::ops::LinalgCross, x, [&] {
    for (const Operand* operand : {&x, &y}) {
      const Tensor& tensor = lazy::TensorOf(lazy::ops::LinalgCross, *operand);
      if (tensor.dims()[lazy::WrapDim(dim, tensor.rank())] != 3) {
        Refuse("dimension %d of shape %s has not the size 3", dim, ListText(tensor.dims()));
      }
    }
  });
  const Dims one = {-1}, two = {-2}, along = {dim};
  return Roll(x, one, along) * Roll(y, two, along) - Roll(x, two, along) * Roll(y, one, along);
}

Tensor Vecdot(const Operand& x, const Operand& y, int64_t dim) {
  const CallerScope scope(x.caller());
  const Dims along = {dim};
  return Sum(Mul(Conj(x), y), along);
}

Tensor Vander(const Operand& x, std::optional<int64_t> n) {
  const CallerScope scope(x.caller());
  const Tensor& in = lazy::TensorOf(lazy::ops::LinalgVander, x);
  const int64_t count = n.value_or(in.rank() == 0 ? 1 : in.size(-1));
  Check(lazy::ops::LinalgVander, x, [&] {
    if (count < 1 || count > 10'000) Refuse("the number of powers (%d) is not from 1 to 10000", count);
  });
  // Powers of integers are s64, as a product of integers is.
  const bool is_exact = !hlo::IsFloat(in.dtype()) && !hlo::IsComplex(in.dtype());
  const Tensor wide = is_exact ? in.To(kS64) : in;
  const Tensor base = in.rank() == 0 ? wide.Unsqueeze(0) : wide;
  std::vector<Tensor> powers = {OnesLike(base)};
  while (static_cast<int64_t>(powers.size()) < count) powers.push_back(powers.back() * base);
  return Stack(powers, -1);
}

}  // namespace hlod::linalg

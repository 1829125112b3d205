// torch.linalg.lstsq and matrix_exp, as compositions of other operations.
#include <cmath>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/linalg.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"

namespace hlod::linalg {

using lazy::ListText;
using lazy::Refuse;

LeastSquares Lstsq(const Operand& a, const Operand& b, const Tolerance& tolerance) {
  const CallerScope scope(a.caller());
  const Tensor &left = lazy::TensorOf(lazy::ops::LinalgLstsq, a),
               &right = lazy::TensorOf(lazy::ops::LinalgLstsq, b);
  const bool is_vector = right.rank() == left.rank() - 1;
  const Operand operands[] = {a, b};
  lazy::Explain(lazy::ops::LinalgLstsq, operands, a.caller(), [&] {
    if (left.rank() < 2) Refuse("a matrix is needed, not shape %s", ListText(left.dims()));
    if (!is_vector && right.rank() != left.rank())
      Refuse("right sides of shape %s are neither vectors nor matrices for systems of shape %s",
             ListText(right.dims()), ListText(left.dims()));
    if (right.size(is_vector ? -1 : -2) != left.size(-2))
      Refuse("right sides of shape %s have not the %d rows of shape %s", ListText(right.dims()),
             left.size(-2), ListText(left.dims()));
  });
  const Tensor columns = is_vector ? right.Unsqueeze(-1) : right;
  const Tensor solution = MatMul(Pinv(a, tolerance), columns);
  LeastSquares found;
  found.solution = is_vector ? solution.Squeeze(-1) : solution;
  found.rank = MatrixRank(a, tolerance);
  if (left.size(-2) > left.size(-1)) {
    found.residuals = Sum(Square(Abs(MatMul(left, solution) - columns)), {-2});
    if (is_vector) found.residuals = found.residuals.Squeeze(-1);
  }
  return found;
}

// Scaling and squaring: exp(x) = exp(x / 2^s)^(2^s), where s is chosen so that x / 2^s has a norm below 1 and
// its Taylor polynomial is accurate.
Tensor MatrixExp(const Operand& x) {
  const CallerScope scope(x.caller());
  // Norms above 2^kSquaringsMax overflow in every type, except for matrices whose exponential is hardly ever
  // taken.
  constexpr int kSquaringsMax = 20;
  const Tensor& in = lazy::TensorOf(lazy::ops::LinalgMatrixExp, x);
  lazy::Explain(lazy::ops::LinalgMatrixExp, {&x, 1}, x.caller(), [&] {
    if (in.rank() < 2 || in.size(-1) != in.size(-2))
      Refuse("the matrices of shape %s are not square", ListText(in.dims()));
    // PyTorch accepts types of 16 bits and returns NaN; they are refused here.
    if (in.dtype() != hlo::kF32 && in.dtype() != hlo::kF64 && !hlo::IsComplex(in.dtype()))
      Refuse("elements are of f32, f64 or a complex type, not %s", hlo::Name(in.dtype()));
  });
  if (in.numel() == 0) return in.Clone();
  const bool is_double = in.dtype() == hlo::kF64 || in.dtype() == hlo::kC128;
  const int degree = is_double ? 18 : 12;  // 1 / (degree + 1)! is below the type's epsilon.
  const Tensor norm = Amax(Sum(Abs(in.Detach()), {-2}, /*keepdim=*/true), {-1}, /*keepdim=*/true);
  const Tensor squarings = Clamp(Ceil(Log2(norm)), 0, kSquaringsMax);
  const Tensor scaled = in * Exp2(-squarings);
  const Tensor identity = Eye(in.size(-1), {}, {.type = in.dtype(), .device = in.device()});
  Tensor power = identity + scaled / degree;
  for (int i = degree - 1; i > 0; --i) power = identity + MatMul(scaled, power) / i;
  for (int i = 0; i < kSquaringsMax; ++i) power = Where(Gt(squarings, i), MatMul(power, power), power);
  return power;
}

}  // namespace hlod::linalg

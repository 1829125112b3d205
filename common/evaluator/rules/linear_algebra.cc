// cholesky and triangular-solve on each matrix of a batch, in double or complex double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

namespace {

double Conjugate(double x) { return x; }
Complex Conjugate(Complex x) { return std::conj(x); }
double RealPart(double x) { return x; }
double RealPart(Complex x) { return x.real(); }

// Overwrites an n x n matrix, of which the lower triangle is read, with L, where L L^H is the matrix; with
// NaN if it is not positive definite.
template <typename C>
absl::Status Decompose(Evaluation& evaluation, C* a, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    RETURN_IF_ERROR(evaluation.Tick(n));
    double diagonal = RealPart(a[j * n + j]);
    for (int64_t k = 0; k < j; ++k) diagonal -= std::norm(a[j * n + k]);
    if (!(diagonal > 0)) {
      return evaluation.InBlocks(n * n, 1, [&](int64_t begin, int64_t end) {
        std::fill(a + begin, a + end, C(std::numeric_limits<double>::quiet_NaN()));
      });
    }
    const double root = std::sqrt(diagonal);
    a[j * n + j] = root;
    for (int64_t i = j + 1; i < n; ++i) {
      RETURN_IF_ERROR(evaluation.Tick(4 * j + 4));
      C sum = a[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= a[i * n + k] * Conjugate(a[j * n + k]);
      a[i * n + j] = sum / root;
    }
    for (int64_t i = 0; i < j; ++i) a[i * n + j] = C{};
  }
  return absl::OkStatus();
}

template <typename C>
absl::Status ConjugateTranspose(Evaluation& evaluation, C* a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    RETURN_IF_ERROR(evaluation.Tick(8 * i + 8));
    for (int64_t j = 0; j <= i; ++j) {
      const C upper = Conjugate(a[j * n + i]);
      a[j * n + i] = Conjugate(a[i * n + j]);
      a[i * n + j] = upper;
    }
  }
  return absl::OkStatus();
}

template <typename C>
absl::Status CholeskyIn(Evaluation& evaluation, const Literal& operand, bool lower, Literal& result) {
  const int64_t n = operand.shape().dims.back();
  std::vector<C> a = LoadAs<C>(operand);
  for (size_t start = 0; start < a.size(); start += n * n) {
    C* matrix = a.data() + start;
    // The upper triangle of a Hermitian matrix is the conjugate transpose of the lower one: U = L^H.
    if (!lower) RETURN_IF_ERROR(ConjugateTranspose(evaluation, matrix, n));
    RETURN_IF_ERROR(Decompose(evaluation, matrix, n));
    if (!lower) RETURN_IF_ERROR(ConjugateTranspose(evaluation, matrix, n));
  }
  StoreAll(a, result);
  return absl::OkStatus();
}

// Solves op(A) X = B, or X op(A) = B, for one matrix, overwriting B. Element (i, j) of op(A) is read from the
// triangle named in `options`.
template <typename C>
absl::Status SolveOne(Evaluation& evaluation, const C* a, int64_t n, C* b, int64_t rows, int64_t columns,
                      const hlo::TriangularSolveAttributes& options) {
  const bool transposed = options.transpose_a >= 2;
  const auto element = [&](int64_t i, int64_t j) {
    const C value = transposed ? a[j * n + i] : a[i * n + j];
    return options.transpose_a == 3 ? Conjugate(value) : value;
  };
  // X op(A) = B is op(A)^T X^T = B^T, so both are read transposed.
  const auto coefficient = [&](int64_t i, int64_t j) {
    return options.left_side ? element(i, j) : element(j, i);
  };
  const int64_t unknowns = n, systems = options.left_side ? columns : rows;
  const auto place = [&](int64_t i, int64_t s) -> C& {
    return options.left_side ? b[i * columns + s] : b[s * columns + i];
  };
  // True when `coefficient` is lower triangular.
  const bool forwards = (options.lower != transposed) == options.left_side;
  for (int64_t s = 0; s < systems; ++s) {
    for (int64_t step = 0; step < unknowns; ++step) {
      RETURN_IF_ERROR(evaluation.Tick(8 * step + 4));
      const int64_t i = forwards ? step : unknowns - 1 - step;
      C sum = place(i, s);
      for (int64_t j = forwards ? 0 : i + 1; j < (forwards ? i : unknowns); ++j)
        sum -= coefficient(i, j) * place(j, s);
      place(i, s) = options.unit_diagonal ? sum : sum / coefficient(i, i);
    }
  }
  return absl::OkStatus();
}

template <typename C>
absl::Status SolveIn(Evaluation& evaluation, const Literal& a_literal, const Literal& b_literal,
                     const hlo::TriangularSolveAttributes& options, Literal& result) {
  const hlo::Dims& dims = b_literal.shape().dims;
  const int64_t n = a_literal.shape().dims.back(), rows = dims[dims.size() - 2], columns = dims.back();
  const std::vector<C> a = LoadAs<C>(a_literal);
  std::vector<C> b = LoadAs<C>(b_literal);
  for (size_t batch = 0; batch * rows * columns < b.size(); ++batch) {
    RETURN_IF_ERROR(SolveOne(evaluation, a.data() + batch * n * n, n, b.data() + batch * rows * columns, rows,
                             columns, options));
  }
  StoreAll(b, result);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> Cholesky(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const bool lower = instruction.attributes<hlo::CholeskyAttributes>().lower;
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  if (result.element_count() == 0) return result;
  RETURN_IF_ERROR(hlo::IsComplex(result.shape().type)
                      ? CholeskyIn<Complex>(evaluation, operands[0], lower, result)
                      : CholeskyIn<double>(evaluation, operands[0], lower, result));
  return result;
}

absl::StatusOr<Literal> TriangularSolve(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const auto& options = instruction.attributes<hlo::TriangularSolveAttributes>();
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  if (result.element_count() == 0) return result;
  RETURN_IF_ERROR(hlo::IsComplex(result.shape().type)
                      ? SolveIn<Complex>(evaluation, operands[0], operands[1], options, result)
                      : SolveIn<double>(evaluation, operands[0], operands[1], options, result));
  return result;
}

}  // namespace hlod::evaluator

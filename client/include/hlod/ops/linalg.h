// torch.linalg: matrices are the last two dimensions, the dimensions before are batches. For a singular
// matrix, Solve() and Inv() throw on the host, as in PyTorch; on a device the results have infinities or NaN,
// as in XLA, because nothing is read back. The functions ending in Ex never throw: they return an `info` that
// is not 0.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod::linalg {

// Returns L with x = L L^H, or U with x = U^H U; NaN where x is not positive definite.
Tensor Cholesky(const Operand& x, bool upper = false);

struct WithInfo {
  Tensor result;
  Tensor info;  // s32: 0, or the first diagonal element of U (from 1) that is 0.
};
WithInfo CholeskyEx(const Operand& x,
                    bool upper = false);  // info is 1 where x is not positive definite, else 0.

// x = P L U, where P permutes rows so that each pivot is the largest of its column.
struct LuParts {
  Tensor p, l, u;
};
LuParts Lu(const Operand& x);
struct LuFactors {
  Tensor lu;      // U on and above the diagonal, L below it; L's diagonal is 1 and not stored.
  Tensor pivots;  // s32: row k was exchanged with row pivots[k], counted from 1.
  Tensor info;
};
LuFactors LuFactorEx(const Operand& x);
// Returns X with A X = B, or X A = B when not `left`; A^H in place of A when `adjoint`.
Tensor LuSolve(const Operand& lu, const Operand& pivots, const Operand& b, bool left = true,
               bool adjoint = false);

// P, L and U of LuFactorEx's results.
LuParts LuUnpack(const Operand& lu, const Operand& pivots);
// CholeskyInverse: the inverse of A. CholeskySolve: X with A X = B. `factor` is A's factor L (or U).
Tensor CholeskyInverse(const Tensor& factor, bool upper = false, Caller caller = Caller::Here());
Tensor CholeskySolve(const Tensor& b, const Tensor& factor, bool upper = false,
                     Caller caller = Caller::Here());

// Returns X with A X = B. B is a matrix, or a vector per matrix.
Tensor Solve(const Operand& a, const Operand& b);
WithInfo SolveEx(const Operand& a, const Operand& b);
Tensor Inv(const Operand& x);  // The inverse of a square matrix.
WithInfo InvEx(const Operand& x);
// Returns X with A X = B (X A = B when not `left`) for a triangular A, whose other triangle is not read.
Tensor SolveTriangular(const Operand& a, const Operand& b, bool upper, bool left = true,
                       bool unitriangular = false);

Tensor Det(const Operand& x);  // The determinant of a square matrix.
// The sign of the determinant, and the logarithm of its absolute value.
std::pair<Tensor, Tensor> Slogdet(const Operand& x);
Tensor Logdet(const Operand& x);  // The logarithm of the determinant; NaN when it is negative.

// Returns Q and R with x = Q R, for x [..., m, n]: Q has orthonormal columns, R is upper triangular.
// kReduced: Q is [..., m, min(m, n)]; kComplete: [..., m, m].
enum class QrMode { kReduced, kComplete };
std::pair<Tensor, Tensor> Qr(const Operand& x, QrMode mode = QrMode::kReduced);
// Q and R in one matrix, as torch.geqrf returns them: R on and above the diagonal, below it the vectors v of
// the reflections I - tau v v^H whose product is Q.
struct ReflectionParts {
  Tensor a, tau;
};
ReflectionParts Geqrf(const Operand& x);
// The product of the reflections I - tau v v^H, where v is a column of x below the diagonal, with 1 on it.
Tensor HouseholderProduct(const Operand& x, const Operand& tau);
// Returns Q C, or C Q when not `left`, where Q is the full product of the reflections in x and tau; Q^H in
// place of Q when `transpose`. torch.ormqr.
Tensor Ormqr(const Operand& x, const Operand& tau, const Operand& other, bool left = true,
             bool transpose = false);

Tensor MatrixPower(const Operand& x, int64_t n);  // The product of n times x; of its inverse when n < 0.
Tensor MatrixExp(const Operand& x);               // torch.matrix_exp
// The product of several matrices, multiplied in the cheapest order. The first and the last may be vectors.
Tensor MultiDot(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
// Tensorinv: the inverse of x as a matrix whose rows are its first `ind` dimensions, and whose columns are
// the others. Tensorsolve: X with Tensordot(a, X, X.rank()) = b, after a's `dims` were moved to its end.
Tensor Tensorinv(const Tensor& x, int64_t ind = 2, Caller caller = Caller::Here());
Tensor Tensorsolve(const Tensor& a, const Tensor& b, DimList dims = {}, Caller caller = Caller::Here());

Tensor Cross(const Operand& x, const Operand& y, int64_t dim = -1);  // Along a dimension of size 3.
// The dot products of vectors along a dimension; x is conjugated.
Tensor Vecdot(const Operand& x, const Operand& y, int64_t dim = -1);
// The powers 0 to n - 1 of each element (s64 for pred and integers); n is the last size when absent.
Tensor Vander(const Operand& x, std::optional<int64_t> n = {});

// The singular value decomposition, computed in f64: x = u diag(s) vh, with s in descending order. u and vh
// have one vector per singular value; with `full_matrices` they are square, and the additional vectors have
// no derivative.
struct SvdParts {
  Tensor u, s, vh;
};
SvdParts Svd(const Operand& x, bool full_matrices = false);
Tensor Svdvals(const Operand& x);  // The singular values alone.
// The decomposition of a Hermitian matrix, of which one triangle is read: eigenvalues in ascending order, and
// eigenvectors.
struct EighParts {
  Tensor values, vectors;
};
EighParts Eigh(const Operand& x, bool upper = false);
Tensor Eigvalsh(const Operand& x, bool upper = false);  // The eigenvalues alone.
// The decomposition of any square matrix, complex: eigenvalues in LAPACK's order, and eigenvectors as
// columns, of length 1 and with a real largest element. NaN when the iteration does not converge.
struct EigenParts {
  Tensor values, vectors;
};
EigenParts Eig(const Operand& x);
Tensor Eigvals(const Operand& x);  // The eigenvalues alone.
// Singular values up to the greater of the two tolerances count as 0. `relative` is a multiple of the
// greatest singular value; its default is the greater size times the type's epsilon, or 0 when `absolute` is
// set.
struct Tolerance {
  double absolute = 0;
  std::optional<double> relative = {};
};
// The pseudoinverse, [..., n, m] of x [..., m, n]; and the number of singular values that do not count as 0.
// `hermitian` promises that x is Hermitian: eigenvalues are then used in place of singular values.
Tensor Pinv(const Operand& x, const Tolerance& tolerance = {}, bool hermitian = false);
Tensor MatrixRank(const Operand& x, const Tolerance& tolerance = {}, bool hermitian = false);
Tensor Cond(const Operand& x);  // The greatest singular value divided by the least.
// The x with the least |a x - b|, and among those the one with the least norm; a may have any rank. a is
// [..., m, n], b is [..., m, k] or [..., m]. torch.linalg.lstsq with the driver gelsd.
struct LeastSquares {
  Tensor solution;   // [..., n, k] or [..., n]
  Tensor residuals;  // The squared lengths of a x - b; undefined unless m > n.
  Tensor rank;
};
LeastSquares Lstsq(const Operand& a, const Operand& b, const Tolerance& tolerance = {});

// Norms of matrices. Order 1 and -1: the greatest and least column sum of absolute values; infinite: of rows;
// 2 and -2: the greatest and least singular value; nuclear: the sum of the singular values; Frobenius.
Tensor MatrixNorm(const Operand& x, double order, DimList dims = {-2, -1}, bool keepdim = false);
Tensor NuclearNorm(const Operand& x, DimList dims = {-2, -1}, bool keepdim = false);
Tensor FrobeniusNorm(const Operand& x, DimList dims = {-2, -1}, bool keepdim = false);

}  // namespace hlod::linalg

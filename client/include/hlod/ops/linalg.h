// torch.linalg: matrices are the last two dimensions, those before them are batches. Solve() and Inv() of a
// singular matrix on the host throw, as PyTorch does; on a device, where nothing is read, results have
// infinities or NaN, as XLA's. The functions with Ex throw nowhere, and give a number that is not 0.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod::linalg {

// L with x = L L^H, or U with x = U^H U; NaN where x is not positive definite.
Tensor Cholesky(const Operand& x, bool upper = false);

struct WithInfo {
  Tensor result;
  Tensor info;  // s32: 0, or the first diagonal element of U (from 1) that is 0.
};
WithInfo CholeskyEx(const Operand& x,
                    bool upper = false);  // info is 1 where x is not positive definite, else 0.

// x = P L U with the rows exchanged so that each pivot is the largest of its column.
struct LuParts {
  Tensor p, l, u;
};
LuParts Lu(const Operand& x);
struct LuFactors {
  Tensor lu;      // L below the diagonal, whose own diagonal is 1, and U.
  Tensor pivots;  // s32: row k was exchanged with this one, counted from 1.
  Tensor info;
};
LuFactors LuFactorEx(const Operand& x);
// X of A X = B, or of X A = B when not `left`; of A^H when `adjoint`.
Tensor LuSolve(const Operand& lu, const Operand& pivots, const Operand& b, bool left = true,
               bool adjoint = false);

// P, L and U of LuFactorEx's results.
LuParts LuUnpack(const Operand& lu, const Operand& pivots);
// The inverse of A, and X of A X = B, by A's factor L (or U).
Tensor CholeskyInverse(const Tensor& factor, bool upper = false);
Tensor CholeskySolve(const Tensor& b, const Tensor& factor, bool upper = false);

// X of A X = B. B is a matrix, or a vector for each matrix.
Tensor Solve(const Operand& a, const Operand& b);
WithInfo SolveEx(const Operand& a, const Operand& b);
Tensor Inv(const Operand& x);
WithInfo InvEx(const Operand& x);
// X of A X = B (X A = B when not `left`) for a triangular A, of which the other triangle is not looked at.
Tensor SolveTriangular(const Operand& a, const Operand& b, bool upper, bool left = true,
                       bool unitriangular = false);

Tensor Det(const Operand& x);
std::pair<Tensor, Tensor> Slogdet(const Operand& x);  // The sign, and the logarithm of the size.
Tensor Logdet(const Operand& x);                      // NaN of a negative determinant.

enum class QrMode { kReduced, kComplete };
std::pair<Tensor, Tensor> Qr(const Operand& x, QrMode mode = QrMode::kReduced);
// Q and R in one, as torch.geqrf: R on and above the diagonal, below it the vectors v of the reflections
// I - tau v v^H whose product is Q.
struct ReflectionParts {
  Tensor a, tau;
};
ReflectionParts Geqrf(const Operand& x);
// The product of the reflections I - tau v v^H, v being 1 and what is below the diagonal of a column.
Tensor HouseholderProduct(const Operand& x, const Operand& tau);
// Q C, or C Q when not `left`, where Q is the whole product of the reflections in x and tau; Q^H in its place
// when `transpose`. torch.ormqr.
Tensor Ormqr(const Operand& x, const Operand& tau, const Operand& other, bool left = true,
             bool transpose = false);

Tensor MatrixPower(const Operand& x, int64_t n);
Tensor MatrixExp(const Operand& x);  // torch.matrix_exp
// The product of several matrices in the order that takes the fewest multiplications. The first and the last
// may be vectors.
Tensor MultiDot(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
Tensor Tensorinv(const Tensor& x, int64_t ind = 2);
Tensor Tensorsolve(const Tensor& a, const Tensor& b, DimList dims = {});

Tensor Cross(const Operand& x, const Operand& y, int64_t dim = -1);
Tensor Vecdot(const Operand& x, const Operand& y, int64_t dim = -1);  // x is conjugated.
// The powers 0 to n - 1 of each element; n is the last size when absent.
Tensor Vander(const Operand& x, std::optional<int64_t> n = {});

// Singular values, computed in f64. x = u diag(s) vh, s from the greatest down; u and vh have as many vectors
// as there are values, and all of both sides' with `full_matrices`, those that are added without a
// derivative.
struct SvdParts {
  Tensor u, s, vh;
};
SvdParts Svd(const Operand& x, bool full_matrices = false);
Tensor Svdvals(const Operand& x);
// The decomposition of a Hermitian matrix, of which only one triangle is read: eigenvalues from the least up,
// and eigenvectors.
struct EighParts {
  Tensor values, vectors;
};
EighParts Eigh(const Operand& x, bool upper = false);
Tensor Eigvalsh(const Operand& x, bool upper = false);
// The decomposition of any square matrix, complex: eigenvalues in LAPACK's order, and as columns the
// eigenvectors, of length 1 and with a real largest element. NaN where the iteration does not converge.
struct EigenParts {
  Tensor values, vectors;
};
EigenParts Eig(const Operand& x);
Tensor Eigvals(const Operand& x);
// Singular values up to the greater of both count as 0; the relative one, of the greatest value, is by
// default the greater size times the type's epsilon, or 0 when an absolute one is given.
struct Tolerance {
  double absolute = 0;
  std::optional<double> relative = {};
};
Tensor Pinv(const Operand& x, const Tolerance& tolerance = {}, bool hermitian = false);
Tensor MatrixRank(const Operand& x, const Tolerance& tolerance = {}, bool hermitian = false);
Tensor Cond(const Operand& x);  // The greatest singular value divided by the least.
// The x of the least |a x - b|, and of those the least x, of any rank of a: [..., m, n] for b [..., m, k] or
// [..., m]. torch.linalg.lstsq with the driver gelsd.
struct LeastSquares {
  Tensor solution;   // [..., n, k] or [..., n]
  Tensor residuals;  // The squared lengths of a x - b; undefined unless m > n.
  Tensor rank;
};
LeastSquares Lstsq(const Operand& a, const Operand& b, const Tolerance& tolerance = {});

// Norms of matrices: of order 1 and -1 (the greatest and least sum of a column), infinite ones (of a row), 2
// and -2 (the greatest and least singular value), the sum of the singular values, and Frobenius'.
Tensor MatrixNorm(const Operand& x, double order, DimList dims = {-2, -1}, bool keepdim = false);
Tensor NuclearNorm(const Operand& x, DimList dims = {-2, -1}, bool keepdim = false);
Tensor FrobeniusNorm(const Operand& x, DimList dims = {-2, -1}, bool keepdim = false);

}  // namespace hlod::linalg

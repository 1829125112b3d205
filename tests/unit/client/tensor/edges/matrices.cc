// Products, factorisations and distances at edges. matrices.py has the same programs, by the same names,
// which PyTorch ran or refused.
#include <cmath>

#include "tests/unit/client/tensor/edges/edges.h"

namespace hlod {
namespace {

using namespace linalg;

Results InverseOfASingularMatrix(const Device& d) { return {Inv(Values(d, {1, 2, 2, 4}, {2, 2}))}; }

Results CholeskyOfAnIndefiniteMatrix(const Device& d) { return {Cholesky(Values(d, {1, 2, 2, 1}, {2, 2}))}; }

Results DeterminantsOfSingularMatrices(const Device& d) {
  const Tensor x = LeafOf(d, {1, 2, 2, 4, 0, 0, 0, 0, 2, 0, 0, 3}, {3, 2, 2}), y = Det(x);
  BackwardOf(y, d);
  const auto [s, l] = Slogdet(x);
  return {y, s, l, Logdet(x.Detach()), x.Grad()};
}

Results MatricesWithoutElements(const Device& d) {
  const Tensor x = Leaf(d, {2, 0, 0}), y = Det(x), flat = Ramp(d, {0, 3});
  Sum(y).Backward();
  return {y,
          Inv(x),
          Cholesky(x),
          Slogdet(x).second,
          MatrixRank(flat),
          Pinv(flat),
          Svdvals(flat),
          Eigvalsh(Ramp(d, {0, 0})),
          Qr(Ramp(d, {3, 0})).first,
          Solve(x, Ramp(d, {2, 0, 2})),
          MatrixExp(x)};
}

Results RanksAndInversesOfSingularMatrices(const Device& d) {
  const Tensor x = Values(d, {1, 2, 2, 4}, {2, 2});
  return {MatrixRank(x),     Pinv(x),     MatrixRank(x * 0), Pinv(x * 0),      MatrixPower(x, 0),
          MatrixPower(x, 3), Cond(x * 0), NuclearNorm(x),    MatrixNorm(x, 1), MatrixNorm(x, -kInf),
          MatrixNorm(x, -2), Svdvals(x)};
}

Results SumsOverEqualEigenvalues(const Device& d) {
  const Tensor x = LeafOf(d, {2, 0, 0, 0, 2, 0, 0, 0, 3}, {3, 3});
  const Tensor y = Sum(Exp(Eigvalsh(x))) + Sum(Svdvals(x)) + Sum(MatrixExp(x));
  y.Backward();
  return {y, x.Grad()};
}

Results ProductsThatIgnoreNan(const Device& d) {
  const Tensor x = Values(d, {kNaN, kNaN}, {2}), a = Ramp(d, {2, 2}), ones = Values(d, {1, 1}, {2});
  return {Addmm(x, a, a, 0), Addmv(x, a, ones, 0, 2), Baddbmm(x, a.Unsqueeze(0), a.Unsqueeze(0), 0),
          Addr(x, x * 0 + 1, Values(d, {1, 2}, {2}), 0)};
}

Results Einsums(const Device& d) {
  const Tensor x = Leaf(d, {2, 2}), v = LeafOf(d, {5, 6}, {2}), b = Leaf(d, {2, 1, 2, 2});
  Results y = {Einsum("ii->i", {x}),
               Einsum("ii", {x}),
               Einsum("i,j", {v, v}),
               Einsum("...ij,...jk->...ik", {b, x}),
               Einsum("...i->...", {b}),
               Einsum("ba", {x}),
               Einsum("ij,j,k->k", {x, v, v}),
               Einsum("i...,i...->...", {x, x}),
               Einsum(",ij->ji", {Values(d, {2}, {}), x}),
               Einsum("bcii->cb", {b})};
  for (const Tensor& z : y) BackwardOf(z, d);
  for (const Tensor& z : {x.Grad(), v.Grad(), b.Grad()}) y.push_back(z);
  return y;
}

Results ProductsOfOddRanks(const Device& d) {
  const Tensor v = LeafOf(d, {1, 2}, {2}), m = Leaf(d, {2, 2}), b = Leaf(d, {2, 2, 2});
  Results y = {MatMul(v, v),
               MatMul(v, m),
               MatMul(m, v),
               MatMul(v, b),
               MatMul(b, v),
               MatMul(b, m),
               Tensordot(m, v, 0),
               Tensordot(b, m, {0, 2}, {1, 0}),
               Kron(v, m),
               Inner(b, v),
               Outer(v, v.Slice(0, 0, 0)),
               MultiDot({v, m, m, v}),
               Bmm(Ramp(d, {0, 2, 3}), Ramp(d, {0, 3, 1})),
               Vecdot(b, m)};
  for (const Tensor& z : y) {
    if (z.requires_grad()) BackwardOf(z, d);
  }
  for (const Tensor& z : {v.Grad(), m.Grad(), b.Grad()}) y.push_back(z);
  return y;
}

Results DistancesOfEqualPoints(const Device& d) {
  const Tensor x = LeafOf(d, {0, 0, 1, 2, 3, 3}, {3, 2}), y = LeafOf(d, {1, 2, 0, 0}, {2, 2});
  Results z;
  for (const double p : {0.0, 1.0, 1.5, 2.0, 3.0, kInf}) z.push_back(Cdist(x, y, p));
  for (const Tensor& w : z) BackwardOf(w, d);
  for (const Tensor& w :
       {Pdist(x), Cdist(Ramp(d, {0, 2}), y), Cdist(Ramp(d, {2, 0}), Ramp(d, {3, 0})), x.Grad(), y.Grad()})
    z.push_back(w);
  return z;
}

Results TriangularSolves(const Device& d) {
  const Tensor a = LeafOf(d, {2, 1, 5, 3}, {2, 2}), b = Leaf(d, {2, 2});
  Results y = {SolveTriangular(a, b, true),
               SolveTriangular(a, b, false),
               SolveTriangular(a, b, true, false),
               SolveTriangular(a, b, false, true, true),
               Solve(a, b),
               Solve(a.T(), b.T()).T(),
               Solve(a, b[0])};
  for (const Tensor& z : y) BackwardOf(z, d);
  y.push_back(a.Grad());
  y.push_back(b.Grad());
  return y;
}

Results APowerOfAWideMatrix(const Device& d) { return {MatrixPower(Ramp(d, {2, 3}), 2)}; }

}  // namespace

Programs Matrices() {
  return {
      {"inverse_of_a_singular_matrix", InverseOfASingularMatrix},
      {"cholesky_of_an_indefinite_matrix", CholeskyOfAnIndefiniteMatrix},
      {"determinants_of_singular_matrices", DeterminantsOfSingularMatrices},
      {"matrices_without_elements", MatricesWithoutElements},
      {"ranks_and_inverses_of_singular_matrices", RanksAndInversesOfSingularMatrices},
      {"sums_over_equal_eigenvalues", SumsOverEqualEigenvalues},
      {"products_that_ignore_nan", ProductsThatIgnoreNan},
      {"einsums", Einsums},
      {"products_of_odd_ranks", ProductsOfOddRanks},
      {"distances_of_equal_points", DistancesOfEqualPoints},
      {"triangular_solves", TriangularSolves},
      {"a_power_of_a_wide_matrix", APowerOfAWideMatrix},
  };
}

}  // namespace hlod

// Derivatives of eigenvalues, singular values and their vectors, by JAX's formulas. Vectors of equal values
// have no derivative. Vectors that the call did not compute are computed by another call.
#include <algorithm>
#include <complex>

#include "client/transform/rules/lapack.h"
#include "client/transform/rules/matrices.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

constexpr char kVectors = 'V', kReduced = 'S', kAll = 'A', kNone = 'N';

// Returns the tangents of the vectors and values of the Hermitian matrix in the triangle that was read.
Tangents OfHermitian(Lowering& l, Op vectors, Op values, Op t, bool lower, size_t results) {
  Tangents all(results);
  if (Count(l.dims(vectors)) == 0) return all;
  const EighOf tangents = EighTangents(l, {values, vectors}, HermitianFrom(l, t, lower));
  all[0] = tangents.v;
  all[1] = tangents.w;
  return all;
}

}  // namespace

Tangents SyevdTangents(const RoutineArgs& c) {
  const bool lower = c.number("uplo") == 'L', has_vectors = c.number("mode") == kVectors;
  const Op vectors =
      has_vectors
          ? c.result(0)
          : c.Again(absl::StrFormat("{mode = %d : ui8, uplo = %d : ui8}", kVectors, lower ? 'L' : 'U'))[0];
  Tangents all = OfHermitian(c.l(), vectors, c.result(1), c.tangent(0), lower, 3);
  if (!has_vectors) all[0] = Op{};
  return all;
}

// The TPU's call, whose backend_config is "lower,sorted,sweeps,tolerance".
Tangents EighTangents(const RoutineArgs& c) {
  const std::string& config = c.c.Get<hlo::CustomCallAttributes>().backend_config;
  const bool lower = !config.starts_with('0');
  return OfHermitian(c.l(), c.result(0), c.result(1), c.tangent(0), lower, 2);
}

Tangents GesddTangents(const RoutineArgs& c) {
  Lowering& l = c.l();
  const int64_t mode = c.number("mode");
  const Op a = c.operand(0);
  const Dims dims = l.dims(a);
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  Tangents all(5);
  if (Count(dims) == 0) return all;
  if (mode == kAll && rows != columns) {
    Refuse(
        "%s of all left and right vectors of a matrix that is not square (%d x %d) has no derivative rule; "
        "the reduced form (full_matrices=False) and the values alone (compute_uv=False) have one",
        c.target, rows, columns);
  }
  SvdOf factors{c.result(2), c.result(1), c.result(3)};
  if (mode == kNone) {
    // The added call returns vectors of the reduced sizes, which may differ from those of the original call.
    const int64_t least = std::min(rows, columns);
    const Shape& given = c.c.shape;
    const PrimitiveType type = l.type(a);
    const Shape shape =
        Shape::Tuple({given.tuple[0], given.tuple[1], Shape::Array(type, With(BatchOf(dims), {rows, least})),
                      Shape::Array(type, With(BatchOf(dims), {least, columns})), given.tuple[4]});
    hlo::CustomCallAttributes call = c.c.Get<hlo::CustomCallAttributes>();
    call.backend_config = absl::StrFormat("{mode = %d : ui8}", kReduced);
    const Op made = l.b.Add(hlo::kCustomCall, {a}, call, {}, &shape);
    factors = {l.b.GetTupleElement(made, 2), l.b.GetTupleElement(made, 1), l.b.GetTupleElement(made, 3)};
  }
  factors.v = AdjointOf(l, factors.v);
  const SvdOf tangents = SvdTangents(l, factors, c.tangent(0));
  all[1] = tangents.s;
  if (mode == kNone) return all;
  all[2] = tangents.u;
  all[3] = AdjointOf(l, tangents.v);
  return all;
}

namespace {

// Returns sum_i conj(x_ij) y_ij per column j.
Op ColumnProducts(Lowering& l, Op x, Op y) {
  return l.Reduce(hlo::kAdd, ConjugateOf(l, x) * y, {RankOf(l, x) - 2});
}

// A v_j = w_j v_j. With the eigenvectors `u` of the other side, V^-1 has the rows u_j^H / (u_j^H v_j).
struct VectorTangents {
  Op w, v;
};
VectorTangents OfGeneral(Lowering& l, Op w, Op v, Op u, Op t) {
  const Op scale = AlongColumns(l, ColumnProducts(l, u, v), v);
  const Op p = ProductOf(l, AdjointOf(l, u), ProductOf(l, t, v)) / scale;
  const Op difference = AlongRows(l, w, p) - AlongColumns(l, w, p);
  const Op diagonal = AtDiagonal(l, p, Order::kEq), one = N(l, p, 1);
  const Op gaps = OnlyWhere(l, l.b.Unary(hlo::kNot, diagonal), one / SelectOps(l, diagonal, one, difference));
  const Op du = ProductOf(l, v, gaps * p);
  // LAPACK's vectors have length 1 and a real largest element; dv_j = du_j + c_j v_j preserves both.
  const Op size = l.b.Unary(hlo::kAbs, v);
  const int64_t rank = RankOf(l, v);
  const Op largest = AlongRows(l, l.Reduce(hlo::kMaximum, size, {rank - 2}), size);
  const Op place = IndexIota(l, l.dims(v), rank - 2);
  const Op last = l.Full(hlo::kS64, l.dims(v), l.dims(v)[rank - 2]);
  const Op candidates = SelectOps(l, l.b.Compare(size, largest, Order::kEq), place, last);
  const Op first = AlongRows(l, l.Reduce(hlo::kMinimum, candidates, {rank - 2}), place);
  const Op here = l.b.Compare(place, first, Order::kEq);
  const auto at_largest = [&](Op x) { return l.Reduce(hlo::kAdd, OnlyWhere(l, here, x), {rank - 2}); };
  const Op re = l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kReal, ColumnProducts(l, v, du)));
  const Op im =
      l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kImag, at_largest(du))) / l.b.Unary(hlo::kReal, at_largest(v));
  const Op c = l.b.Binary(hlo::kComplex, re, im);
  return {DiagonalOf(l, p), du + v * AlongRows(l, c, v)};
}

}  // namespace

// Eigenvalues of a general matrix. For a real matrix they are two results, real and imaginary parts.
Tangents GeevTangents(const RoutineArgs& c) {
  Lowering& l = c.l();
  const bool parts = c.results() == 5;
  const size_t left = parts ? 2 : 1, right = left + 1;
  const bool has_left = c.number("compute_left") == kVectors,
             has_right = c.number("compute_right") == kVectors;
  Tangents all(c.results());
  if (Count(l.dims(c.operand(0))) == 0) return all;
  Op u = c.result(left), v = c.result(right);
  if (!has_left || !has_right) {
    const std::vector<Op> again =
        c.Again(absl::StrFormat("{compute_left = %d : ui8, compute_right = %d : ui8}", kVectors, kVectors));
    u = again[left];
    v = again[right];
  }
  const Op w = parts ? l.b.Binary(hlo::kComplex, c.result(0), c.result(1)) : c.result(0);
  const Op t = l.Convert(c.tangent(0), l.type(v));
  const VectorTangents of_right = OfGeneral(l, w, v, u, t);
  all[0] = parts ? l.b.Unary(hlo::kReal, of_right.w) : of_right.w;
  if (parts) all[1] = l.b.Unary(hlo::kImag, of_right.w);
  if (has_right) all[right] = of_right.v;
  if (has_left) all[left] = OfGeneral(l, ConjugateOf(l, w), u, v, AdjointOf(l, t)).v;
  return all;
}

}  // namespace hlod::lazy

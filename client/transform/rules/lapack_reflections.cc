// Derivatives of factorisations that stay in the form of Householder's reflections (geqrf), and of the
// products of reflections (orgqr, ormqr).
//
// The reflections H_i = I - tau_i v_i v_i^H have the product I - V T V^H, where V's columns are the v_i and
// T = (I + D S)^-1 D with D = diag(tau) and S the strict upper triangle of V^H V. orgqr and ormqr
// differentiate this formula.
//
// geqrf is the inverse. R and the first columns of Q are the factors of A = Q R, which have a known rule. V
// and tau follow from Q: with E the first columns of the identity, Q = E - V T V^H E, so E - Q = V U with U =
// T V^H E. V is unit lower and U upper triangular: this is an LU decomposition without exchanges, and tau is
// U's diagonal. So dV and dtau follow from dQ as the tangents of an LU decomposition do.
//
// When a reflection is the identity (A is upper triangular there), tau and v do not determine how Q changes.
// Therefore the pair of geqrf and orgqr, by which JAX computes Q, gets its own rule when a program is loaded.
#include <algorithm>
#include <optional>

#include "client/tensor/autograd/own_derivative.h"
#include "client/transform/rules/lapack.h"
#include "client/transform/rules/matrices.h"
#include "client/transform/rules/own.h"

namespace hlod::lazy {
namespace {

Op Strict(Lowering& l, Op x, Order order) { return OnlyWhere(l, AtDiagonal(l, x, order), x); }
// Returns x with ones on its diagonal.
Op WithUnitDiagonal(Lowering& l, Op x) { return SelectOps(l, AtDiagonal(l, x, Order::kEq), N(l, x, 1), x); }
Op UnitLower(Lowering& l, Op x) { return WithUnitDiagonal(l, Strict(l, x, Order::kGt)); }
Op IdentityLike(Lowering& l, Op x) { return WithUnitDiagonal(l, l.Full(l.type(x), l.dims(x), 0)); }
Op FirstRows(Lowering& l, Op x, int64_t count) { return SliceDim(l, x, RankOf(l, x) - 2, 0, count); }
Op FirstColumns(Lowering& l, Op x, int64_t count) { return SliceDim(l, x, RankOf(l, x) - 1, 0, count); }
int64_t RowsIn(Lowering& l, Op x) { return l.dims(x)[RankOf(l, x) - 2]; }
int64_t ColumnsIn(Lowering& l, Op x) { return l.dims(x).back(); }

// The product of reflections I - V T V^H.
struct Reflections {
  Op v, d, s, unit, t;  // `unit` is I + D S.
};
// `packed` holds V below the diagonal.
Reflections ReflectionsOf(Lowering& l, Op packed, Op tau) {
  const Op v = UnitLower(l, FirstColumns(l, packed, ColumnsIn(l, tau)));
  const Op s = Strict(l, ProductOf(l, AdjointOf(l, v), v), Order::kLt);
  const Op d = OnlyWhere(l, AtDiagonal(l, s, Order::kEq), AlongColumns(l, tau, s));
  const Op unit = WithUnitDiagonal(l, AlongColumns(l, tau, s) * s);
  return {v, d, s, unit, SolvedTriangular(l, unit, d, true, false, true)};
}
// The tangents of V and T.
struct ReflectionTangents {
  Op v, t;
};
ReflectionTangents TangentsOf(Lowering& l, const Reflections& r, Op packed_t, Op tau_t) {
  const Op dv = Strict(l, FirstColumns(l, packed_t, ColumnsIn(l, tau_t)), Order::kGt);
  const Op half = ProductOf(l, AdjointOf(l, dv), r.v), other = ProductOf(l, AdjointOf(l, r.v), dv);
  const Op ds = Strict(l, half + other, Order::kLt);
  const Op dd = OnlyWhere(l, AtDiagonal(l, r.s, Order::kEq), AlongColumns(l, tau_t, r.s));
  const Op inner = ProductOf(l, dd, r.s) + ProductOf(l, r.d, ds);  // d(D S)
  return {dv, SolvedTriangular(l, r.unit, dd - ProductOf(l, inner, r.t), true, false, true)};
}

}  // namespace

Tangents OrgqrTangents(const RoutineArgs& c) {
  Lowering& l = c.l();
  const Op packed = c.operand(0), tau = c.operand(1);
  const int64_t columns = ColumnsIn(l, packed);
  if (Count(l.dims(packed)) == 0 || Count(l.dims(tau)) == 0) return {Op{}};
  const Reflections r = ReflectionsOf(l, packed, tau);
  const ReflectionTangents t = TangentsOf(l, r, c.tangent(0), c.tangent(1));
  const auto product = [&](Op x, Op y) { return ProductOf(l, x, y); };
  const Op first = FirstColumns(l, AdjointOf(l, r.v), columns);  // V^H E
  const Op first_t = FirstColumns(l, AdjointOf(l, t.v), columns);
  const Op sum = product(t.v, product(r.t, first)) + product(r.v, product(t.t, first)) +
                 product(r.v, product(r.t, first_t));
  return {l.b.Unary(hlo::kNegate, sum)};
}

// Differentiates the product Q C, Q^H C, C Q or C Q^H.
Tangents OrmqrTangents(const RoutineArgs& c) {
  Lowering& l = c.l();
  const bool left = c.number("left") != 0, adjoint = c.number("transpose") != 0;
  const Op packed = c.operand(0), tau = c.operand(1), to = c.operand(2), to_t = c.tangent(2);
  if (Count(l.dims(packed)) == 0 || Count(l.dims(tau)) == 0) return {to_t};
  const Reflections r = ReflectionsOf(l, packed, tau);
  const ReflectionTangents t = TangentsOf(l, r, c.tangent(0), c.tangent(1));
  const auto product = [&](Op x, Op y) { return ProductOf(l, x, y); };
  const Op adjoint_v = AdjointOf(l, r.v);
  Op p = product(r.v, product(r.t, adjoint_v));
  Op dp = product(t.v, product(r.t, adjoint_v)) + product(r.v, product(t.t, adjoint_v)) +
          product(r.v, product(r.t, AdjointOf(l, t.v)));
  if (adjoint) {
    p = AdjointOf(l, p);
    dp = AdjointOf(l, dp);
  }
  const Op moved = left ? product(p, to_t) + product(dp, to) : product(to_t, p) + product(to, dp);
  return {to_t - moved};
}

// A = Q R in one matrix, with R on and above the diagonal and V below it, and tau. geqp3 also exchanges
// columns: its results are those for A with the columns in that order.
Tangents GeqrfTangents(const RoutineArgs& c) {
  Lowering& l = c.l();
  const bool exchanges = c.results() == 3;
  const Op packed = c.result(0), tau = c.result(exchanges ? 2 : 1);
  const int64_t rows = RowsIn(l, packed), kept = ColumnsIn(l, tau);
  Tangents all(c.results());
  if (Count(l.dims(packed)) == 0) return all;
  Op da = c.tangent(0);
  if (exchanges) {
    const Op order = l.Convert(c.result(1), hlo::kS64);
    const Op from = order - l.Full(hlo::kS64, l.dims(order), 1);
    da = GatherAlong(l, da, RankOf(l, da) - 1, AlongRows(l, from, da));
  }
  const Reflections r = ReflectionsOf(l, packed, tau);
  const Op first = FirstColumns(l, AdjointOf(l, r.v), kept);
  const Op moved = ProductOf(l, r.v, ProductOf(l, r.t, first));  // E - Q
  const Op q = IdentityLike(l, moved) - moved;
  const Op upper = OnlyWhere(l, AtDiagonal(l, packed, Order::kLe), packed);
  const QrOf t = QrTangents(l, {q, FirstRows(l, upper, kept)}, da);
  // E - Q = V U. With G the part of V^-1 d(E - Q) U^-1 below the diagonal: dV = V G, dU = V^-1 d(E - Q) - G
  // U.
  const Op v_first = FirstRows(l, r.v, kept);
  const Op u = SolvedTriangular(l, v_first, FirstRows(l, moved, kept), true, true, true);
  const Op zero =
      l.b.Binary(hlo::kAnd, AtDiagonal(l, u, Order::kEq), CompareOps(l, u, N(l, u, 0), Order::kEq));
  const Op divisor = SelectOps(l, zero, N(l, u, 1), u);  // A reflection that is the identity does not change.
  Op square = r.v;  // V, completed to a square matrix by columns of the identity.
  if (rows > kept)
    square = UnitLower(l, PadDim(l, r.v, N(l, r.v, 0), RankOf(l, r.v) - 1, {0, rows - kept, 0}));
  const Op reduced = SolvedTriangular(l, square, l.b.Unary(hlo::kNegate, t.q), true, true, true);
  const Op g = Strict(l, SolvedTriangular(l, divisor, reduced, false, false, false), Order::kGt);
  const Op du = FirstRows(l, reduced, kept) - ProductOf(l, FirstRows(l, g, kept), u);
  const Op dv = ProductOf(l, square, g);
  const auto whole = [&](Op x) {  // Pads x with zeros below and to the right.
    const int64_t rank = RankOf(l, x), below = rows - RowsIn(l, x),
                  beside = ColumnsIn(l, packed) - ColumnsIn(l, x);
    if (below > 0) x = PadDim(l, x, N(l, x, 0), rank - 2, {0, below, 0});
    return beside > 0 ? PadDim(l, x, N(l, x, 0), rank - 1, {0, beside, 0}) : x;
  };
  const Op dr = OnlyWhere(l, AtDiagonal(l, t.r, Order::kLe), t.r);
  all[0] = whole(dr) + whole(Strict(l, dv, Order::kGt));
  all[exchanges ? 2 : 1] = DiagonalOf(l, du);
  return all;
}

Tangents OwnReflectedQr(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op q = c.x[0], packed = c.x[1];
  if (Count(l.dims(packed)) == 0) return Tangents(2);
  const int64_t kept = ColumnsIn(l, q);
  const Op upper = OnlyWhere(l, AtDiagonal(l, packed, Order::kLe), packed);
  const QrOf t = QrTangents(l, {q, FirstRows(l, upper, kept)}, c.t[2]);
  const Op dr = OnlyWhere(l, AtDiagonal(l, t.r, Order::kLe), t.r);
  const int64_t below = RowsIn(l, packed) - kept;
  return {t.q, below == 0 ? dr : PadDim(l, dr, N(l, dr, 0), RankOf(l, dr) - 2, {0, below, 0})};
}

namespace {

// If a node is result `index` of a custom call of that routine (or of the TPU's name for it), returns the
// call.
std::optional<NodeId> CallOf(const hlo::Computation& computation, NodeId node, int64_t index,
                             std::string_view routine, std::string_view tpu_name) {
  const hlo::Instruction element = computation[node];
  if (element.opcode() != hlo::kGetTupleElement) return std::nullopt;
  if (element.attributes<hlo::TupleIndexAttributes>().index != index) return std::nullopt;
  const hlo::Instruction call = element.operand(0);
  if (call.opcode() != hlo::kCustomCall) return std::nullopt;
  const std::string& target = call.attributes<hlo::CustomCallAttributes>().target;
  return IsRoutine(target, routine) || target == tpu_name ? std::optional(call.id()) : std::nullopt;
}

}  // namespace

std::optional<NodeId> AppendReflectedQr(hlo::Computation& to, NodeId product) {
  const hlo::Instruction call = to[product];
  const std::string& target = call.attributes<hlo::CustomCallAttributes>().target;
  if (!IsRoutine(target, "orgqr") && !IsRoutine(target, "ungqr") &&
      target != "ProductOfElementaryHouseholderReflectors") {
    return std::nullopt;
  }
  if (call.operand_count() != 2 || !call.shape().IsArray()) return std::nullopt;
  const Shape& tau = call.operand(1).shape();
  NodeId packed = call.operands()[0];
  if (to[packed].opcode() == hlo::kSlice)
    packed = to[packed].operands()[0];  // For a wide matrix, orgqr gets only the first columns.
  const auto factored = CallOf(to, packed, 0, "geqrf", "Qr");
  if (!factored.has_value() || CallOf(to, call.operands()[1], 1, "geqrf", "Qr") != factored)
    return std::nullopt;
  // The call computes more columns of Q.
  if (tau.dims.back() != call.shape().dims.back()) return std::nullopt;
  const NodeId a = to[*factored].operands()[0];
  hlo::Builder b(TraceTables::Get().callees(), to);
  const Op elements[] = {hlo::StopGradient({&b, product}), hlo::StopGradient({&b, packed}), {&b, a}};
  return b.GetTupleElement(hlo::TupleWithRule("reflected_qr", elements, 2), 0).id;
}

// The select is the upper triangle of the packed factors, or of their first rows: select(i - 1 >= j, 0,
// packed). By parts R has no second derivative where a reflection is the identity.
std::optional<NodeId> AppendTriangleOfQr(hlo::Computation& to, NodeId select) {
  const hlo::Instruction triangle = to[select];
  if (triangle.opcode() != hlo::kSelect) return std::nullopt;
  const hlo::Instruction mask = triangle.operand(0), rows = triangle.operand(2);
  const bool sliced = rows.opcode() == hlo::kSlice;
  const NodeId packed = sliced ? rows.operands()[0] : rows.id();
  if (mask.opcode() != hlo::kCompare || mask.operand(0).opcode() != hlo::kAdd ||
      mask.operand(1).opcode() != hlo::kIota || !CallOf(to, packed, 0, "geqrf", "Qr").has_value()) {
    return std::nullopt;
  }
  for (NodeId node = packed; node < select; ++node) {
    if (hlo::OwnRule(to, node) != "reflected_qr" || to[node].operand(1).operands()[0] != packed) continue;
    const NodeId pred = mask.id(), zeros = triangle.operands()[1];
    const hlo::ShapeId shape = rows.shape_id();
    const hlo::AttributesId attributes = rows.attributes_id();
    hlo::Builder b(TraceTables::Get().callees(), to);
    NodeId r = b.GetTupleElement({&b, node}, 1).id;
    if (sliced) r = to.Append(hlo::kSlice, shape, attributes, {r});
    return b.Select({&b, pred}, {&b, zeros}, {&b, r}).id;
  }
  return std::nullopt;
}

}  // namespace hlod::lazy

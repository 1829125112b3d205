// The rules by routine. A rule computes the tangents from the routine's results by the formula of the
// factorisation; the routine's steps are not differentiated.
#include "client/transform/rules/lapack.h"

#include "client/transform/rules/matrices.h"
#include "common/base/text/strings.h"
#include "common/lapack/config.h"
#include "common/lapack/target.h"

namespace hlod::lazy {
namespace {

Op TriangleOf(Lowering& l, Op x, bool lower, bool diagonal) {
  const Order order = lower ? (diagonal ? Order::kGe : Order::kGt) : (diagonal ? Order::kLe : Order::kLt);
  return OnlyWhere(l, AtDiagonal(l, x, order), x);
}

// Returns the permutation that exchanges of rows, numbered from `first`, amount to.
Op PermutationFrom(Lowering& l, Op pivots, int64_t rows, int64_t first) {
  const Dims dims = l.dims(pivots);
  const int64_t steps = dims.back();
  Dims whole(dims.begin(), dims.end() - 1);
  const int64_t batch = Count(whole);
  whole.push_back(rows);
  Op counted = l.Reshape(l.Convert(pivots, hlo::kS64), {batch, steps});
  if (first != 0) counted = counted - l.Full(hlo::kS64, {batch, steps}, first);
  return l.Reshape(PermutationOf(l, counted, rows), whole);
}

Tangents Getrf(const RoutineArgs& c) {
  Lowering& l = c.l();
  const Op lu = c.result(0), pivots = c.result(1);
  const int64_t rows = l.dims(lu)[RankOf(l, lu) - 2];
  return {LuTangent(l, lu, PermutationFrom(l, pivots, rows, 1), c.tangent(0)), Op{}, Op{}};
}

// The TPU's call, whose results are L and U in one matrix, the exchanges, and the permutation.
Tangents LuDecomposition(const RoutineArgs& c) {
  Lowering& l = c.l();
  const Op permutation = l.Convert(c.result(2), hlo::kS64);
  return {LuTangent(l, c.result(0), permutation, c.tangent(0)), Op{}, Op{}};
}

// The result's other triangle is a copy of the operand's.
Tangents Potrf(const RoutineArgs& c) {
  Lowering& l = c.l();
  const bool lower = c.number("uplo") == 'L';
  const Op t = c.tangent(0), kept = TriangleOf(l, c.result(0), lower, true);
  const Op tangent = CholeskyTangent(l, lower ? kept : AdjointOf(l, kept), HermitianFrom(l, t, lower));
  return {(lower ? tangent : AdjointOf(l, tangent)) + TriangleOf(l, t, !lower, false), Op{}};
}

Tangents Trsm(const RoutineArgs& c) {
  const int64_t letter = c.number("trans_x");
  hlo::TriangularSolveAttributes solve;
  solve.left_side = c.number("side") == 'L';
  solve.lower = c.number("uplo") == 'L';
  solve.unit_diagonal = c.number("diag") == 'U';
  solve.transpose_a = static_cast<uint8_t>(letter == 'T'   ? Transposition::kTranspose
                                           : letter == 'C' ? Transposition::kAdjoint
                                                           : Transposition::kNo);
  return {TriangularSolveTangent(c.l(), solve, c.operand(0), c.result(0), c.c.t[0], c.c.t[1])};
}

// The solution x of A x = b with the diagonals of A: dx = inverse(A) (db - dA x). The inverse is a matrix,
// because the routine, which could solve for the parentheses instead, has no transpose. The diagonals of the
// factors, which JAX does not read, have no tangents.
Tangents Gtsv(const RoutineArgs& c) {
  Lowering& l = c.l();
  const Op x = c.result(3);
  const Dims dims = l.dims(x);
  const int64_t rank = RankOf(l, x), rows = dims[rank - 2];
  const Op zero = l.Number(l.type(x), 0);
  Op right = c.c.t[3];
  for (const int64_t diagonal : {-1, 0, 1}) {
    const Op t = c.c.t[static_cast<size_t>(diagonal + 1)];
    if (IsZero(t)) continue;
    const Op moved = PadDim(l, x, zero, rank - 2, {-diagonal, diagonal, 0});
    right = SumOf(l, right, l.b.Unary(hlo::kNegate, AlongColumns(l, t, x) * moved));
  }
  Dims square = dims;
  square[rank - 1] = rows;
  const int64_t batch = Count(Dims(dims.begin(), dims.end() - 2));
  const Op identity = l.Reshape(Identity(l, l.type(x), batch, rows), square);
  Shape shape = c.c.shape;
  shape.tuple[3] = l.shape(identity);
  const Op operands[] = {c.operand(0), c.operand(1), c.operand(2), identity};
  const Op solved = l.b.Add(hlo::kCustomCall, operands, c.c.Get<hlo::CustomCallAttributes>(), {}, &shape);
  return {Op{}, Op{}, Op{}, ProductOf(l, l.b.GetTupleElement(solved, 3), right), Op{}};
}

struct Row {
  // "getrf" for lapack_sgetrf_ffi and the other types; for the TPU's calls, the target.
  std::string_view routine;
  RoutineRule rule;
};
constexpr Row kRoutines[] = {
    {"getrf", Getrf},         {"potrf", Potrf},         {"trsm", Trsm},           {"geqrf", GeqrfTangents},
    {"geqp3", GeqrfTangents}, {"orgqr", OrgqrTangents}, {"ungqr", OrgqrTangents}, {"ormqr", OrmqrTangents},
    {"unmqr", OrmqrTangents}, {"syevd", SyevdTangents}, {"heevd", SyevdTangents}, {"gesdd", GesddTangents},
    {"gesvd", GesddTangents}, {"geev", GeevTangents},   {"gtsv", Gtsv},
};
constexpr Row kTpuCalls[] = {
    {"LuDecomposition", LuDecomposition},
    {"Qr", GeqrfTangents},
    {"ProductOfElementaryHouseholderReflectors", OrgqrTangents},
    {"Eigh", EighTangents},
};

// Returns "getrf" for lapack_sgetrf_ffi; empty for targets of another form.
std::string_view RoutineOf(std::string_view target) {
  return lapack::ParseTarget(target).value_or(lapack::Target{}).routine;
}

RoutineRule RuleOf(std::string_view target) {
  for (const Row& row : kTpuCalls) {
    if (row.routine == target) return row.rule;
  }
  for (const Row& row : kRoutines) {
    if (row.routine == RoutineOf(target)) return row.rule;
  }
  return nullptr;
}

Tangents ByRoutine(const TangentArgs& c) {
  const auto& call = c.Get<hlo::CustomCallAttributes>();
  absl::StatusOr<std::map<std::string, int64_t, std::less<>>> config =
      lapack::ParseConfig(call.backend_config);
  RoutineArgs of{c, call.target, {}};
  if (config.ok()) of.config = *std::move(config);
  return RuleOf(call.target)(of);
}

}  // namespace

TangentRule CustomCallTangentRule(std::string_view target) {
  return RuleOf(target) == nullptr ? nullptr : ByRoutine;
}

bool TakesBatches(std::string_view target) {
  for (const Row& row : kTpuCalls) {
    if (row.routine == target) return true;
  }
  return !RoutineOf(target).empty();
}

bool IsRoutine(std::string_view target, std::string_view routine) { return RoutineOf(target) == routine; }

std::vector<Op> RoutineArgs::Again(std::string_view config) const {
  hlo::CustomCallAttributes call = c.Get<hlo::CustomCallAttributes>();
  call.backend_config = std::string(config);
  const Op made = c.l.b.Add(hlo::kCustomCall, c.x, call, {}, &c.shape);
  std::vector<Op> elements;
  for (size_t i = 0; i < c.shape.tuple.size(); ++i) {
    elements.push_back(c.l.b.GetTupleElement(made, static_cast<int64_t>(i)));
  }
  return elements;
}

Op HermitianFrom(Lowering& l, Op t, bool lower) {
  const Op strict = TriangleOf(l, t, lower, false);
  Op diagonal = OnlyWhere(l, AtDiagonal(l, t, Order::kEq), t);
  if (hlo::IsComplex(l.type(t))) diagonal = l.Convert(l.b.Unary(hlo::kReal, diagonal), l.type(t));
  return strict + AdjointOf(l, strict) + diagonal;
}

}  // namespace hlod::lazy

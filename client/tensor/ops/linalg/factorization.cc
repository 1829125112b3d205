// Factorizations of matrices: LAPACK's or, where that is missing, a loop over columns. Each iteration is a
// few operations on the whole batch.
#include "client/tensor/ops/linalg/factorization.h"

#include <algorithm>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/linalg/routine.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/ops/shape/movement.h"

namespace hlod::lazy {
namespace {

// Helpers for the bodies of the loops: a builder, the sizes, reducers.
struct Body {
  hlo::Builder& b;
  int64_t batch, rows, columns;
  hlo::ComputationId add;

  Dims whole() const { return {batch, rows, columns}; }
  Op Index(const Dims& dims, int64_t dim) const { return b.Iota(Shape::Array(hlo::kS64, dims), dim); }
  Op Compare(Op x, Op y, Order order) const { return b.Compare(x, Distribution(y, b.shape(x).dims), order); }
  Op Distribution(Op scalar, const Dims& dims) const {
    return b.shape(scalar).dims.empty() && !dims.empty() ? b.Broadcast(scalar, dims, {}) : scalar;
  }
  Op Zero() const { return NumberIn(b, hlo::kS64, 0); }
  Op Column(Op x, Op k) const {
    return b.Reshape(b.DynamicSlice(x, {Zero(), Zero(), k}, {batch, rows, 1}), {batch, rows});
  }
  Op Row(Op x, Op k) const {
    return b.Reshape(b.DynamicSlice(x, {Zero(), k, Zero()}, {batch, 1, columns}), {batch, columns});
  }
  // Broadcasts of [batch, rows] or [batch, columns] to the shape of the matrices.
  Op DownRows(Op x) const { return b.Broadcast(x, whole(), {0, 1}); }
  Op AlongColumns(Op x) const { return b.Broadcast(x, whole(), {0, 2}); }
  Op Sum(Op x, int64_t dim) const { return b.Reduce(x, NumberLike(b, x, 0), {dim}, add); }
  // Returns x where `mask` is true, otherwise 0.
  Op Where(Op mask, Op x) const { return b.Select(mask, x, FullLike(b, x, 0)); }
};

Op Conjugate(hlo::Builder& b, Op x) {
  if (!hlo::IsComplex(b.shape(x).type)) return x;
  return b.Binary(hlo::kComplex, b.Unary(hlo::kReal, x), b.Unary(hlo::kNegate, b.Unary(hlo::kImag, x)));
}
Op RealPart(hlo::Builder& b, Op x) { return hlo::IsComplex(b.shape(x).type) ? b.Unary(hlo::kReal, x) : x; }
// Converts a real number to x's type.
Op Like(hlo::Builder& b, Op real, Op x) { return b.Convert(real, b.shape(x).type); }

// Applies one reflection to R and Q: R = H^H R, Q = Q H, with H = I - tau v v^H. Either may be null.
void Reflect(const Body& body, Op v, Op tau, Op* r, Op* q) {
  hlo::Builder& b = body.b;
  const Op adjoint = Conjugate(b, v);
  if (r != nullptr) {
    const Op product = body.Sum(body.DownRows(adjoint) * *r, 1);
    const Op scaled = product * b.Broadcast(Conjugate(b, tau), b.shape(product).dims, {0});
    *r = *r - body.DownRows(v) * body.AlongColumns(scaled);
  }
  if (q == nullptr) return;
  const Dims square = {body.batch, body.rows, body.rows};
  const Op product = body.Sum(*q * b.Broadcast(v, square, {0, 2}), 2);
  const Op scaled = product * b.Broadcast(tau, b.shape(product).dims, {0});
  *q = *q - b.Broadcast(scaled, square, {0, 1}) * b.Broadcast(adjoint, square, {0, 2});
}

}  // namespace

Op AsBatch(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  if (dims.size() < 2) Refuse("a matrix is needed, not shape %s", ListText(dims));
  if (!hlo::IsFloat(l.type(x)) && !hlo::IsComplex(l.type(x))) {
    Refuse("matrices of floating or complex numbers are needed, not of %s", hlo::Name(l.type(x)));
  }
  return l.Reshape(x, {Count(Dims(dims.begin(), dims.end() - 2)), dims[dims.size() - 2], dims.back()});
}

void RequireSquare(Lowering& l, Op x) {
  const Dims& dims = l.dims(x);
  if (dims.size() < 2 || dims.back() != dims[dims.size() - 2]) {
    Refuse("the matrices of shape %s are not square", ListText(dims));
  }
}

Op Identity(Lowering& l, PrimitiveType type, int64_t batch, int64_t n) {
  const Dims dims = {batch, n, n};
  return l.Convert(l.b.Compare(IndexIota(l, dims, 1), IndexIota(l, dims, 2), Order::kEq), type);
}

namespace {

LuOps Eliminated(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  const int64_t batch = dims[0], rows = dims[1], columns = dims[2], steps = std::min(rows, columns);
  const Dims of_rows = {batch, rows};
  const Op order = IndexIota(l, of_rows, 1);
  if (Count(dims) == 0) return {x, l.Full(hlo::kS64, {batch, steps}, 0), order};
  const PrimitiveType type = l.type(x), real = l.type(l.b.Unary(hlo::kAbs, x));
  const hlo::ComputationId add = l.Reducer(hlo::kAdd, type), maximum = l.Reducer(hlo::kMaximum, real),
                           minimum = l.Reducer(hlo::kMinimum, hlo::kS64);
  const State done = ForEach(
      l, steps, {x, l.Full(hlo::kS64, {batch, steps}, 0), order}, [&](hlo::Builder& b, Op k, const State& s) {
        const Body body{b, batch, rows, columns, add};
        const Op row = body.Index(of_rows, 1), column = body.Column(s[0], k);
        // The pivot is the first of the largest elements on and below the diagonal; complex numbers are
        // compared by |re| + |im|, as in LAPACK.
        Op size = b.Unary(hlo::kAbs, RealPart(b, column));
        if (hlo::IsComplex(type)) size = size + b.Unary(hlo::kAbs, b.Unary(hlo::kImag, column));
        size = b.Select(body.Compare(row, k, Order::kGe), size, FullLike(b, size, -1));
        const Op largest = b.Reduce(size, NumberLike(b, size, -1), {1}, maximum);
        const Op is_largest = b.Compare(size, b.Broadcast(largest, of_rows, {0}), Order::kEq);
        const Op last = FullLike(b, row, rows - 1);
        const Op pivot =
            b.Reduce(b.Select(is_largest, row, last), NumberIn(b, hlo::kS64, rows - 1), {1}, minimum);
        // Exchanges rows k and `pivot`.
        const Op is_k = body.Compare(row, k, Order::kEq);
        const Op is_pivot = b.Compare(row, b.Broadcast(pivot, of_rows, {0}), Order::kEq);
        const Op pivot_row = body.Sum(body.Where(body.DownRows(is_pivot), s[0]), 1);
        Op a = b.Select(body.DownRows(is_pivot), body.AlongColumns(body.Row(s[0], k)), s[0]);
        a = b.Select(body.DownRows(is_k), body.AlongColumns(pivot_row), a);
        // Divides the column by the pivot and updates the trailing submatrix.
        const Op at = b.Reshape(b.DynamicSlice(pivot_row, {body.Zero(), k}, {batch, 1}), {batch});
        const Op safe = b.Select(b.Compare(at, FullLike(b, at, 0), Order::kEq), FullLike(b, at, 1), at);
        const Op below = body.Compare(row, k, Order::kGt);
        const Op factors = body.Where(below, body.Column(a, k) / b.Broadcast(safe, of_rows, {0}));
        const Op j = body.Index(body.whole(), 2);
        const Op in_column = b.Binary(hlo::kAnd, body.Compare(j, k, Order::kEq), body.DownRows(below));
        const Op rest = b.Binary(hlo::kAnd, body.Compare(j, k, Order::kGt), body.DownRows(below));
        const Op reduced = a - body.DownRows(factors) * body.AlongColumns(pivot_row);
        a = b.Select(in_column, body.DownRows(factors), b.Select(rest, reduced, a));
        const Op step = body.Index({batch, steps}, 1);
        const Op pivots =
            b.Select(body.Compare(step, k, Order::kEq), b.Broadcast(pivot, {batch, steps}, {0}), s[1]);
        // Exchanges the row numbers in the same way.
        const Op old_k = b.Reshape(b.DynamicSlice(s[2], {body.Zero(), k}, {batch, 1}), {batch});
        const Op old_pivot = b.Reduce(b.Select(is_pivot, s[2], FullLike(b, row, rows)),
                                      NumberIn(b, hlo::kS64, rows), {1}, minimum);
        Op permutation = b.Select(is_pivot, b.Broadcast(old_k, of_rows, {0}), s[2]);
        permutation = b.Select(is_k, b.Broadcast(old_pivot, of_rows, {0}), permutation);
        return State{a, pivots, permutation};
      });
  return {done[0], done[1], done[2]};
}

LuOps Factored(Lowering& l, Op x) {
  const PrimitiveType type = l.type(x);
  const Dims dims = l.dims(x);
  if (!HasRoutines(type) || Count(dims) == 0) return Eliminated(l, x);
  // The custom-call that XLA's TPU backend uses for getrf; it also returns the permutation.
  const std::vector<Op> parts = CallRoutine(l, "LuDecomposition", "", {x}, [](Lowering& inner, Operands o) {
    const LuOps factors = Eliminated(inner, o[0]);
    return std::vector<Op>{factors.lu, inner.Convert(factors.pivots, hlo::kS32),
                           inner.Convert(factors.permutation, hlo::kS32)};
  });
  return {KeepingNan(l, x, {parts[0]})[0], l.Convert(parts[1], hlo::kS64), l.Convert(parts[2], hlo::kS64)};
}

}  // namespace

LuOps Decomposed(Lowering& l, Op x, bool differentiable) {
  if (!differentiable) return Factored(l, x);
  const std::vector<Op> parts = WithOwnDerivative(l, "lu", {x}, [&](Operands o) {
    const LuOps factors = Factored(l, o[0]);
    return std::vector<Op>{factors.lu, factors.pivots, factors.permutation};
  });
  return {parts[0], parts[1], parts[2]};
}

Op PermutationOf(Lowering& l, Op pivots, int64_t rows) {
  const int64_t batch = l.dims(pivots)[0], steps = l.dims(pivots)[1];
  const Dims dims = {batch, rows};
  if (batch * steps == 0) return IndexIota(l, dims, 1);
  const hlo::ComputationId minimum = l.Reducer(hlo::kMinimum, hlo::kS64);
  return ForEach(l, steps, {IndexIota(l, dims, 1), pivots}, [&](hlo::Builder& b, Op k, const State& s) {
    const Op zero = NumberIn(b, hlo::kS64, 0), row = b.Iota(Shape::Array(hlo::kS64, dims), 1);
    const auto at_k = [&](Op x) { return b.Reshape(b.DynamicSlice(x, {zero, k}, {batch, 1}), {batch}); };
    const Op is_k = b.Compare(row, b.Broadcast(k, dims, {}), Order::kEq);
    const Op is_pivot = b.Compare(row, b.Broadcast(at_k(s[1]), dims, {0}), Order::kEq);
    const Op old_pivot = b.Reduce(b.Select(is_pivot, s[0], FullLike(b, row, rows)),
                                  NumberIn(b, hlo::kS64, rows), {1}, minimum);
    const Op exchanged = b.Select(is_pivot, b.Broadcast(at_k(s[0]), dims, {0}), s[0]);
    return State{b.Select(is_k, b.Broadcast(old_pivot, dims, {0}), exchanged), s[1]};
  })[0];
}

Op InversePermutation(Lowering& l, Op permutation) {
  return ScatterAlong(l, l.Full(hlo::kS64, l.dims(permutation), 0), 1, permutation,
                      IndexIota(l, l.dims(permutation), 1), Combine::kSet);
}

Op TakeRows(Lowering& l, Op x, Op index) {
  const Dims dims = l.dims(x), at = l.dims(index);
  if (Count(dims) == 0) return x;
  return GatherAlong(l, x, 1, l.b.Broadcast(index, {at[0], at[1], dims[2]}, {0, 1}));
}

Op SolvedTriangular(Lowering& l, Op a, Op b, bool left, bool lower, bool unit, Transposition transposed) {
  if (Count(l.dims(b)) == 0) return b;
  return l.b.Add(hlo::kTriangularSolve, {a, b},
                 hlo::TriangularSolveAttributes{left, lower, unit, static_cast<uint8_t>(transposed)});
}

Op SolvedByFactors(Lowering& l, Op lu, Op b) {
  return SolvedTriangular(l, lu, SolvedTriangular(l, lu, b, true, true, true), true, false, false);
}

namespace {

// Column k is reflected to -sign(alpha) times its length, where alpha is its first element.
ReflectionOps ReflectedByLoop(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  const int64_t batch = dims[0], rows = dims[1], columns = dims[2], steps = std::min(rows, columns);
  const PrimitiveType type = l.type(x), real = l.type(l.b.Unary(hlo::kAbs, x));
  const hlo::ComputationId add = l.Reducer(hlo::kAdd, type), add_real = l.Reducer(hlo::kAdd, real);
  const Dims of_rows = {batch, rows}, of_steps = {batch, steps};
  const State start = {x, l.Full(type, of_steps, 0)};
  const State done = ForEach(l, steps, start, [&](hlo::Builder& b, Op k, const State& s) {
    const Body body{b, batch, rows, columns, add};
    const Op row = body.Index(of_rows, 1), column = body.Column(s[0], k);
    const Op alpha = b.Reshape(b.DynamicSlice(column, {body.Zero(), k}, {batch, 1}), {batch});
    const auto length = [&](Op mask) {
      const Op size = b.Unary(hlo::kAbs, column), part = body.Where(mask, size * size);
      return b.Unary(hlo::kSqrt, b.Reduce(part, NumberLike(b, part, 0), {1}, add_real));
    };
    const Op below = body.Compare(row, k, Order::kGt);
    const Op norm = length(body.Compare(row, k, Order::kGe)), rest = length(below);
    const Op first = RealPart(b, alpha), zero = FullLike(b, first, 0);
    const Op beta = b.Select(b.Compare(first, zero, Order::kLt), norm, b.Unary(hlo::kNegate, norm));
    Op nothing = b.Compare(rest, zero, Order::kEq);
    if (hlo::IsComplex(type)) {
      nothing = b.Binary(hlo::kAnd, nothing, b.Compare(b.Unary(hlo::kImag, alpha), zero, Order::kEq));
    }
    const Op one = FullLike(b, alpha, 1), beta_like = Like(b, beta, alpha);
    const Op tau =
        b.Select(nothing, FullLike(b, alpha, 0), (beta_like - alpha) / b.Select(nothing, one, beta_like));
    const Op divisor = b.Select(nothing, one, alpha - beta_like);
    const Op tail = body.Where(below, column / b.Broadcast(divisor, of_rows, {0}));
    const Op v = b.Select(body.Compare(row, k, Order::kEq), FullLike(b, tail, 1), tail);
    Op r = s[0];
    Reflect(body, v, tau, &r, nullptr);
    // The columns before k hold vectors of earlier reflections and are not changed.
    const Op j = body.Index(body.whole(), 2), in_column = body.Compare(j, k, Order::kEq);
    r = b.Select(body.Compare(j, k, Order::kGe), r, s[0]);
    r = b.Select(b.Binary(hlo::kAnd, in_column, body.DownRows(below)), body.DownRows(tail), r);
    const Op at_k = body.Compare(body.Index(of_steps, 1), k, Order::kEq);
    return State{r, b.Select(at_k, b.Broadcast(tau, of_steps, {0}), s[1])};
  });
  return {done[0], done[1]};
}

Op ProductByLoop(Lowering& l, Op x, Op tau) {
  const Dims dims = l.dims(x);
  const int64_t batch = dims[0], rows = dims[1], columns = dims[2], steps = l.dims(tau)[1];
  const Op start = Identity(l, l.type(x), batch, rows);
  const hlo::ComputationId add = l.Reducer(hlo::kAdd, l.type(x));
  const Dims of_rows = {batch, rows};
  Op q = start;
  if (steps > 0) {
    q = ForEach(l, steps, {start, x, tau}, [&](hlo::Builder& b, Op k, const State& s) {
      const Body body{b, batch, rows, columns, add};
      const Op row = body.Index(of_rows, 1);
      Op v = body.Where(body.Compare(row, k, Order::kGt), body.Column(s[1], k));
      v = b.Select(body.Compare(row, k, Order::kEq), FullLike(b, v, 1), v);
      const Op t = b.Reshape(b.DynamicSlice(s[2], {body.Zero(), k}, {batch, 1}), {batch});
      Op product = s[0];
      Reflect(body, v, t, nullptr, &product);
      return State{product, s[1], s[2]};
    })[0];
  }
  return SliceDim(l, q, 2, 0, columns);
}

}  // namespace

Op ReflectionProduct(Lowering& l, Op x, Op tau) {
  const PrimitiveType type = l.type(x);
  if (Count(l.dims(x)) == 0) return x;
  if (!HasRoutines(type) || Count(l.dims(tau)) == 0) return ProductByLoop(l, x, tau);
  const char* const routine = hlo::IsComplex(type) ? "ungqr" : "orgqr";
  return CallRoutine(l, RoutineTarget(routine, type), "{}", {x, tau}, [](Lowering& inner, Operands o) {
    return std::vector<Op>{ProductByLoop(inner, o[0], o[1])};
  })[0];
}

ReflectionOps HouseholderForm(Lowering& l, Op x) {
  const PrimitiveType type = l.type(x);
  if (!HasRoutines(type)) return ReflectedByLoop(l, x);
  const std::vector<Op> parts =
      CallRoutine(l, RoutineTarget("geqrf", type), "{}", {x}, [](Lowering& inner, Operands o) {
        const ReflectionOps found = ReflectedByLoop(inner, o[0]);
        return std::vector<Op>{found.r, found.tau};
      });
  return {parts[0], parts[1]};
}

QrOps Reflected(Lowering& l, Op x, int64_t kept) {
  const Dims dims = l.dims(x);
  const int64_t batch = dims[0], rows = dims[1], columns = dims[2], steps = std::min(rows, columns);
  const PrimitiveType type = l.type(x);
  if (Count(dims) == 0) return {SliceDim(l, Identity(l, type, batch, rows), 2, 0, kept), x};
  const ReflectionOps reflections = HouseholderForm(l, x);
  // The vectors, padded with columns of zeros for the columns of Q without a reflection.
  Op vectors = SliceDim(l, reflections.r, 2, 0, steps);
  if (kept > steps) vectors = PadDim(l, vectors, l.Number(type, 0), 2, {0, kept - steps, 0});
  const Op q = ReflectionProduct(l, vectors, reflections.tau);
  const Op above = l.b.Compare(IndexIota(l, dims, 1), IndexIota(l, dims, 2), Order::kLe);
  const Op r = SelectOps(l, above, reflections.r, l.Number(type, 0));
  const std::vector<Op> parts = KeepingNan(l, x, {q, r});
  return {parts[0], parts[1]};
}

}  // namespace hlod::lazy

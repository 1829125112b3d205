// Running sums, products and extremes.
#include "hlod/ops/cumulative.h"

#include "client/tensor/ops/elementwise.h"
#include "client/tensor/ops/movement.h"
#include "client/tensor/ops/scan.h"

namespace hlod {

using lazy::CompareOps;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;

namespace lazy {

std::vector<Op> Prefixes(Lowering& l, std::vector<Op> x, int64_t dim, JoinOps join) {
  if (l.dims(x[0]).empty()) return x;
  const int64_t size = l.dims(x[0])[dim];
  for (int64_t step = 1; step < size; step *= 2) {
    std::vector<Op> before, behind;
    for (const Op one : x) {
      before.push_back(SliceDim(l, one, dim, 0, size - step));
      behind.push_back(SliceDim(l, one, dim, step, size));
    }
    const std::vector<Op> joined = join(l, before, behind);
    for (size_t i = 0; i < x.size(); ++i) {
      const Op parts[] = {SliceDim(l, x[i], dim, 0, step), joined[i]};
      x[i] = Joined(l, parts, dim);
    }
  }
  return x;
}

Op Prefixes(Lowering& l, Op x, int64_t dim, hlo::Opcode opcode) {
  return Prefixes(l, std::vector<Op>{x}, dim, [opcode](Lowering& l, Operands before, Operands behind) {
    return std::vector<Op>{l.b.Binary(opcode, before[0], behind[0])};
  })[0];
}

}  // namespace lazy

namespace {

Tensor Accumulated(const lazy::Operation& operation, const Operand& x, int64_t dim, hlo::Opcode opcode) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    if (hlo::IsInteger(l.type(x))) x = l.Convert(x, hlo::kS64);
    const int64_t at = lazy::WrapDim(dim, lazy::RankOf(l, x));
    return lazy::InWide(l, x, [&](Lowering& l, Op x) { return lazy::Prefixes(l, x, at, opcode); });
  });
}

// The extreme so far and its last position; from the first NaN on NaN.
ValuesAndIndices RunningExtreme(const lazy::Operation& operation, const Operand& x, int64_t dim,
                                Order direction) {
  const std::vector<Tensor> both = lazy::CallSeveral(operation, {x}, [&](Lowering& l, Operands o) {
    if (hlo::IsComplex(l.type(o[0]))) Refuse("complex numbers have no order");
    const Dims dims = l.dims(o[0]);
    const int64_t at = lazy::WrapDim(dim, lazy::RankOf(l, o[0]));
    const Op position = dims.empty() ? l.Number(hlo::kS64, 0) : lazy::IndexIota(l, dims, at);
    const auto join = [direction](Lowering& l, Operands before, Operands behind) {
      const Op later =
          l.b.Binary(hlo::kOr, lazy::NanOps(l, behind[0]), CompareOps(l, behind[0], before[0], direction));
      return std::vector<Op>{l.b.Select(later, behind[0], before[0]),
                             l.b.Select(later, behind[1], before[1])};
    };
    return lazy::Prefixes(l, {o[0], position}, at, join);
  });
  return {both[0], both[1]};
}

}  // namespace

Tensor Cumsum(const Operand& x, int64_t dim) { return Accumulated(lazy::ops::Cumsum, x, dim, hlo::kAdd); }
Tensor Cumprod(const Operand& x, int64_t dim) {
  return Accumulated(lazy::ops::Cumprod, x, dim, hlo::kMultiply);
}
ValuesAndIndices Cummax(const Operand& x, int64_t dim) {
  return RunningExtreme(lazy::ops::Cummax, x, dim, Order::kGe);
}
ValuesAndIndices Cummin(const Operand& x, int64_t dim) {
  return RunningExtreme(lazy::ops::Cummin, x, dim, Order::kLe);
}
Tensor Logcumsumexp(const Operand& x, int64_t dim) {
  return lazy::Unary(lazy::ops::Logcumsumexp, x, [&](Lowering& l, Op x) {
    if (!hlo::IsFloat(l.type(x))) Refuse("logcumsumexp takes floating types, not %s", hlo::Name(l.type(x)));
    const int64_t at = lazy::WrapDim(dim, lazy::RankOf(l, x));
    const auto join = [](Lowering& l, Operands before, Operands behind) {
      return std::vector<Op>{lazy::LogAddExpOps(l, before[0], behind[0])};
    };
    return lazy::InWide(
        l, x, [&](Lowering& l, Op x) { return lazy::Prefixes(l, std::vector<Op>{x}, at, join)[0]; });
  });
}

}  // namespace hlod

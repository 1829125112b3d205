// Products of matrices.
#include "hlod/ops/linear_algebra.h"

#include "client/tensor/apply.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

// Batches broadcast to one shape; the last two dimensions stay.
Op BroadcastBatch(Lowering& l, Op x, const Dims& batch) {
  Dims dims = batch;
  const Dims& from = l.dims(x);
  dims.insert(dims.end(), from.end() - 2, from.end());
  return l.BroadcastTo(x, dims);
}

Op MatMulOps(Lowering& l, Op x, Op y) {
  Dims a = l.dims(x), b = l.dims(y);
  if (a.empty() || b.empty()) Refuse("a matrix product takes no scalars");
  const int64_t inner = a.back(), other = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (inner != other) {
    Refuse("shapes %s and %s cannot be multiplied: %d columns meet %d rows", ListText(a), ListText(b), inner,
           other);
  }
  hlo::DotAttributes dot;
  const size_t a_batch = a.size() < 2 ? 0 : a.size() - 2, b_batch = b.size() < 2 ? 0 : b.size() - 2;
  dot.lhs_contracting = {static_cast<int64_t>(a.size()) - 1};
  if (b_batch == 0) {  // Any number of rows times a matrix or vector: one dot as it is.
    dot.rhs_contracting = {0};
    return l.b.Dot(x, y, dot);
  }
  if (a.size() == 1) {  // A vector is a row for the time of the product.
    x = l.Reshape(x, {1, inner});
    a = l.dims(x);
  }
  const Dims batch = lazy::BroadcastDims(Dims(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(a_batch)),
                                         Dims(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(b_batch)));
  x = BroadcastBatch(l, x, batch);
  y = BroadcastBatch(l, y, batch);
  const auto rank = static_cast<int64_t>(batch.size());
  for (int64_t i = 0; i < rank; ++i) {
    dot.lhs_batch.push_back(i);
    dot.rhs_batch.push_back(i);
  }
  dot.lhs_contracting = {rank + 1};
  dot.rhs_contracting = {rank};
  return l.b.Dot(x, y, dot);
}

}  // namespace

Tensor MatMul(const Operand& x, const Operand& y) {
  return lazy::Call(lazy::ops::MatMul, {x, y}, [](Lowering& l, Operands o) {
    const bool row = l.dims(o[0]).size() == 1 && l.dims(o[1]).size() > 2;
    const Op product = MatMulOps(l, o[0], o[1]);
    if (!row) return product;
    Dims dims = l.dims(product);
    dims.erase(dims.end() - 2);
    return l.Reshape(product, dims);
  });
}

}  // namespace hlod

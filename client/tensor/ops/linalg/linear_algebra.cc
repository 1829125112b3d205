// Products of matrices.
#include "hlod/ops/linear_algebra.h"

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/linalg/linear_algebra.h"
#include "client/tensor/ops/shape/movement.h"

namespace hlod {
namespace lazy {

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
  if (b_batch == 0) {  // The product of any number of rows with one matrix or vector is a single dot.
    dot.rhs_contracting = {0};
    return l.b.Dot(x, y, dot);
  }
  if (a.size() == 1) {  // A vector is a row during the product.
    x = l.Reshape(x, {1, inner});
    a = l.dims(x);
  }
  const Dims batch = BroadcastDims(Dims(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(a_batch)),
                                   Dims(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(b_batch)));
  x = InBatch(l, x, batch);
  y = InBatch(l, y, batch);
  const auto rank = static_cast<int64_t>(batch.size());
  for (int64_t i = 0; i < rank; ++i) {
    dot.lhs_batch.push_back(i);
    dot.rhs_batch.push_back(i);
  }
  dot.lhs_contracting = {rank + 1};
  dot.rhs_contracting = {rank};
  return l.b.Dot(x, y, dot);
}

void RequireRank(Lowering& l, Op x, size_t rank) {
  if (l.dims(x).size() != rank)
    Refuse("a tensor of rank %d is needed, not of shape %s", rank, ListText(l.dims(x)));
}

}  // namespace lazy

namespace {

using lazy::ListText;
using lazy::Lowering;
using lazy::MatMulOps;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::RequireRank;

// Returns the matrix product; refuses operands whose ranks are not x_rank and y_rank.
Tensor Product(const lazy::Operation& operation, const Operand& x, const Operand& y, size_t x_rank,
               size_t y_rank) {
  return lazy::Call(operation, {x, y}, [&](Lowering& l, Operands o) {
    RequireRank(l, o[0], x_rank);
    RequireRank(l, o[1], y_rank);
    const bool batched = x_rank == 3;
    if (batched && l.dims(o[0])[0] != l.dims(o[1])[0]) {
      Refuse("batches of %d and %d matrices differ", l.dims(o[0])[0], l.dims(o[1])[0]);
    }
    return MatMulOps(l, o[0], o[1]);
  });
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

Tensor Mm(const Operand& x, const Operand& y) { return Product(lazy::ops::Mm, x, y, 2, 2); }
Tensor Bmm(const Operand& x, const Operand& y) { return Product(lazy::ops::Bmm, x, y, 3, 3); }
Tensor Mv(const Operand& x, const Operand& y) { return Product(lazy::ops::Mv, x, y, 2, 1); }
Tensor Dot(const Operand& x, const Operand& y) { return Product(lazy::ops::Dot, x, y, 1, 1); }

Tensor Linear(const Operand& x, const Operand& weight, const Tensor& bias) {
  std::vector<Operand> operands = {x, weight};
  if (bias.defined()) operands.emplace_back(bias, x.caller());
  return lazy::Call(lazy::ops::Linear, operands, [](Lowering& l, Operands o) {
    const Dims a = l.dims(o[0]), w = l.dims(o[1]);
    if (a.empty() || w.empty() || w.size() > 2 || a.back() != w.back()) {
      Refuse("shape %s does not fit the weight's %s: it takes [..., in] and [out, in]", ListText(a),
             ListText(w));
    }
    hlo::DotAttributes dot;
    dot.lhs_contracting = {static_cast<int64_t>(a.size()) - 1};
    dot.rhs_contracting = {static_cast<int64_t>(w.size()) - 1};
    const Op product = l.b.Dot(o[0], o[1], dot);
    return o.size() == 2 ? product : product + l.BroadcastTo(o[2], l.dims(product));
  });
}

Tensor Tensordot(const Operand& x, const Operand& y, int64_t dims) {
  Dims x_dims, y_dims;
  lazy::Explain(lazy::ops::Tensordot, std::vector<Operand>{x, y}, x.caller(), [&] {
    const int64_t rank = lazy::TensorOf(lazy::ops::Tensordot, x).rank();
    if (dims < 0 || dims > rank || dims > lazy::TensorOf(lazy::ops::Tensordot, y).rank()) {
      Refuse("the number of dimensions (%d) exceeds a rank", dims);
    }
    for (int64_t i = 0; i < dims; ++i) {
      x_dims.push_back(rank - dims + i);
      y_dims.push_back(i);
    }
  });
  return Tensordot(x, y, x_dims, y_dims);
}

Tensor Tensordot(const Operand& x, const Operand& y, DimList x_dims, DimList y_dims) {
  return lazy::Call(lazy::ops::Tensordot, {x, y}, [&](Lowering& l, Operands o) {
    const Dims a = l.dims(o[0]), b = l.dims(o[1]);
    if (x_dims.size() != y_dims.size()) {
      Refuse("dimensions %s and %s differ in number", ListText(x_dims), ListText(y_dims));
    }
    hlo::DotAttributes dot;
    if (!x_dims.empty()) {  // WrapDims treats an empty list as all dimensions; here it means none.
      dot.lhs_contracting = lazy::WrapDims(x_dims, static_cast<int64_t>(a.size()));
      dot.rhs_contracting = lazy::WrapDims(y_dims, static_cast<int64_t>(b.size()));
    }
    for (size_t i = 0; i < dot.lhs_contracting.size(); ++i) {
      const int64_t p = dot.lhs_contracting[i], q = dot.rhs_contracting[i];
      if (a[p] != b[q]) {
        Refuse("size %d of dimension %d meets size %d of dimension %d", a[p], p, b[q], q);
      }
    }
    return l.b.Dot(o[0], o[1], dot);
  });
}

}  // namespace hlod

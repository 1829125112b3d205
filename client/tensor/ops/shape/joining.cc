// Joining tensors.
#include "hlod/ops/joining.h"

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/shape.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

namespace {

void RequireSome(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) Refuse("a list of at least one tensor is needed");
}

template <typename F>
std::vector<Tensor> Each(const std::vector<Tensor>& tensors, F change) {
  std::vector<Tensor> changed;
  for (const Tensor& tensor : tensors) changed.push_back(change(tensor));
  return changed;
}

Op CatOps(Lowering& l, Operands parts, int64_t dim) {
  std::vector<Op> kept;
  for (const Op part : parts) {
    if (l.dims(part).empty()) Refuse("a scalar cannot be concatenated; use Stack()");
    if (l.dims(part) != Dims{0}) kept.push_back(part);
  }
  if (kept.empty()) return parts[0];
  const Dims first = l.dims(kept[0]);
  const int64_t at = lazy::WrapDim(dim, static_cast<int64_t>(first.size()));
  for (const Op part : kept) {
    Dims dims = l.dims(part);
    if (dims.size() == first.size()) dims[at] = first[at];
    if (dims != first) {
      Refuse("shapes %s and %s differ in more than dimension %d", ListText(first), ListText(l.dims(part)),
             at);
    }
  }
  return lazy::Joined(l, kept, at);
}

// Returns the positions of every combination of `r` of `count` elements, concatenated in lexicographic order.
std::vector<int64_t> CombinationTable(int64_t count, int64_t r, bool with_replacement) {
  constexpr int64_t kMost = int64_t{1} << 26;
  if (with_replacement ? count == 0 : r > count) return {};
  if (r > kMost) Refuse("the combinations of %d of %d elements exceed %d indices", r, count, kMost);
  std::vector<int64_t> table, chosen;
  // The next combination increments the last element that can grow, and resets those after it.
  for (int64_t i = 0; i < r; ++i) chosen.push_back(with_replacement ? 0 : i);
  const auto fits = [&](int64_t i) { return chosen[i] < count - (with_replacement ? 0 : r - 1 - i); };
  while (r > 0 && fits(0) && fits(r - 1)) {
    if (static_cast<int64_t>(table.size()) >= kMost)
      Refuse("the combinations of %d of %d elements exceed %d indices", r, count, kMost);
    table.insert(table.end(), chosen.begin(), chosen.end());
    int64_t i = r - 1;
    for (++chosen[i]; i > 0 && !fits(i); ++chosen[i]) --i;
    for (int64_t j = i + 1; j < r; ++j) chosen[j] = chosen[j - 1] + (with_replacement ? 0 : 1);
  }
  return table;
}

}  // namespace

Tensor Cat(const std::vector<Tensor>& tensors, int64_t dim, Caller caller) {
  lazy::Explain(lazy::ops::Cat, {}, caller, [&] { RequireSome(tensors); });
  return lazy::Call(lazy::ops::Cat, lazy::OperandsOf(tensors, caller),
                    [dim](Lowering& l, Operands o) { return CatOps(l, o, dim); });
}

Tensor Stack(const std::vector<Tensor>& tensors, int64_t dim, Caller caller) {
  lazy::Explain(lazy::ops::Stack, {}, caller, [&] { RequireSome(tensors); });
  return lazy::Call(lazy::ops::Stack, lazy::OperandsOf(tensors, caller), [dim](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[0]);
    const int64_t at = lazy::WrapDim(dim, static_cast<int64_t>(dims.size()) + 1);
    Dims with = dims;
    with.insert(with.begin() + at, 1);
    std::vector<Op> parts;
    for (const Op part : o) {
      if (l.dims(part) != dims) {
        Refuse("shapes %s and %s differ", ListText(dims), ListText(l.dims(part)));
      }
      parts.push_back(l.Reshape(part, with));
    }
    return lazy::Joined(l, parts, at);
  });
}

Tensor Hstack(const std::vector<Tensor>& tensors, Caller caller) {
  const auto parts = Each(tensors, [&](const Tensor& x) { return Atleast1d(Operand(x, caller)); });
  return Cat(parts, !parts.empty() && parts[0].rank() == 1 ? 0 : 1, caller);
}
Tensor Vstack(const std::vector<Tensor>& tensors, Caller caller) {
  return Cat(Each(tensors, [&](const Tensor& x) { return Atleast2d(Operand(x, caller)); }), 0, caller);
}
Tensor Dstack(const std::vector<Tensor>& tensors, Caller caller) {
  return Cat(Each(tensors, [&](const Tensor& x) { return Atleast3d(Operand(x, caller)); }), 2, caller);
}
Tensor ColumnStack(const std::vector<Tensor>& tensors, Caller caller) {
  const auto column = [&](const Tensor& x) {
    return x.defined() && x.rank() <= 1 ? x.Reshape({x.numel(), 1}, caller) : x;
  };
  return Cat(Each(tensors, column), 1, caller);
}

Tensor BlockDiag(const std::vector<Tensor>& tensors, Caller caller) {
  std::vector<Tensor> rows;
  int64_t columns = 0, before = 0;
  lazy::Explain(lazy::ops::BlockDiag, {}, caller, [&] {
    RequireSome(tensors);
    for (const Tensor& x : tensors) {
      rows.push_back(Atleast2d(Operand(x, caller)));
      if (rows.back().rank() != 2) Refuse("blocks are matrices, not of shape %s", ListText(x.dims()));
      columns += rows.back().dims()[1];
    }
  });
  for (Tensor& row : rows) {
    const int64_t own = row.dims()[1];
    row = Pad(Operand(row, caller), {before, columns - before - own});
    before += own;
  }
  return Cat(rows, 0, caller);
}

std::vector<Tensor> Meshgrid(const std::vector<Tensor>& tensors, MeshIndexing indexing, Caller caller) {
  Dims dims;
  lazy::Explain(lazy::ops::Meshgrid, lazy::OperandsOf(tensors, caller), caller, [&] {
    RequireSome(tensors);
    for (const Tensor& x : tensors) {
      if (!x.defined() || x.rank() > 1) Refuse("a grid is spanned by vectors");
      dims.push_back(x.numel());
    }
  });
  const bool exchange = indexing == MeshIndexing::kXy && tensors.size() > 1;
  std::vector<Tensor> grid;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Dims alone(tensors.size(), 1);
    alone[i] = dims[i];
    const Tensor full = tensors[i].Reshape(alone, caller).Expand(dims, caller);
    grid.push_back(exchange ? full.Transpose(0, 1, caller) : full);
  }
  return grid;
}

Tensor CartesianProd(const std::vector<Tensor>& tensors, Caller caller) {
  if (tensors.size() == 1) return tensors[0];
  const auto flat = [&](const Tensor& x) { return x.Reshape({-1}, caller); };
  return Stack(Each(Meshgrid(tensors, MeshIndexing::kIj, caller), flat), 1, caller);
}

Tensor Combinations(const Operand& x, int64_t r, bool with_replacement) {
  return lazy::Call(lazy::ops::Combinations, {x}, [&](Lowering& l, Operands o) {
    if (lazy::RankOf(l, o[0]) != 1) Refuse("a vector is needed, not of shape %s", ListText(l.dims(o[0])));
    if (r < 0) Refuse("the length (%d) is negative", r);
    const std::vector<int64_t> table = CombinationTable(l.dims(o[0])[0], r, with_replacement);
    const Dims dims = {r == 0 ? 0 : static_cast<int64_t>(table.size()) / r, r};
    if (table.empty()) return l.Full(l.type(o[0]), r == 0 ? Dims{0} : dims, 0);
    return lazy::SelectSlices(l, o[0], 0, l.Reshape(lazy::IndexVector(l, table), dims));
  });
}

}  // namespace hlod

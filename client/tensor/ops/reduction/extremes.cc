// Reductions to the greatest and least element, their indices, and to truth values.
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/reduction/reduction.h"
#include "hlod/ops/reduction.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;

namespace {

using lazy::CompareOps;
using lazy::Kept;
using lazy::ListText;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;

void RequireElements(Lowering& l, Op x, const Dims& reduced) {
  for (const int64_t dim : reduced) {
    if (l.dims(x)[dim] == 0)
      Refuse("dimension %d of %s is empty and has no extreme", dim, ListText(l.dims(x)));
  }
  if (hlo::IsComplex(l.type(x))) Refuse("complex numbers have no order");
}

Op ExtremeOps(Lowering& l, Op x, hlo::Opcode opcode, const Dims& reduced) {
  RequireElements(l, x, reduced);
  return l.Reduce(opcode, x, reduced);
}
// Returns the first index of the extreme along one dimension; a NaN counts as the extreme.
Op IndexOps(Lowering& l, Op x, hlo::Opcode opcode, int64_t dim) {
  const Dims from = l.dims(x);
  if (from.empty()) return l.Number(hlo::kS64, 0);
  const Op extreme = lazy::KeepDims(l, ExtremeOps(l, x, opcode, {dim}), from, {dim});
  const Op here = l.b.Binary(hlo::kOr, CompareOps(l, x, extreme, Order::kEq), lazy::NanOps(l, x));
  const Op index = l.b.Iota(Shape::Array(hlo::kS64, from), dim);
  return l.Reduce(hlo::kMinimum, l.b.Select(here, index, l.Full(hlo::kS64, from, from[dim])), {dim});
}

Tensor Extreme(const lazy::Operation& operation, const Operand& x, hlo::Opcode opcode, DimList dims,
               bool keepdim) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    const Dims reduced = lazy::WrapDims(l, x, dims);
    return l.Reshape(ExtremeOps(l, x, opcode, reduced), Kept(l.dims(x), reduced, keepdim));
  });
}
// Returns the extreme of all elements. Equal extremes share the gradient, and so do NaNs.
Tensor ExtremeOfAll(const lazy::Operation& operation, const Operand& x, hlo::Opcode opcode) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    const Dims all = lazy::WrapDims(l, x, {});
    if (!hlo::IsFloat(l.type(x))) return ExtremeOps(l, x, opcode, all);
    return lazy::OwnDerivative(l, "equal_shares", {x},
                               [&](Operands o) { return ExtremeOps(l, o[0], opcode, all); });
  });
}
ValuesAndIndices ExtremeWithIndex(const lazy::Operation& operation, const Operand& x, hlo::Opcode opcode,
                                  int64_t dim, bool keepdim) {
  std::vector<Tensor> both = lazy::CallSeveral(operation, {&x, 1}, [&](Lowering& l, Operands o) {
    const Dims reduced = lazy::WrapDims(l, o[0], DimList(dim)), kept = Kept(l.dims(o[0]), reduced, keepdim);
    if (reduced.empty()) {
      return std::vector<Op>{l.Reshape(l.b.Unary(hlo::kCopy, o[0]), kept), l.Number(hlo::kS64, 0)};
    }
    // The gradient goes only to the element at the returned index, even if others are equal.
    const Dims with_one = Kept(l.dims(o[0]), reduced, true);
    const std::vector<Op> parts = lazy::WithOwnDerivative(l, "at_index", {o[0]}, [&](Operands o) {
      return std::vector<Op>{l.Reshape(ExtremeOps(l, o[0], opcode, reduced), with_one),
                             l.Reshape(IndexOps(l, o[0], opcode, reduced[0]), with_one)};
    });
    return std::vector<Op>{l.Reshape(parts[0], kept), l.Reshape(parts[1], kept)};
  });
  return {both[0], both[1]};
}
Tensor Index(const lazy::Operation& operation, const Operand& x, hlo::Opcode opcode,
             std::optional<int64_t> dim, bool keepdim) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    const Dims from = l.dims(x);
    if (!dim.has_value()) {
      const Op flat = l.Reshape(x, {lazy::Count(from)});
      return l.Reshape(IndexOps(l, flat, opcode, 0), keepdim ? Dims(from.size(), 1) : Dims());
    }
    const int64_t at = lazy::WrapDim(*dim, static_cast<int64_t>(from.size()));
    return l.Reshape(IndexOps(l, x, opcode, at), from.empty() ? Dims() : Kept(from, {at}, keepdim));
  });
}
Tensor Truth(const lazy::Operation& operation, const Operand& x, hlo::Opcode opcode, DimList dims,
             bool keepdim) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    const Dims reduced = lazy::WrapDims(l, x, dims);
    const Op truth = l.Reduce(opcode, l.Convert(x, hlo::kPred), reduced);
    // The result of u8 is u8, as in PyTorch.
    return l.Reshape(l.type(x) == hlo::kU8 ? l.b.Convert(truth, hlo::kU8) : truth,
                     Kept(l.dims(x), reduced, keepdim));
  });
}

}  // namespace

Tensor Amax(const Operand& x, DimList dims, bool keepdim) {
  return Extreme(lazy::ops::Amax, x, hlo::kMaximum, dims, keepdim);
}
Tensor Amin(const Operand& x, DimList dims, bool keepdim) {
  return Extreme(lazy::ops::Amin, x, hlo::kMinimum, dims, keepdim);
}
std::pair<Tensor, Tensor> Aminmax(const Operand& x, std::optional<int64_t> dim, bool keepdim) {
  const CallerScope scope(x.caller());
  const DimList dims = dim.has_value() ? DimList(*dim) : DimList();
  std::pair<Tensor, Tensor> both = {Amin(x, dims, keepdim), Amax(x, dims, keepdim)};
  // With keepdim PyTorch returns one dimension for a scalar.
  if (dim.has_value() && keepdim && both.first.rank() == 0) {
    both = {both.first.Reshape({1}, x.caller()), both.second.Reshape({1}, x.caller())};
  }
  return both;
}
Tensor Max(const Operand& x) { return ExtremeOfAll(lazy::ops::Max, x, hlo::kMaximum); }
Tensor Min(const Operand& x) { return ExtremeOfAll(lazy::ops::Min, x, hlo::kMinimum); }
ValuesAndIndices Max(const Operand& x, int64_t dim, bool keepdim) {
  return ExtremeWithIndex(lazy::ops::Max, x, hlo::kMaximum, dim, keepdim);
}
ValuesAndIndices Min(const Operand& x, int64_t dim, bool keepdim) {
  return ExtremeWithIndex(lazy::ops::Min, x, hlo::kMinimum, dim, keepdim);
}
Tensor Argmax(const Operand& x, std::optional<int64_t> dim, bool keepdim) {
  return Index(lazy::ops::Argmax, x, hlo::kMaximum, dim, keepdim);
}
Tensor Argmin(const Operand& x, std::optional<int64_t> dim, bool keepdim) {
  return Index(lazy::ops::Argmin, x, hlo::kMinimum, dim, keepdim);
}
Tensor All(const Operand& x, DimList dims, bool keepdim) {
  return Truth(lazy::ops::All, x, hlo::kAnd, dims, keepdim);
}
Tensor Any(const Operand& x, DimList dims, bool keepdim) {
  return Truth(lazy::ops::Any, x, hlo::kOr, dims, keepdim);
}

}  // namespace hlod

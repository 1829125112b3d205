// Writing elements that indices name: copies, and the same in place.
#include <functional>

#include "client/tensor/apply.h"
#include "client/tensor/ops/movement.h"
#include "hlod/ops/indexing.h"

namespace hlod {

using lazy::Combine;
using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::WrapDim;

namespace {

using Lower = std::function<Op(Lowering&, Operands)>;

void RequireType(Lowering& l, Op x, Op source) {
  if (l.type(x) != l.type(source)) {
    Refuse("the source's type %s is not the tensor's %s", hlo::Name(l.type(source)), hlo::Name(l.type(x)));
  }
}

Lower AddSlices(int64_t dim, Scalar alpha) {
  return [=](Lowering& l, Operands o) {
    RequireType(l, o[0], o[2]);
    const Op source = alpha == Scalar(1) ? o[2] : o[2] * l.Number(l.type(o[2]), alpha);
    return lazy::ScatterSlices(l, o[0], WrapDim(dim, lazy::RankOf(l, o[0])), o[1], source, Combine::kAdd);
  };
}
Lower CopySlices(int64_t dim) {
  return [=](Lowering& l, Operands o) {
    RequireType(l, o[0], o[2]);
    return lazy::ScatterSlices(l, o[0], WrapDim(dim, lazy::RankOf(l, o[0])), o[1], o[2], Combine::kSet);
  };
}
Lower FillSlices(int64_t dim) {
  return [=](Lowering& l, Operands o) {
    const int64_t at = WrapDim(dim, lazy::RankOf(l, o[0]));
    if (lazy::RankOf(l, o[2]) != 0)
      Refuse("the value must be a number, not of shape %s", ListText(l.dims(o[2])));
    Dims dims = l.dims(o[0]);
    if (dims.empty()) return l.Convert(o[2], l.type(o[0]));
    dims[at] = lazy::Count(l.dims(o[1]));
    const Op values = l.BroadcastTo(l.Convert(o[2], l.type(o[0])), dims);
    const Op index = lazy::WrapNegative(l, o[1], l.dims(o[0])[at]);
    return lazy::ScatterSlices(l, o[0], at, index, values, Combine::kSet);
  };
}
Lower ScatterElements(int64_t dim, Combine combine) {
  return [=](Lowering& l, Operands o) {
    // A number is scattered to all indices.
    const bool number = lazy::RankOf(l, o[2]) == 0 && lazy::RankOf(l, o[1]) != 0;
    const Op source = number ? l.BroadcastTo(l.Convert(o[2], l.type(o[0])), l.dims(o[1])) : o[2];
    RequireType(l, o[0], source);
    return lazy::ScatterAlong(l, o[0], WrapDim(dim, lazy::RankOf(l, o[0])), o[1], source, combine);
  };
}

Tensor& InPlace(const lazy::Operation& operation, Tensor& x, const Operand& index, const Operand& source,
                const Lower& lower) {
  const Operand operands[] = {Operand(x, index.caller()), index, source};
  return lazy::CallInPlace(operation, x, operands, lower);
}

// What a reduction starts from where x's own elements take no part.
Combine CombineOf(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::kProd: return Combine::kMultiply;
    case ScatterReduction::kAmax: return Combine::kMaximum;
    case ScatterReduction::kAmin: return Combine::kMinimum;
    default: return Combine::kAdd;
  }
}
hlo::Opcode OpcodeOf(Combine combine) {
  return combine == Combine::kMultiply  ? hlo::kMultiply
         : combine == Combine::kMaximum ? hlo::kMaximum
         : combine == Combine::kMinimum ? hlo::kMinimum
                                        : hlo::kAdd;
}

Op Reduced(Lowering& l, Op x, int64_t dim, Op index, Op source, ScatterReduction reduction,
           bool include_self) {
  RequireType(l, x, source);
  const int64_t at = WrapDim(dim, lazy::RankOf(l, x));
  const PrimitiveType type = l.type(x);
  const Combine combine = CombineOf(reduction);
  Op start = x;
  if (!include_self) {
    const Literal neutral = lazy::NeutralLiteral(OpcodeOf(combine), type);
    const Op values = l.BroadcastTo(l.b.Constant(neutral), l.dims(source));
    start = lazy::ScatterAlong(l, x, at, index, values, Combine::kSet);
  }
  Op result = lazy::ScatterAlong(l, start, at, index, source, combine);
  if (reduction != ScatterReduction::kMean) return result;
  const Op counts = lazy::ScatterAlong(l, l.Full(type, l.dims(x), include_self ? 1 : 0), at, index,
                                       l.Full(type, l.dims(source), 1), Combine::kAdd);
  const Op divisor = l.b.Binary(hlo::kMaximum, counts, l.Full(type, l.dims(x), 1));
  if (hlo::IsFloat(type)) return result / divisor;
  // Integers round down.
  const Op zero = l.Full(type, l.dims(x), 0), quotient = result / divisor;
  const Op inexact = l.b.Compare(quotient * divisor, result, hlo::ComparisonDirection::kNe);
  const Op negative = l.b.Compare(result, zero, hlo::ComparisonDirection::kLt);
  return quotient - l.Convert(l.b.Binary(hlo::kAnd, inexact, negative), type);
}

}  // namespace

Tensor IndexAdd(const Operand& x, int64_t dim, const Operand& index, const Operand& source, Scalar alpha) {
  return lazy::Call(lazy::ops::IndexAdd, {x, index, source}, AddSlices(dim, alpha));
}
Tensor IndexCopy(const Operand& x, int64_t dim, const Operand& index, const Operand& source) {
  return lazy::Call(lazy::ops::IndexCopy, {x, index, source}, CopySlices(dim));
}
Tensor IndexFill(const Operand& x, int64_t dim, const Operand& index, const Operand& value) {
  return lazy::Call(lazy::ops::IndexFill, {x, index, value}, FillSlices(dim));
}
Tensor& IndexAdd_(Tensor& x, int64_t dim, const Operand& index, const Operand& source, Scalar alpha) {
  return InPlace(lazy::ops::IndexAdd, x, index, source, AddSlices(dim, alpha));
}
Tensor& IndexCopy_(Tensor& x, int64_t dim, const Operand& index, const Operand& source) {
  return InPlace(lazy::ops::IndexCopy, x, index, source, CopySlices(dim));
}
Tensor& IndexFill_(Tensor& x, int64_t dim, const Operand& index, const Operand& value) {
  return InPlace(lazy::ops::IndexFill, x, index, value, FillSlices(dim));
}

Tensor Scatter(const Operand& x, int64_t dim, const Operand& index, const Operand& source) {
  return lazy::Call(lazy::ops::Scatter, {x, index, source}, ScatterElements(dim, Combine::kSet));
}
Tensor ScatterAdd(const Operand& x, int64_t dim, const Operand& index, const Operand& source) {
  return lazy::Call(lazy::ops::ScatterAdd, {x, index, source}, ScatterElements(dim, Combine::kAdd));
}
Tensor& Scatter_(Tensor& x, int64_t dim, const Operand& index, const Operand& source) {
  return InPlace(lazy::ops::Scatter, x, index, source, ScatterElements(dim, Combine::kSet));
}
Tensor& ScatterAdd_(Tensor& x, int64_t dim, const Operand& index, const Operand& source) {
  return InPlace(lazy::ops::ScatterAdd, x, index, source, ScatterElements(dim, Combine::kAdd));
}
Tensor ScatterReduce(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
                     ScatterReduction reduction, bool include_self) {
  return lazy::Call(lazy::ops::ScatterReduce, {x, index, source}, [&](Lowering& l, Operands o) {
    return Reduced(l, o[0], dim, o[1], o[2], reduction, include_self);
  });
}

}  // namespace hlod

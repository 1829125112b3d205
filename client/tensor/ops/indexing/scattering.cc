// Writes the elements at given indices, out of place and in place.
#include <functional>

#include "absl/functional/function_ref.h"

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/known.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/whole_numbers.h"
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

using LowerScatter = std::function<Op(Lowering&, Operands)>;

// Returns the dimension of x that `dim` names, after checking the values of `index` (where known) against its
// size.
int64_t Indexed(Lowering& l, Op x, int64_t dim, Op index, lazy::FromEnd from_end = lazy::FromEnd::kNo) {
  const int64_t at = WrapDim(dim, lazy::RankOf(l, x));
  lazy::CheckIndices(l, index, at, l.dims(x).empty() ? 1 : l.dims(x)[at], from_end);
  return at;
}

void RequireType(Lowering& l, Op x, Op source) {
  if (l.type(x) != l.type(source)) {
    Refuse("the source's type %s is not the tensor's %s", hlo::Name(l.type(source)), hlo::Name(l.type(x)));
  }
}

LowerScatter AddSlices(int64_t dim, Scalar alpha) {
  return [=](Lowering& l, Operands o) {
    RequireType(l, o[0], o[2]);
    const Op source = alpha == Scalar(1) ? o[2] : o[2] * l.Setting(l.type(o[2]), alpha, "alpha");
    return lazy::ScatterSlices(l, o[0], Indexed(l, o[0], dim, o[1]), o[1], source, Combine::kAdd);
  };
}
LowerScatter CopySlices(int64_t dim) {
  return [=](Lowering& l, Operands o) {
    RequireType(l, o[0], o[2]);
    return lazy::ScatterSlices(l, o[0], Indexed(l, o[0], dim, o[1]), o[1], o[2], Combine::kSet);
  };
}
LowerScatter FillSlices(int64_t dim) {
  return [=](Lowering& l, Operands o) {
    const int64_t at = Indexed(l, o[0], dim, o[1], lazy::FromEnd::kYes);
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
LowerScatter ScatterElements(int64_t dim, Combine combine) {
  return [=](Lowering& l, Operands o) {
    // A number is scattered to all indices.
    const bool number = lazy::RankOf(l, o[2]) == 0 && lazy::RankOf(l, o[1]) != 0;
    const Op source = number ? l.BroadcastTo(l.Convert(o[2], l.type(o[0])), l.dims(o[1])) : o[2];
    RequireType(l, o[0], source);
    return lazy::ScatterAlong(l, o[0], Indexed(l, o[0], dim, o[1]), o[1], source, combine);
  };
}

Tensor& InPlace(const lazy::Operation& operation, Tensor& x, const Operand& index, const Operand& source,
                const LowerScatter& lower) {
  const Operand operands[] = {Operand(x, index.caller()), index, source};
  return lazy::CallInPlace(operation, x, operands, lower);
}

// The combiner that scatters values by a reduction. A mean is summed first and divided later.
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

// A scatter of values with the source's shape: of elements along a dimension, or of whole slices.
using ScatterInto = absl::FunctionRef<Op(Op x, Op values, Combine combine)>;

Op Reduced(Lowering& l, Op x, Op source, ScatterReduction reduction, bool include_self, ScatterInto scatter) {
  RequireType(l, x, source);
  const PrimitiveType type = l.type(x);
  const Combine combine = CombineOf(reduction);
  lazy::RequireOrder(OpcodeOf(combine), type);
  Op start = x;
  if (!include_self) {
    const Literal neutral = lazy::NeutralLiteral(OpcodeOf(combine), type);
    const Op values = l.BroadcastTo(l.b.Constant(neutral), l.dims(source));
    start = scatter(x, values, Combine::kSet);
  }
  const Op result = scatter(start, source, combine);
  if (reduction != ScatterReduction::kMean) return result;
  const Op counts =
      scatter(l.Full(type, l.dims(x), include_self ? 1 : 0), l.Full(type, l.dims(source), 1), Combine::kAdd);
  const Op divisor = l.b.Binary(hlo::kMaximum, counts, l.Full(type, l.dims(x), 1));
  if (hlo::IsFloat(type)) return result / divisor;
  // The mean of integers is rounded down.
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
  lazy::RequireFits(lazy::ops::IndexFill, lazy::TensorOf(lazy::ops::IndexFill, x).dtype(), value);
  return lazy::Call(lazy::ops::IndexFill, {x, index, value}, FillSlices(dim));
}
Tensor& IndexAdd_(Tensor& x, int64_t dim, const Operand& index, const Operand& source, Scalar alpha) {
  return InPlace(lazy::ops::IndexAdd, x, index, source, AddSlices(dim, alpha));
}
Tensor& IndexCopy_(Tensor& x, int64_t dim, const Operand& index, const Operand& source) {
  return InPlace(lazy::ops::IndexCopy, x, index, source, CopySlices(dim));
}
Tensor& IndexFill_(Tensor& x, int64_t dim, const Operand& index, const Operand& value) {
  lazy::RequireFits(lazy::ops::IndexFill,
                    lazy::TensorOf(lazy::ops::IndexFill, Operand(x, index.caller())).dtype(), value);
  return InPlace(lazy::ops::IndexFill, x, index, value, FillSlices(dim));
}

Tensor Scatter(const Operand& x, int64_t dim, const Operand& index, const Operand& source) {
  return lazy::Call(lazy::ops::Scatter, {x, index, source}, ScatterElements(dim, Combine::kSet));
}
Tensor Scatter(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
               ScatterReduction reduction) {
  const auto lower = ScatterElements(dim, CombineOf(reduction));
  return lazy::Call(lazy::ops::Scatter, {x, index, source}, [&](Lowering& l, Operands o) {
    if (reduction == ScatterReduction::kMean) Refuse("a mean is made by ScatterReduce()");
    return lower(l, o);
  });
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
    const int64_t at = Indexed(l, o[0], dim, o[1]);
    return Reduced(l, o[0], o[2], reduction, include_self, [&](Op x, Op values, Combine combine) {
      return lazy::ScatterAlong(l, x, at, o[1], values, combine);
    });
  });
}
Tensor IndexReduce(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
                   ScatterReduction reduction, bool include_self) {
  return lazy::Call(lazy::ops::IndexReduce, {x, index, source}, [&](Lowering& l, Operands o) {
    const int64_t at = Indexed(l, o[0], dim, o[1]);
    return Reduced(l, o[0], o[2], reduction, include_self, [&](Op x, Op values, Combine combine) {
      return lazy::ScatterSlices(l, x, at, o[1], values, combine);
    });
  });
}

Tensor Put(const Operand& x, const Operand& index, const Operand& source, bool accumulate) {
  return lazy::Call(lazy::ops::Put, {x, index, source}, [&](Lowering& l, Operands o) {
    RequireType(l, o[0], o[2]);
    const Op flat = lazy::Flat(l, o[0]), values = lazy::Flat(l, o[2]);
    lazy::CheckFlatIndices(l, o[1], l.dims(flat)[0], lazy::FromEnd::kYes);
    const Op at = lazy::WrapNegative(l, lazy::Flat(l, o[1]), l.dims(flat)[0]);
    if (l.dims(at) != l.dims(values)) {
      Refuse("%d elements are not one for each of %d indices", l.dims(values)[0], l.dims(at)[0]);
    }
    const Combine combine = accumulate ? Combine::kAdd : Combine::kSet;
    return l.Reshape(lazy::ScatterAlong(l, flat, 0, at, values, combine), l.dims(o[0]));
  });
}

}  // namespace hlod

// Reductions over dimensions.
#include "hlod/ops/reduction.h"

#include "client/tensor/apply.h"

namespace hlod {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;

// The shape with the dimensions gone, or of size 1.
Dims Kept(const Dims& dims, const Dims& reduced, bool keepdim) {
  Dims kept;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    const bool gone = std::find(reduced.begin(), reduced.end(), i) != reduced.end();
    if (!gone) kept.push_back(dims[i]);
    else if (keepdim) kept.push_back(1);
  }
  return kept;
}

// Sums of f16 and bf16 add up in f32 and round once.
PrimitiveType SumType(PrimitiveType type) {
  return hlo::IsFloat(type) && hlo::Info(type).bits < 32 ? hlo::kF32 : type;
}

Op SumOps(Lowering& l, Op x, const Dims& dims) {
  return l.Reduce(hlo::kAdd, l.Convert(x, SumType(l.type(x))), dims);
}

}  // namespace

Tensor Sum(const Operand& x, DimList dims, bool keepdim) {
  return lazy::Call(lazy::ops::Sum, {x}, [&](Lowering& l, Operands o) {
    Op in = o[0];
    if (hlo::IsInteger(l.type(in))) in = l.Convert(in, hlo::kS64);
    const Dims from = l.dims(in), reduced = lazy::WrapDims(dims, static_cast<int64_t>(from.size()));
    const Op sum = l.Convert(SumOps(l, in, reduced), l.type(in));
    return l.Reshape(sum, Kept(from, reduced, keepdim));
  });
}

Tensor Mean(const Operand& x, DimList dims, bool keepdim) {
  return lazy::Call(lazy::ops::Mean, {x}, [&](Lowering& l, Operands o) {
    if (x.tensor() != nullptr && !hlo::IsFloat(x.tensor()->dtype()) && !hlo::IsComplex(x.tensor()->dtype())) {
      lazy::Refuse("the mean of %s is not defined: convert it to a floating type",
                   hlo::Name(x.tensor()->dtype()));
    }
    const PrimitiveType type = l.type(o[0]);
    const Dims from = l.dims(o[0]), reduced = lazy::WrapDims(dims, static_cast<int64_t>(from.size()));
    double count = 1;
    for (const int64_t dim : reduced) count *= static_cast<double>(from[dim]);
    const Op sum = SumOps(l, o[0], reduced);
    return l.Reshape(l.Convert(sum / l.Number(l.type(sum), count), type), Kept(from, reduced, keepdim));
  });
}

}  // namespace hlod

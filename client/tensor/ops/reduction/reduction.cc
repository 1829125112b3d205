// Reductions over dimensions.
#include "hlod/ops/reduction.h"

#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/reduction/reduction.h"

namespace hlod::lazy {

Dims Kept(const Dims& dims, const Dims& reduced, bool keepdim) {
  Dims kept;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    const bool gone = std::find(reduced.begin(), reduced.end(), i) != reduced.end();
    if (!gone) kept.push_back(dims[i]);
    else if (keepdim) kept.push_back(1);
  }
  return kept;
}

double CountOf(const Dims& dims, const Dims& reduced) {
  double count = 1;
  for (const int64_t dim : reduced) count *= static_cast<double>(dims[dim]);
  return count;
}

Op SumOps(Lowering& l, Op x, const Dims& dims) {
  const PrimitiveType type = l.type(x);
  const bool narrow = hlo::IsFloat(type) && hlo::Info(type).bits < 32;
  return l.Reduce(hlo::kAdd, l.Convert(x, narrow ? hlo::kF32 : type), dims);
}

Op KeepDims(Lowering& l, Op reduced, const Dims& from, const Dims& dims) {
  return l.Reshape(reduced, Kept(from, dims, true));
}

}  // namespace hlod::lazy

namespace hlod {

using lazy::Kept;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::SumOps;
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

// Changes of shape that are compositions of other operations.
#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"

namespace hlod {

using lazy::ListText;
using lazy::Refuse;
using lazy::TensorOf;

Tensor Tensor::MT(Caller caller) const {
  const Operand operand(*this, caller);
  lazy::Explain(lazy::ops::Transpose, {&operand, 1}, caller, [&] {
    if (rank() == 1) Refuse("a vector has no matrices to transpose");
  });
  return rank() == 0 ? *this : Transpose(-2, -1, caller);
}
Tensor Tensor::MH(Caller caller) const { return Conj(Operand(MT(caller), caller)); }
Tensor Tensor::H(Caller caller) const {
  const Operand operand(*this, caller);
  lazy::Explain(lazy::ops::Transpose, {&operand, 1}, caller, [&] {
    if (rank() != 0 && rank() != 2) Refuse("a matrix is needed, not of shape %s", ListText(dims()));
  });
  return MH(caller);
}

Tensor SumToSize(const Operand& x, DimList dims) {
  const CallerScope scope(x.caller());
  const Tensor& tensor = TensorOf(lazy::ops::SumToSize, x);
  const Dims from = tensor.dims();
  const auto added = static_cast<int64_t>(from.size()) - static_cast<int64_t>(dims.size());
  Dims summed;
  lazy::Explain(lazy::ops::SumToSize, {&x, 1}, x.caller(), [&] {
    for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i) {
      const bool kept = i >= added && dims[i - added] == from[i];
      if (!kept) summed.push_back(i);
      if (added < 0 || (!kept && i >= added && dims[i - added] != 1)) {
        Refuse("shape %s does not broadcast to %s", ListText(dims), ListText(from));
      }
    }
    if (added < 0) Refuse("shape %s has more dimensions than %s", ListText(dims), ListText(from));
  });
  if (summed.empty() && !dims.empty()) return tensor;
  return Sum(x, summed, true).Reshape(dims, x.caller());
}

Tensor ViewAsReal(const Operand& x) {
  const CallerScope scope(x.caller());
  lazy::Explain(lazy::ops::ViewAsReal, {&x, 1}, x.caller(), [&] {
    const PrimitiveType type = TensorOf(lazy::ops::ViewAsReal, x).dtype();
    if (!hlo::IsComplex(type)) Refuse("%s is not a complex type", hlo::Name(type));
  });
  return Stack({Real(x), Imag(x)}, -1, x.caller());
}
Tensor ViewAsComplex(const Operand& x) {
  const CallerScope scope(x.caller());
  const Tensor& tensor = TensorOf(lazy::ops::ViewAsComplex, x);
  lazy::Explain(lazy::ops::ViewAsComplex, {&x, 1}, x.caller(), [&] {
    if (tensor.rank() == 0 || tensor.dims().back() != 2) {
      Refuse("the last dimension of shape %s is not of size 2", ListText(tensor.dims()));
    }
    if (tensor.dtype() != kF32 && tensor.dtype() != kF64) {
      Refuse("parts are f32 or f64, not %s", hlo::Name(tensor.dtype()));
    }
  });
  const Tensor real = tensor.Select(-1, 0, x.caller()), imaginary = tensor.Select(-1, 1, x.caller());
  return Complex(Operand(real, x.caller()), Operand(imaginary, x.caller()));
}

}  // namespace hlod

// In-place updates.
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/whole_numbers.h"
#include "client/tensor/trace/close.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "hlod/ops/creation.h"
#include "hlod/tensor/tensor.h"

namespace hlod {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;

Tensor& Update(const lazy::Operation& operation, Tensor& x, const Operand& y,
               Op (*lower)(Lowering&, Op, Op)) {
  const Operand operands[] = {Operand(x, y.caller()), y};
  return lazy::CallInPlace(operation, x, operands,
                           [&](Lowering& l, Operands o) { return lower(l, o[0], o[1]); });
}

// Returns a view of x that has each element once: expanded dimensions (stride 0) are narrowed to one index.
// Their elements share memory, so writing one writes all.
Tensor Once(const Tensor& x, const Caller& caller) {
  Tensor once = x;
  const Dims sizes = x.dims(), distances = x.strides();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1 && distances[i] == 0) once = once.Narrow(static_cast<int64_t>(i), 0, 1, caller);
  }
  return once;
}

}  // namespace

Tensor& Tensor::Add_(const Operand& other) { return Update(lazy::ops::Add, *this, other, lazy::AddOps); }
Tensor& Tensor::Sub_(const Operand& other) {
  lazy::RefuseBools(lazy::ops::Sub, Operand(*this, other.caller()), other);
  return Update(lazy::ops::Sub, *this, other, lazy::SubOps);
}
Tensor& Tensor::Mul_(const Operand& other) { return Update(lazy::ops::Mul, *this, other, lazy::MulOps); }
Tensor& Tensor::Div_(const Operand& other) { return Update(lazy::ops::Div, *this, other, lazy::DivOps); }

Tensor& Tensor::Copy_(const Operand& source) {
  if (defined() && source.tensor() != nullptr && source.tensor()->impl() == impl_) {
    // A tensor is copied onto itself: each repeated element is written once.
    Tensor once = Once(*this, source.caller());
    if (once.impl() != impl_) {
      once.Copy_(Operand(once, source.caller()));
      return *this;
    }
  }
  Tensor from = source.tensor() == nullptr ? Tensor() : *source.tensor();
  // A copy_ between devices is an explicit transfer, so the policy on implicit transfers does not apply.
  if (from.defined() && !(from.device() == device())) from = from.To(device(), source.caller());
  const Operand operands[] = {Operand(*this, source.caller()),
                              from.defined() ? Operand(from, source.caller()) : source};
  return lazy::CallInPlace(lazy::ops::Copy_, *this, operands, [&](Lowering& l, Operands o) {
    return l.BroadcastTo(l.Convert(o[1], dtype()), dims());
  });
}
Tensor& Tensor::Fill_(const Operand& value) {
  if (value.tensor() != nullptr && value.tensor()->rank() != 0) {
    const Operand operands[] = {Operand(*this, value.caller()), value};
    lazy::Explain(lazy::ops::Copy_, operands, value.caller(),
                  [] { lazy::Refuse("Fill_() takes a number or a tensor without dimensions; use Copy_()"); });
  }
  if (!defined()) return Copy_(value);
  lazy::RequireFits(lazy::ops::Copy_, dtype(), value);
  Once(*this, value.caller()).Copy_(value);
  return *this;
}
Tensor& Tensor::Zero_(Caller caller) { return Fill_(Operand(0, caller)); }

}  // namespace hlod

// Masks: the elements where a cotangent can be nonzero, by the choices of the selects that it passed.
//
// A select sends zeros into the branch that it has not chosen. If the derivative of that branch is infinite,
// the product is NaN, although the result does not depend on the branch: select(x > 0, log(x), 0) at 0, or a
// piecewise approximation beyond the end of a piece. So reverse mode keeps the predicates together with the
// cotangents, and sets the product of a cotangent and a derivative to zero where the predicates are false.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// An array of predicates, appended when Get() is first called.
class Mask {
 public:
  Mask(Dims dims, std::function<Op()> make) : dims_(std::move(dims)), make_(std::move(make)) {}
  const Dims& dims() const { return dims_; }
  Op Get() {
    if (made_.builder == nullptr) made_ = make_();
    return made_;
  }

 private:
  const Dims dims_;
  std::function<Op()> make_;
  Op made_;
};
using MaskRef = std::shared_ptr<Mask>;  // Null means true everywhere.

// Marks a select, in its notes, as one whose predicate masks its cotangents.
void MarkMasking(hlo::Notes& notes);
bool IsMasking(const hlo::Computation& computation, NodeId node);

// Returns `mask` and `pred`, or, when `when` is false, `mask` and not `pred`. `pred` is a scalar or has
// `dims`.
MaskRef Chosen(Lowering& l, const MaskRef& mask, const Dims& dims, std::function<Op()> pred, bool when);
// Returns `a` or `b`; null when either is null or their dimensions differ.
MaskRef Either(Lowering& l, const MaskRef& a, const MaskRef& b);
// Returns the mask of an operand with the shape `operand`, for an instruction whose result has `mask`; null
// when none can be derived.
MaskRef OfOperand(Lowering& l, const MaskRef& mask, const hlo::Instruction& instruction,
                  const Shape& operand);
// Returns true when each element of a computation's results depends only on scalars and on elements at the
// same position.
bool IsElementwise(const hlo::Computation& computation);
// Returns x where the mask is true and zeros elsewhere, by a select that is itself marked.
Op Masked(Lowering& l, const MaskRef& mask, Op x);

}  // namespace hlod::lazy

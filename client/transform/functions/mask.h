// Where a cotangent can be other than zero: what the selects that it passed have chosen.
//
// A select sends zeros into the branch that it has not chosen. Where the slope there is infinite the product
// is NaN, although nothing of that branch is in the result: select(x > 0, log(x), 0) at 0, or an
// approximation by pieces beyond the end of a piece. So reverse mode carries the predicates beside the
// cotangents, and what a rule multiplies is zero again where no predicate lets it through.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// An array of predicates that is made when it is first asked for.
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
using MaskRef = std::shared_ptr<Mask>;  // Null: everywhere.

// Marks a select as one whose predicate goes beside the cotangents.
void MarkMasking(hlo::Notes& notes);
bool IsMasking(const hlo::Computation& computation, NodeId node);

// Where `mask` is and `pred` (or its opposite) holds; `pred` is a scalar or has `dims`.
MaskRef Chosen(Lowering& l, const MaskRef& mask, const Dims& dims, std::function<Op()> pred, bool when);
// Where one of the two is.
MaskRef Either(Lowering& l, const MaskRef& a, const MaskRef& b);
// The mask of operand `operand` of an instruction whose result has `mask`; null where that does not follow.
MaskRef OfOperand(Lowering& l, const MaskRef& mask, const hlo::Instruction& instruction,
                  const Shape& operand);
// Whether each element of a computation's results comes from the elements at the same place, and from
// numbers.
bool IsElementwise(const hlo::Computation& computation);
// x where the mask is, and zeros, by a select that masks, too.
Op Masked(Lowering& l, const MaskRef& mask, Op x);

}  // namespace hlod::lazy

// PyTorch's type promotion (torch.result_type), and the element types that its operations accept.
#pragma once

#include "absl/types/span.h"
#include "client/tensor/dispatch/operation.h"
#include "hlod/runtime/types.h"
#include "hlod/tensor/operand.h"

namespace hlod::lazy {

// The properties of an operand that promotion uses: its type, and its rank (a tensor with dimensions, a
// zero-dimensional tensor, or a number). An operand of a lower rank may raise the kind of the result, but
// does not determine its width.
struct Promoted {
  enum class Rank { kTensor, kZeroDimensional, kNumber };
  PrimitiveType type;
  Rank rank;
};

// Returns the common type. Refuses types that have none (f8 with other types; u16 to u64 with signed
// integers).
PrimitiveType ResultType(absl::Span<const Promoted> operands);
// Returns the common type of two operands of the same rank.
PrimitiveType PromoteTypes(PrimitiveType a, PrimitiveType b);
// Returns the type of a number that meets no tensor: pred, s64, f32, c64.
PrimitiveType NumberType(const Scalar& value);
// Returns true when an update in place may store `from` as `to`: not complex as real, float as integer, or
// number as bool.
bool CanCast(PrimitiveType from, PrimitiveType to);

// Refuses an element type that PyTorch's operation does not accept; `type` is the common type of the
// operands, or that of the first tensor. Integers and floats that PyTorch lacks are accepted as s32 and f32
// are.
void CheckAccepted(const Operation& operation, PrimitiveType type);
// Refuses tensors of several types where PyTorch's operation needs one.
void CheckOneType(const Operation& operation, absl::Span<const PrimitiveType> tensors);

}  // namespace hlod::lazy

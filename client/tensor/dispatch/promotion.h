// Type promotion as PyTorch does it (torch.result_type).
#pragma once

#include "absl/types/span.h"
#include "hlod/runtime/types.h"
#include "hlod/tensor/operand.h"

namespace hlod::lazy {

// What counts of an operand: its type, and whether it has dimensions, is a zero-dimensional tensor, or a
// number. Each ranks below the one before: it decides the kind of result, not its width.
struct Promoted {
  enum class Rank { kTensor, kZeroDimensional, kNumber };
  PrimitiveType type;
  Rank rank;
};

// The common type. Refuses types that have none (f8 with others; u16 to u64 with signed integers).
PrimitiveType ResultType(absl::Span<const Promoted> operands);
// Of two types of the same rank.
PrimitiveType PromoteTypes(PrimitiveType a, PrimitiveType b);
// The type a number takes among nothing else: pred, s64, f32, c64.
PrimitiveType NumberType(const Scalar& value);
// Whether an update in place may store `from` as `to`: not complex as real, float as integer, number as bool.
bool CanCast(PrimitiveType from, PrimitiveType to);

}  // namespace hlod::lazy

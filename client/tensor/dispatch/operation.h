// The table of operations: ops.inc has one row per operation, and this file says what a row holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace hlod::lazy {

// The promotion of the operands' types, as PyTorch promotes, before the lowering sees them.
enum class Promotion : uint8_t {
  kNone,     // Each operand keeps its type; numbers take the first tensor's.
  kCommon,   // All take their common type.
  kFloat,    // Their common type, an integer or bool one becoming f32.
  kNumeric,  // Their common type, bool becoming s64: sums and products.
};

struct Operation {
  const char* name;     // "LogSoftmax"
  const char* pytorch;  // "log_softmax"
  Promotion promotion;
  const char* meaning;  // One line.
};

namespace ops {
#define HLOD_TENSOR_OP(name, pytorch, promotion, meaning) extern const Operation name;
#include "client/tensor/dispatch/ops.inc"
#undef HLOD_TENSOR_OP
}  // namespace ops

// Returns all rows, in the table's order.
absl::Span<const Operation* const> AllOperations();

}  // namespace hlod::lazy

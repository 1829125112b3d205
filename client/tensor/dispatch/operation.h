// The table of operations: ops.inc has one row per operation, accepted.inc the element types, and this
// file describes the columns.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "absl/types/span.h"
#include "common/hlo/primitive_type.h"

namespace hlod::lazy {

// The promotion of the operands' types, by PyTorch's rules, before the lowering gets them.
enum class Promotion : uint8_t {
  kNone,     // Each operand keeps its type; numbers get the type of the first tensor.
  kCommon,   // All operands get their common type.
  kFloat,    // All operands get their common type; an integer or bool type becomes f32.
  kNumeric,  // All operands get their common type; bool becomes s64. For sums and products.
};

// The element types of an operation's tensors, by PyTorch's rules (accepted.inc).
struct Accepted {
  uint64_t types = ~uint64_t{0};  // A bit per PrimitiveType.
  bool one_type = false;          // All tensors must have the same type.
};
// Returns those of the operation that PyTorch calls `pytorch`; all types when the table does not list it.
Accepted AcceptedBy(std::string_view pytorch);

struct Operation {
  const char* name;     // "LogSoftmax"
  const char* pytorch;  // "log_softmax"
  Promotion promotion;
  const char* meaning;  // One line.
  Accepted accepted = {};
};

namespace ops {
#define HLOD_TENSOR_OP(name, pytorch, promotion, meaning) extern const Operation name;
#include "client/tensor/dispatch/ops.inc"
#undef HLOD_TENSOR_OP
}  // namespace ops

// Returns all rows, in the table's order.
absl::Span<const Operation* const> AllOperations();

}  // namespace hlod::lazy

// The types of indices and of classes that an operation accepts, by PyTorch's rules (accepted_indices.inc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "client/tensor/dispatch/operation.h"

namespace hlod::lazy {

// The operands `first` to `last` of an operation are indices of these types.
struct AcceptedIndices {
  std::string_view pytorch;
  int first = 0;
  int last = -1;  // -1: to the end.
  uint64_t types = 0;
  bool empty_of_any = false;  // True if an index without elements may have any type.
};
// Returns those of the operation that PyTorch calls `pytorch`; null when it has no indices.
const AcceptedIndices* AcceptedIndicesOf(std::string_view pytorch);

// Refuses the type of operand number `operand` when it is an index that the operation does not accept.
// `empty` says whether it has no elements.
void CheckIndexType(std::string_view pytorch, size_t operand, PrimitiveType type, bool empty);

}  // namespace hlod::lazy

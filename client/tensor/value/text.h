// Tensors as text.
#pragma once

#include <string>

#include "hlod/runtime/types.h"

namespace hlod::lazy {

// Returns "tensor([[1, 2], [3, 4]], f32[2,2])"; above 1,000 elements with only the first and last three of
// each dimension.
std::string TensorText(const Literal& literal);
// Returns the numbers alone: "[[1, 2],\n [3, 4]]".
std::string ValueText(const Literal& literal);

}  // namespace hlod::lazy

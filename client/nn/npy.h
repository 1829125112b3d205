// Reads NumPy's .npy format into the types of tensors.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/hlo/elements/npy.h"
#include "hlod/tensor/tensor.h"

namespace hlod::nn {

struct NpyArray {
  Shape shape;
  hlo::NpyHeader header;
};

// Returns the array of a file of `size` bytes that begins with `bytes`; `name` and `truncated` are as in
// ParseNpyHeader. bf16 is what JAX saves as |V2. INVALID_ARGUMENT for types that tensors do not have, and
// when the size of the elements is not that of the bytes behind the header.
absl::StatusOr<NpyArray> ParseNpyArray(std::string_view bytes, uint64_t size, std::string_view name,
                                       bool* truncated = nullptr);

// Returns the format's name of a type; empty when it has none.
std::string_view NpyDtypeOf(PrimitiveType type);

}  // namespace hlod::nn

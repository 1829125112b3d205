// Arrays in NumPy's .npy format, as tensors have them.
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

// The array of a file of `size` bytes that begins with `bytes`; `name` and `truncated` are as in
// ParseNpyHeader. bf16 is what JAX saves as |V2. INVALID_ARGUMENT for types that tensors have not, and when
// the elements are not the bytes behind the header.
absl::StatusOr<NpyArray> ParseNpyArray(std::string_view bytes, uint64_t size, std::string_view name,
                                       bool* truncated = nullptr);

// What the format calls a type; empty when it has no name for it.
std::string_view NpyDtypeOf(PrimitiveType type);

}  // namespace hlod::nn

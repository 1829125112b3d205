// NumPy's .npy files. Element types that NumPy has no name for travel as raw bits: bf16 as uint16 (or void of
// 2 bytes, as JAX saves it), f8 types as uint8; sub-byte integers as int8 and uint8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"

namespace hlod::hlo {

// The value in a file as a literal of `shape`. INVALID_ARGUMENT naming the file when its dtype or shape is
// another.
absl::StatusOr<Literal> ReadNpy(const std::string& path, const Shape& shape);
// The value in the bytes of such a file; `name` is for messages.
absl::StatusOr<Literal> ParseNpy(std::string_view bytes, const Shape& shape, std::string_view name);

absl::Status WriteNpy(const std::string& path, const Literal& literal);
std::string FormatNpy(const Literal& literal);

// The parts of a file: what its header says ...
struct NpyHeader {
  std::string dtype;          // "<f4"
  bool column_major = false;  // The elements lie in that order.
  Dims dims;
  size_t bytes = 0;  // Of the header: the elements follow.
};
// INVALID_ARGUMENT naming the file when the bytes do not begin with a whole header; `truncated`, where given,
// says that more of them could be one.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view bytes, std::string_view name,
                                         bool* truncated = nullptr);
// ... and the header of an array.
std::string FormatNpyHeader(std::string_view dtype, const Dims& dims);
// The elements of `to` from those of a file, as many, in column-major order.
void FromColumnMajor(std::string_view from, Literal& to);

// The dtype that a literal of `type` is written with: "<f4", "|b1".
std::string_view NpyDtype(PrimitiveType type);

}  // namespace hlod::hlo

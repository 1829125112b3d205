// Reads and writes NumPy's .npy files. Element types that NumPy has no name for are stored as raw bits: bf16
// as uint16 (or void of 2 bytes, as JAX saves it), f8 types as uint8; sub-byte integers as int8 and uint8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"

namespace hlod::hlo {

// Reads a file's value as a literal of `shape`. INVALID_ARGUMENT, with the file's name, when its dtype or
// shape differs.
absl::StatusOr<Literal> ReadNpy(const std::string& path, const Shape& shape);
// Reads the value from the bytes of such a file; `name` is for messages.
absl::StatusOr<Literal> ParseNpy(std::string_view bytes, const Shape& shape, std::string_view name);

absl::Status WriteNpy(const std::string& path, const Literal& literal);
std::string FormatNpy(const Literal& literal);

// The contents of a file's header.
struct NpyHeader {
  std::string dtype;          // "<f4"
  bool column_major = false;  // True when the elements are in column-major order.
  Dims dims;
  size_t bytes = 0;  // The size of the header, after which the elements begin.
};
// Parses the header at the beginning of `bytes`. INVALID_ARGUMENT, with the file's name, when the header is
// invalid or incomplete. `truncated`, when not null, is set to true when more bytes could complete it.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view bytes, std::string_view name,
                                         bool* truncated = nullptr);
// Returns the header for an array.
std::string FormatNpyHeader(std::string_view dtype, const Dims& dims);
// Sets the elements of `to` from those of a file in column-major order; both must have the same number of
// elements.
void FromColumnMajor(std::string_view from, Literal& to);

// Returns the dtype with which a literal of `type` is written: "<f4", "|b1".
std::string_view NpyDtype(PrimitiveType type);

}  // namespace hlod::hlo

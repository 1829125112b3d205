// Results with bounded dynamic dimensions, as they are stored: what a program's plan writes, and a client
// reads.
//
// The elements that are there, dense row-major at their actual sizes; zeros up to as many as the bounds
// allow; then the sizes, an s32 for each dimension.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// The bytes that an array takes where it is stored: of static dimensions ByteSize. Nothing on overflow.
std::optional<int64_t> StoredByteSize(const Shape& shape);
// The array that is stored, of its actual sizes. INVALID_ARGUMENT when the bytes are not of `shape`, or a
// size is beyond its bound. REQUIRES: shape.HasDynamicDimension().
absl::StatusOr<Literal> FromStored(const Shape& shape, absl::Span<const std::byte> bytes);

// A custom-call whose operands are an array at its bounds and the s32 size of each of its dimensions, and
// whose result, u8[StoredByteSize], is how that is stored: what a program returns when it is rewritten to
// static shapes. Its backend_config has a '?' for each dynamic dimension and a '=' for each
// other one.
inline constexpr std::string_view kDynamicResultTarget = "hlod.DynamicResult";
CustomCallAttributes MakeDynamicResult(const Shape& shape);
// The shape that such a custom-call stores; nothing when it is not one, or not well-formed.
std::optional<Shape> StoredShape(Instruction instruction);
// INVALID_ARGUMENT when a size is beyond its bound.
absl::StatusOr<Literal> ToStored(const Literal& array, absl::Span<const int64_t> sizes);

}  // namespace hlod::hlo

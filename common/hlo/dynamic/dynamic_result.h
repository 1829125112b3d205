// The stored form of results with bounded dynamic dimensions, which a program's plan writes and a client
// reads.
//
// It holds the existing elements, dense row-major at their actual sizes; then zeros up to the byte size at
// the bounds; then the sizes, one s32 per dimension.
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

// Returns the bytes of the stored form of an array; for static dimensions that is ByteSize. nullopt on
// overflow.
std::optional<int64_t> StoredByteSize(const Shape& shape);
// Returns the stored array at its actual sizes. INVALID_ARGUMENT when `bytes` do not fit `shape`, or a size
// is beyond its bound. REQUIRES: shape.HasDynamicDimension().
absl::StatusOr<Literal> FromStored(const Shape& shape, absl::Span<const std::byte> bytes);

// The target of a custom-call whose operands are an array at its bounds and the s32 size of each of its
// dimensions, and whose result, u8[StoredByteSize], is their stored form. A program that was rewritten to
// static shapes ends with it. Its backend_config has a '?' per dynamic dimension and a '=' per static one.
inline constexpr std::string_view kDynamicResultTarget = "hlod.DynamicResult";
CustomCallAttributes MakeDynamicResult(const Shape& shape);
// Returns the shape that such a custom-call stores; nullopt when the instruction is not one, or is not
// well-formed.
std::optional<Shape> StoredShape(Instruction instruction);
// Returns the stored form of an array. INVALID_ARGUMENT when a size is beyond its bound.
absl::StatusOr<Literal> ToStored(const Literal& array, absl::Span<const int64_t> sizes);

}  // namespace hlod::hlo

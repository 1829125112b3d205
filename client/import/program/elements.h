// The elements of a dense literal as MLIR keeps them in memory, which is also their form in hexadecimal text
// and in bytecode.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/program/operation.h"

namespace hlod::stablehlo {

// Converts little-endian bytes. Elements of less than 8 bits take one byte each, bools one bit or one byte;
// the bytes of a single element are repeated for all. `type` is a static array's, and the caller has limited
// its size.
absl::StatusOr<hlo::Literal> LiteralFromBytes(const Type& type, std::string_view bytes);

// Returns true for an array of one repeated element that is too large to expand. False when its size is not
// known.
bool IsLargeSplat(const Type& type);
// Converts the bytes of one element.
absl::StatusOr<Splat> SplatFromBytes(const Type& type, std::string_view bytes);

// Returns the elements of a literal of integers or bools; empty for other types.
Integers ElementsOf(const hlo::Literal& literal);
// Returns true when there are elements and all have the same bits.
bool IsOneValue(const hlo::Literal& literal);
// Copies element 0 to the others.
void RepeatFirst(hlo::Literal& literal);

// Converts one-dimensional literals of integers, and lists of integers, to Integers, recursively.
void MakeIntegers(Attribute& attribute);

}  // namespace hlod::stablehlo

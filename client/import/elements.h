// The elements of a dense literal as MLIR keeps them in memory: text in hexadecimal and bytecode have these
// bytes.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/operation.h"

namespace hlod::stablehlo {

// Little endian, elements below a byte in a byte each, bools in a bit or in a byte each; the bytes of one
// element stand for all of them. `type` is a static array's. The caller has limited its size.
absl::StatusOr<hlo::Literal> LiteralFromBytes(const Type& type, std::string_view bytes);

// The elements of a literal of integers or bools; of other literals none.
Integers ElementsOf(const hlo::Literal& literal);
// Whether there are elements, all with the same bits.
bool IsOneValue(const hlo::Literal& literal);
// Copies element 0 to the others.
void RepeatFirst(hlo::Literal& literal);

// Literals of integers and of one dimension, and lists of integers, as Integers, all the way down.
void MakeIntegers(Attribute& attribute);

}  // namespace hlod::stablehlo

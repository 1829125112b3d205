// Small arrays of integers that can be computed while a program is converted, such as the size operands of
// dynamic operations.
#pragma once

#include <functional>
#include <optional>

#include "client/import/program/operation.h"
#include "common/hlo/module.h"

namespace hlod::stablehlo {

// Returns the elements of an instruction of integers or truth values, computed from those of its operands
// (`known` returns null for unknown ones). Returns nullopt when an operand is unknown, the elements are too
// many, or sizes are not computed with this opcode.
std::optional<Integers> Fold(hlo::Instruction instruction,
                             const std::function<const Integers*(hlo::NodeId)>& known);

// Returns the numbers as a literal of `shape`, an array of integers or truth values.
hlo::Literal LiteralOf(const Integers& values, const hlo::Shape& shape);

// Returns the elements of an array of integers or truth values; nullopt for other types.
std::optional<Integers> IntegersOf(const hlo::Literal& literal);

}  // namespace hlod::stablehlo

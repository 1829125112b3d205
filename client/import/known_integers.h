// Small arrays of integers that can be computed while a program is converted: the sizes that dynamic
// operations are given.
#pragma once

#include <functional>
#include <optional>

#include "client/import/operation.h"
#include "common/hlo/module.h"

namespace hlod::stablehlo {

// The elements of an instruction of integers or truth values, by those of its operands (null: not known); or
// nothing, when they are not known, too many, or of an opcode that sizes are not computed by.
std::optional<Integers> Fold(hlo::Instruction instruction,
                             const std::function<const Integers*(hlo::NodeId)>& known);

// The numbers as a literal of an array shape of integers or truth values.
hlo::Literal LiteralOf(const Integers& values, const hlo::Shape& shape);

// The elements of an array of integers or truth values; nothing for other types.
std::optional<Integers> IntegersOf(const hlo::Literal& literal);

}  // namespace hlod::stablehlo

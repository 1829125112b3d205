// Writes the elements of a literal as MLIR does.
#pragma once

#include <string>

#include "client/import/program/operation.h"

namespace hlod::stablehlo {

// Returns "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>": one value when all are equal, bytes in hexadecimal
// when they are many. Floats have enough digits to be read back exactly; NaN and infinities are written as
// bits.
std::string DenseText(const hlo::Literal& literal);
std::string DenseText(const Splat& splat);

}  // namespace hlod::stablehlo

// The elements of a literal as MLIR writes them.
#pragma once

#include <string>

#include "common/hlo/literal.h"

namespace hlod::stablehlo {

// "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>"; one value for all where they are equal, bytes in hexadecimal
// where they are many. Floats have as many digits as bring them back; NaN and infinities are bits.
std::string DenseText(const hlo::Literal& literal);

}  // namespace hlod::stablehlo

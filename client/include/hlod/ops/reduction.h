// Reductions over dimensions: none named means all. keepdim leaves sizes of 1.
#pragma once

#include "hlod/tensor.h"

namespace hlod {

Tensor Sum(const Operand& x, DimList dims = {}, bool keepdim = false);  // Of pred and integers: s64.
Tensor Mean(const Operand& x, DimList dims = {}, bool keepdim = false);

}  // namespace hlod

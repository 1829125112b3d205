// Softmax and related functions along one dimension; when a type is given they compute in it and return it.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Softmax(const Operand& x, int64_t dim,
               std::optional<PrimitiveType> type = {});  // exp(x) / sum(exp(x))
Tensor LogSoftmax(const Operand& x, int64_t dim, std::optional<PrimitiveType> type = {});  // log(Softmax(x))
Tensor Softmin(const Operand& x, int64_t dim, std::optional<PrimitiveType> type = {});     // Softmax(-x)

}  // namespace hlod

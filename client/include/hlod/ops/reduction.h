// Reductions over dimensions; no dimensions means all. keepdim keeps reduced dimensions with size 1.
#pragma once

#include <optional>
#include <utility>

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Sum(const Operand& x, DimList dims = {},
           bool keepdim = false);  // The type is s64 for pred and integers.
Tensor Mean(const Operand& x, DimList dims = {}, bool keepdim = false);
Tensor Prod(const Operand& x, DimList dims = {},
            bool keepdim = false);  // The type is s64 for pred and integers.
Tensor Nansum(const Operand& x, DimList dims = {}, bool keepdim = false);   // NaN counts as 0.
Tensor Nanmean(const Operand& x, DimList dims = {},
               bool keepdim = false);  // The mean of the elements that are not NaN.
Tensor CountNonzero(const Operand& x, DimList dims = {});
Tensor Logsumexp(const Operand& x, DimList dims = {}, bool keepdim = false);  // log(sum(exp(x)))
Tensor Trace(const Operand& x);  // The sum of a matrix's diagonal.

// The sum of squared distances from the mean, divided by the count minus `correction`.
Tensor Var(const Operand& x, DimList dims = {}, double correction = 1, bool keepdim = false);
Tensor Std(const Operand& x, DimList dims = {}, double correction = 1, bool keepdim = false);  // sqrt(Var(x))
std::pair<Tensor, Tensor> VarMean(const Operand& x, DimList dims = {}, double correction = 1,
                                  bool keepdim = false);
std::pair<Tensor, Tensor> StdMean(const Operand& x, DimList dims = {}, double correction = 1,
                                  bool keepdim = false);
// linalg.vector_norm of any order, including 0 and infinity.
Tensor VectorNorm(const Operand& x, double order = 2, DimList dims = {}, bool keepdim = false,
                  std::optional<PrimitiveType> type = {});

// The greatest and the least element; NaN when any element is NaN. Empty dimensions are refused.
Tensor Amax(const Operand& x, DimList dims = {}, bool keepdim = false);
Tensor Amin(const Operand& x, DimList dims = {}, bool keepdim = false);
std::pair<Tensor, Tensor> Aminmax(const Operand& x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor Max(const Operand& x);
Tensor Min(const Operand& x);
// The greatest (Min: the least) elements along a dimension with their indices: the first when there are
// several.
ValuesAndIndices Max(const Operand& x, int64_t dim, bool keepdim = false);
ValuesAndIndices Min(const Operand& x, int64_t dim, bool keepdim = false);
Tensor Argmax(const Operand& x, std::optional<int64_t> dim = {},
              bool keepdim = false);  // Without dim, over all elements.
Tensor Argmin(const Operand& x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor All(const Operand& x, DimList dims = {}, bool keepdim = false);  // True where no element is zero.
Tensor Any(const Operand& x, DimList dims = {}, bool keepdim = false);  // True where an element is not zero.

}  // namespace hlod

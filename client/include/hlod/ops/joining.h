// Joining tensors.
#pragma once

#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// Concatenates along a dimension, in the common type. Empty vectors are left out.
Tensor Cat(const std::vector<Tensor>& tensors, int64_t dim = 0, Caller caller = Caller::Here());
// Joins along a new dimension.
Tensor Stack(const std::vector<Tensor>& tensors, int64_t dim = 0, Caller caller = Caller::Here());
// Joins along dimension 1; vectors along dimension 0.
Tensor Hstack(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
// Joins along dimension 0; vectors become rows.
Tensor Vstack(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
// Joins along dimension 2.
Tensor Dstack(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
// Joins along dimension 1; vectors become columns.
Tensor ColumnStack(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
// A matrix with the given matrices along its diagonal, and zeros elsewhere.
Tensor BlockDiag(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());

enum class MeshIndexing { kIj, kXy };
// The coordinates of the grid spanned by the vectors. kXy exchanges the first two dimensions.
std::vector<Tensor> Meshgrid(const std::vector<Tensor>& tensors, MeshIndexing indexing = MeshIndexing::kIj,
                             Caller caller = Caller::Here());
// All combinations of the vectors' elements, one per row.
Tensor CartesianProd(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
// All selections of r elements of a vector, in order, one per row.
Tensor Combinations(const Operand& x, int64_t r = 2, bool with_replacement = false);

}  // namespace hlod

// Joining tensors.
#pragma once

#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// One after another along a dimension, in their common type. Vectors without elements are left out.
Tensor Cat(const std::vector<Tensor>& tensors, int64_t dim = 0, Caller caller = Caller::Here());
// Along a new dimension.
Tensor Stack(const std::vector<Tensor>& tensors, int64_t dim = 0, Caller caller = Caller::Here());
Tensor Hstack(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());  // Columns.
Tensor Vstack(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());  // Rows.
Tensor Dstack(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());  // Depth: dimension 2.
// Vectors become columns.
Tensor ColumnStack(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
// Matrices along the diagonal, zeros elsewhere.
Tensor BlockDiag(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());

enum class MeshIndexing { kIj, kXy };
// Coordinates of the grid that vectors span. kXy exchanges the first two dimensions.
std::vector<Tensor> Meshgrid(const std::vector<Tensor>& tensors, MeshIndexing indexing = MeshIndexing::kIj,
                             Caller caller = Caller::Here());
// All combinations of the vectors' elements, one per row.
Tensor CartesianProd(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());
// Every choice of r of a vector's elements in their order, one per row.
Tensor Combinations(const Operand& x, int64_t r = 2, bool with_replacement = false);

}  // namespace hlod

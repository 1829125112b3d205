// Matrix products that several operations are lowered to.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns the matrix product of vectors, matrices, or batches of matrices, which broadcast. A vector on the
// left of a batch is kept as a row.
Op MatMulOps(Lowering& l, Op x, Op y);
// Refuses x unless it has `rank` dimensions.
void RequireRank(Lowering& l, Op x, size_t rank);

}  // namespace hlod::lazy

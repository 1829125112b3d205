// Products that several operations lower to.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// The matrix product of vectors, matrices, or batches of matrices that broadcast. A vector in front of a
// batch stays as a row.
Op MatMulOps(Lowering& l, Op x, Op y);
// Refuses another rank.
void RequireRank(Lowering& l, Op x, size_t rank);

}  // namespace hlod::lazy

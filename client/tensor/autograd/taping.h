// Remembering an operation for Backward() while it is recorded.
#pragma once

#include <utility>

#include "absl/container/inlined_vector.h"
#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/bind.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// What an operation is to be remembered by, for Backward().
struct Taping {
  bool on = false;
  bool in_place = false;                     // Whether the first operand is updated.
  NodeId first = 0;                          // Its nodes begin here.
  absl::InlinedVector<TapeInput, 3> inputs;  // Its operands that are tensors.
  struct Result {
    Value* value;
    NodeId node;
    Lineage* lineage = nullptr;  // Whose tensor shows it; null: the whole value.
  };
  absl::InlinedVector<Result, 2> results;
};

bool NeedsTape(const BoundOperands& bound);
// An operand of a remembered operation. Two operands that are one node and yet not one tensor (one is
// detached, or a copy) become two nodes, so that each has its own gradient.
Op TapeOperand(Taping& taping, Lowering& lowering, TensorImpl& tensor, Op op);
// Remembers what was recorded since `taping` began.
void Remember(Taping& taping, const Operation& operation, Trace& graph, const Caller& caller);

}  // namespace hlod::lazy

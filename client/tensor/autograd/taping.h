// Remembers an operation for Backward() while it is recorded.
#pragma once

#include <utility>

#include "absl/container/inlined_vector.h"
#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/bind.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Collects what the tape will remember of an operation.
struct Taping {
  bool on = false;
  bool in_place = false;                     // True when the first operand is updated.
  NodeId first = 0;                          // The first of its nodes.
  absl::InlinedVector<TapeInput, 3> inputs;  // The operands that are tensors.
  struct Result {
    Value* value;
    NodeId node;
    Lineage* lineage = nullptr;  // The lineage whose root shows `node`, or null.
  };
  absl::InlinedVector<Result, 2> results;
};

bool NeedsTape(const BoundOperands& bound);
// Notes an operand of a remembered operation, and returns the node to use for it. Two operands that are one
// node and yet not one tensor (one is detached, or a copy) become two nodes, so that each has its own
// gradient.
Op TapeOperand(Taping& taping, Lowering& lowering, TensorImpl& tensor, Op op);
// Puts what was recorded since `taping` began on the tape.
void Remember(Taping& taping, const Operation& operation, Trace& graph, const Caller& caller);

}  // namespace hlod::lazy

// Records an operation for Backward() while it is appended to the trace.
#pragma once

#include <utility>

#include "absl/container/inlined_vector.h"
#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/bind.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Collects the data of an operation that the tape will record.
struct Taping {
  bool on = false;
  bool in_place = false;                     // True when the first operand is updated.
  NodeId first = 0;                          // The operation's first node.
  absl::InlinedVector<TapeInput, 3> inputs;  // The operands that are tensors.
  struct Result {
    Value* value;
    NodeId node;
    Lineage* lineage = nullptr;  // The lineage whose root is `node`, or null.
  };
  absl::InlinedVector<Result, 2> results;
};

bool NeedsTape(const BoundOperands& bound);
// Adds an operand of the operation, and returns the node to use for it. Two operands with the same node that
// are different tensors (one is detached, or a copy) become two nodes, so that each has its own gradient.
Op TapeOperand(Taping& taping, Lowering& lowering, TensorImpl& tensor, Op op);
// Puts the nodes recorded since `taping` began on the tape.
void Remember(Taping& taping, const Operation& operation, Trace& graph, const Caller& caller);

}  // namespace hlod::lazy

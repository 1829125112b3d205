// Checks the operands of an operation before it is recorded: whether they are compatible, where the operation
// is computed, and what must be fetched first.
#pragma once

#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "client/tensor/dispatch/operation.h"
#include "client/tensor/trace/trace.h"
#include "client/tensor/value/impl.h"
#include "hlod/tensor/operand.h"

namespace hlod::lazy {

using OperandSpan = absl::Span<const Operand>;

// Returns the line of the first operand.
const Caller& CallerOf(OperandSpan operands);

// Returns "hlod:0" for a place that is not compatible with `other`; includes the connection if the
// connections differ.
std::string PlaceText(Place place, Place other);

// An operand that is being bound to a trace.
struct Bound {
  TensorImpl* tensor = nullptr;   // Null for a number.
  Ref<Value> copy;                // The copy of a host tensor on the device.
  bool is_number_tensor = false;  // True for a host tensor of one element among device tensors.
};

// Holds the operands of most operations without an allocation.
using BoundOperands = absl::InlinedVector<Bound, 3>;

// Data that must be fetched before an operation can be recorded. The lock is not held meanwhile, because a
// file or a connection may be slow.
struct Missing {
  Ref<Value> file;  // A value whose bytes are in a file.
  // A host tensor used with device tensors, which needs a copy there, of its value at `version`.
  TensorImpl* tensor = nullptr;
  Ref<Value> shown;
  uint64_t version = 0;
  size_t index = 0;  // The index of the operand.
};

// Returns the place of an operation: the common device of its device tensors, otherwise the host. Throws
// Refusal when they are on several devices. REQUIRES: TraceLock, like the functions below unless stated
// otherwise.
Place PlaceOf(OperandSpan operands);
// Returns the operands bound for an operation on `place`, or sets `missing` to data that must be fetched
// first. A host tensor's copy on the device is kept until the tensor is written. If others may write to its
// bytes, the copy is used only by the call that made it: `copied` lists the operands that this call has
// copied.
BoundOperands Bind(const Operation& operation, OperandSpan operands, Place place,
                   absl::Span<const size_t> copied, std::optional<Missing>& missing);
// Fetches `missing`. Must be called without the lock.
void Fetch(const Operation& operation, const Caller& caller, const Missing& missing, Place place);

// Returns the open trace for an operation on such operands.
Trace& GraphFor(Place place, const BoundOperands& bound);

}  // namespace hlod::lazy

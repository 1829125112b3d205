// Checks the operands of an operation before it is recorded: whether they go together, where they are
// computed, and what has to be fetched first.
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

// Returns "hlod:0" for a place that does not go with `other`; with its connection, where these differ.
std::string PlaceText(Place place, Place other);

// An operand on the way into a trace.
struct Bound {
  TensorImpl* tensor = nullptr;   // Null for a number.
  Ref<Value> copy;                // A host tensor's copy on the device.
  bool is_number_tensor = false;  // A host tensor of one element among device tensors.
};

// Holds the operands of most operations without an allocation.
using BoundOperands = absl::InlinedVector<Bound, 3>;

// A thing that must be fetched before an operation can be recorded. The lock is not held meanwhile: a file or
// a connection may be slow.
struct Missing {
  Ref<Value> file;  // A value whose bytes are in a file.
  // A host tensor that meets device tensors needs a copy there, of what it shows at `version`.
  TensorImpl* tensor = nullptr;
  Ref<Value> shown;
  uint64_t version = 0;
  size_t index = 0;  // The operand's number.
};

// Returns the place of an operation: the device that its device tensors share, else the host. Throws Refusal
// when they are on several. REQUIRES: TraceLock, as the functions below unless they say otherwise.
Place PlaceOf(OperandSpan operands);
// Returns the operands as an operation on `place` takes them, or sets `missing` to what it needs first. A
// host tensor's copy on the device is kept as long as the tensor is not written. Where others may write to
// its bytes, the copy serves only the call that has made it: `copied` lists the operands that this call has
// copied.
BoundOperands Bind(const Operation& operation, OperandSpan operands, Place place,
                   absl::Span<const size_t> copied, std::optional<Missing>& missing);
// Fetches `missing`. Not under the lock.
void Fetch(const Operation& operation, const Caller& caller, const Missing& missing, Place place);

// Returns the open trace that an operation on such operands belongs to.
Trace& GraphFor(Place place, const BoundOperands& bound);

}  // namespace hlod::lazy

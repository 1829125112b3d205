// Operations on host tensors: recorded with the same lowerings, and evaluated at once in this process.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/trace/trace.h"

namespace hlod::lazy {

// Returns the values of nodes of a host trace. REQUIRES: TraceLock. Throws Refusal.
std::vector<std::shared_ptr<const Literal>> Evaluate(const Trace& graph, absl::Span<const NodeId> nodes);
// Evaluates a recipe, or reads a file, unless the value has bytes. REQUIRES: TraceLock. Throws Refusal.
void Materialize(Value& value);
// Reads the file of a value in a file. Takes the lock itself, but does not hold it while reading. Throws
// Refusal.
void LoadFile(const Ref<Value>& value);

}  // namespace hlod::lazy

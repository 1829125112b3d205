// The errors of reading a value that does not exist; they name the path from the value to the placeholder.
#pragma once

#include <vector>

#include "client/tensor/trace/trace.h"

namespace hlod::lazy {

// Returns the nodes on a path from `node` of a trace through operands to the parameter of a placeholder, both
// included; empty if it does not depend on one.
std::vector<NodeId> PathToPlaceholder(const Trace& graph, NodeId node);

// Throws the error of reading `value`, which is itself a placeholder.
[[noreturn]] void ThrowPlaceholder(const Value& value, const char* operation, const Caller& caller);
// Throws when `value`, a node of an abstract trace, still depends on a placeholder.
void CheckNoPlaceholder(const Value& value, const char* operation, const Caller& caller);
// Throws when a live value of an abstract trace still depends on a placeholder. The error lists up to ten
// such outputs, each with its placeholder.
void CheckLivePlaceholders(const Trace& graph, const Caller& caller);

// Returns the error of reads and operations on tensors of an ended connection.
absl::Status EndedError();

}  // namespace hlod::lazy

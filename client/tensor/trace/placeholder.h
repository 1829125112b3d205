// The errors of reading a value that does not exist; they name the path from the value to the placeholder.
#pragma once

#include "client/tensor/trace/trace.h"

namespace hlod::lazy {

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

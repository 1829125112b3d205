// Refusing to read what has no value, with the way from what was read to the placeholder.
#pragma once

#include "client/tensor/trace/trace.h"

namespace hlod::lazy {

// A value that is a placeholder was to be read.
[[noreturn]] void ThrowPlaceholder(const Value& value, const char* operation, const Caller& caller);
// Throws when `value`, a node of an abstract graph, still depends on a placeholder.
void CheckNoPlaceholder(const Value& value, const char* operation, const Caller& caller);
// Throws when a live value of an abstract graph still depends on a placeholder: it names each such output and
// its placeholder, up to ten.
void CheckLivePlaceholders(const Trace& graph, const Caller& caller);

// What reads and operations on tensors of an ended connection say.
absl::Status EndedError();

}  // namespace hlod::lazy

// Closes a trace, which runs it: its live values get buffers. Reads values.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/trace/trace.h"
#include "hlod/tensor/trace.h"

namespace hlod::lazy {

// Runs a real trace: finds or compiles its program, starts it, and gives the live values the results'
// buffers. Does not wait. Values that depend on a dead buffer fail with that buffer's reason. Returns the
// trace's parameters, which the caller destroys after it has released the lock. REQUIRES: TraceLock, and a
// DeliverEventsAtExit that was made before it. `operation` names the operation that caused the close, and
// `forced` the value that it needs, if any. Force() and Sync() give `may_ask`: instead of a wait for the
// partitioner under the lock it then throws, and the trace stays open.
std::vector<Parameter> Close(Trace& graph, TraceCause cause, const Caller& caller, const char* operation,
                             const Value* forced = nullptr, bool may_ask = false);

// Returns true when the trace must be closed before more is recorded: it has more instructions than the
// setting trace_nodes_max, or its numbers fill half of an execute's inline bytes.
bool IsFull(const Trace& graph);

// Makes the value exist on the host or in a buffer: closes the trace that computes it, or evaluates its
// recipe. Throws Error of kind placeholder if the value depends on one; the error names the path from `value`
// to it. `operation` is the reading operation. Afterwards the value is kHost, kData or kFailed, or a
// placeholder's kData in an abstract session. Takes the lock itself, and waits while too many executes are
// under way.
void Force(const Ref<Value>& value, TraceCause cause, const char* operation, const Caller& caller);

// Returns the value's bytes, waiting for them. Takes the lock itself.
std::shared_ptr<const Literal> Read(const Ref<Value>& value, TraceCause cause, Cause ledger,
                                    const char* operation, const Caller& caller);

}  // namespace hlod::lazy

// Closes a trace, which runs it: its live values become data. Reads values.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/trace/trace.h"
#include "hlod/tensor/trace.h"

namespace hlod::lazy {

// Runs a real trace: finds or compiles its program, starts it, and turns the live values into the results'
// buffers. Waits for nothing. Values that depend on a dead buffer fail with that buffer's reason. Returns the
// trace's parameters, which the caller destroys after it has released the lock. REQUIRES: TraceLock, and a
// DeliverEventsAtExit that was made before it. `operation` names what asked for the close, and `forced` the
// value that it asked for, if it did.
std::vector<Parameter> Close(Trace& graph, TraceCause cause, const Caller& caller, const char* operation,
                             const Value* forced = nullptr);

// Returns true when the trace must be closed before anything else is recorded: it has more instructions than
// the setting trace_nodes_max allows, or its numbers fill half of the bytes that an execute carries inline.
bool IsFull(const Trace& graph);

// Makes the value exist on the host or in a buffer: closes the trace that computes it, or evaluates its
// recipe. Throws Error of kind placeholder for what depends on one, naming the way from `value` to it.
// `operation` is what reads it. Afterwards the value is kHost, kData or kFailed, or a placeholder's kData in
// an abstract session. Takes the lock itself, and waits while too many executes are under way.
void Force(const Ref<Value>& value, TraceCause cause, const char* operation, const Caller& caller);

// Returns the bytes of the value. Waits for them. Takes the lock itself.
std::shared_ptr<const Literal> Read(const Ref<Value>& value, TraceCause cause, Cause ledger,
                                    const char* operation, const Caller& caller);

}  // namespace hlod::lazy

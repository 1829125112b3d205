// Closing a graph: its live values become data.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/trace/trace.h"
#include "hlod/tensor/trace.h"

namespace hlod::lazy {

// Runs a real graph: finds or compiles its program, starts it, and turns its live values into the results'
// buffers. Waits for nothing. Values that depend on a dead buffer fail with that buffer's reason. What is
// returned is let go of after the lock. REQUIRES: TraceLock, and an DeliverEventsAtExit that was made before
// it. `operation` and `forced` say what asked for which value, if for one.
std::vector<Parameter> Close(Trace& graph, TraceCause cause, const Caller& caller, const char* operation,
                             const Value* forced = nullptr);

// Whether the trace is to be closed before anything else is recorded: it has as many instructions as the setting
// trace_nodes_max allows, or as many numbers as an execute takes.
bool IsFull(const Trace& graph);

// The value on the host or in a buffer: closes what it takes, evaluates a recipe. Throws Error of kind
// placeholder for what depends on one, naming the way from `value` to it. `operation` is what reads it.
// Afterwards the value is kHost, kData or kFailed. Takes the lock itself.
void Force(const Ref<Value>& value, TraceCause cause, const char* operation, const Caller& caller);

// The bytes. Waits. Takes the lock itself.
std::shared_ptr<const Literal> Read(const Ref<Value>& value, TraceCause cause, Cause ledger,
                                    const char* operation, const Caller& caller);

}  // namespace hlod::lazy

// The fields of events and accounts in profiles, by name. A visitor is called with each name and field: it
// writes the fields of a constant object, and fills those of another.
#pragma once

#include <concepts>
#include <type_traits>

#include "hlod/observe/account.h"
#include "hlod/observe/events.h"
#include "hlod/tensor/trace.h"

namespace hlod::internal {

template <typename E, typename T>
concept Is = std::same_as<std::remove_const_t<E>, T>;

template <typename V, Is<Origin> E>
void Fields(V& v, E& e) {
  v("file", e.file);
  v("line", e.line);
  v("function", e.function);
}
template <typename V, Is<EventValue> E>
void Fields(V& v, E& e) {
  v("value", e.value);
  v("buffer", e.buffer);
  v("shape", e.shape);
  v("bytes", e.bytes);
  v("close", e.close);
  v("origin", e.origin);
}
template <typename V, Is<CloseEvent::Input> E>
void Fields(V& v, E& e) {
  Fields(v, static_cast<std::conditional_t<std::is_const_v<E>, const EventValue, EventValue>&>(e));
  v("donated", e.donated);
  v("number", e.number);
  v("recorded_as", e.recorded_as);
}
template <typename V, Is<CloseEvent::Output> E>
void Fields(V& v, E& e) {
  Fields(v, static_cast<std::conditional_t<std::is_const_v<E>, const EventValue, EventValue>&>(e));
  v("alive", e.alive);
}
template <typename V, Is<CloseEvent> E>
void Fields(V& v, E& e) {
  v("close", e.close);
  v("cause", e.cause);
  v("operation", e.operation);
  v("origin", e.origin);
  v("forced", e.forced);
  v("session", e.session);
  v("step", e.step);
  v("device", e.device);
  v("nodes", e.nodes);
  v("inputs", e.inputs);
  v("outputs", e.outputs);
  v("found", e.found);
  v("program", e.program);
  v("name", e.name);
  v("command", e.command);
  v("trace_us", e.trace_us);
  v("lower_us", e.lower_us);
  v("compile_us", e.compile_us);
  v("send_us", e.send_us);
  v("status", e.status);
}
template <typename V, Is<CompileEvent> E>
void Fields(V& v, E& e) {
  v("session", e.session);
  v("step", e.step);
  v("origin", e.origin);
  v("program", e.program);
  v("name", e.name);
  v("instructions", e.instructions);
  v("bytes", e.bytes);
  v("reason", e.reason);
  v("why", e.why);
  v("nearest", e.nearest);
}
template <typename V, Is<ForceEvent> E>
void Fields(V& v, E& e) {
  v("cause", e.cause);
  v("operation", e.operation);
  v("origin", e.origin);
  v("value", e.value);
  v("close", e.close);
}
template <typename V, Is<TransferEvent> E>
void Fields(V& v, E& e) {
  v("cause", e.cause);
  v("origin", e.origin);
  v("name", e.name);
  v("session", e.session);
  v("step", e.step);
  v("device", e.device);
  v("value", e.value);
  v("us", e.us);
}
template <typename V, Is<WaitEvent> E>
void Fields(V& v, E& e) {
  v("cause", e.cause);
  v("origin", e.origin);
  v("session", e.session);
  v("step", e.step);
  v("value", e.value);
  v("us", e.us);
}
template <typename V, Is<HostFunctionEvent> E>
void Fields(V& v, E& e) {
  v("name", e.name);
  v("origin", e.origin);
  v("inputs", e.inputs);
  v("outputs", e.outputs);
  v("us", e.us);
}
template <typename V, Is<ValueFreedEvent> E>
void Fields(V& v, E& e) {
  v("value", e.value);
  v("how", e.how);
}
template <typename V, Is<SlowEvent> E>
void Fields(V& v, E& e) {
  v("path", e.path);
  v("operation", e.operation);
  v("origin", e.origin);
  v("us", e.us);
}
template <typename V, Is<StepEvent> E>
void Fields(V& v, E& e) {
  v("session", e.session);
  v("step", e.step);
  v("origin", e.origin);
}

template <typename V, Is<Amount> E>
void Fields(V& v, E& e) {
  v("bytes", e.bytes);
  v("calls", e.calls);
}
template <typename V, Is<Distribution> E>
void Fields(V& v, E& e) {
  v("min_us", e.min_us);
  v("max_us", e.max_us);
  v("sum_us", e.sum_us);
}
template <typename V, Is<TransferRow> E>
void Fields(V& v, E& e) {
  v("cause", e.cause);
  v("origin", e.origin);
  v("step", e.step);
  v("amount", e.amount);
  v("session", e.session);
  v("device", e.device);
  v("name", e.name);
  v("other_steps", e.other_steps);
  v("other_lines", e.other_lines);
}
template <typename V, Is<RunRow> E>
void Fields(V& v, E& e) {
  v("digest", e.digest);
  v("program", e.program);
  v("origin", e.origin);
  v("step", e.step);
  v("device", e.device);
  v("count", e.count);
  v("queue", e.queue);
  v("run", e.run);
  v("peak_bytes", e.peak_bytes);
  v("session", e.session);
  v("other_steps", e.other_steps);
  v("other_programs", e.other_programs);
}
template <typename V, Is<CompileRow> E>
void Fields(V& v, E& e) {
  v("digest", e.digest);
  v("program", e.program);
  v("origin", e.origin);
  v("step", e.step);
  v("reason", e.reason);
  v("why", e.why);
  v("outcome", e.outcome);
  v("at_us", e.at_us);
  v("compile_us", e.compile_us);
  v("instructions", e.instructions);
  v("program_bytes", e.program_bytes);
  v("code_bytes", e.code_bytes);
  v("argument_bytes", e.argument_bytes);
  v("output_bytes", e.output_bytes);
  v("alias_bytes", e.alias_bytes);
  v("temporary_bytes", e.temporary_bytes);
  v("count", e.count);
  v("others", e.others);
  v("session", e.session);
  v("slow_steps", e.slow_steps);
}
template <typename V, Is<RunSample> E>
void Fields(V& v, E& e) {
  v("at_us", e.at_us);
  v("queue_us", e.queue_us);
  v("run_us", e.run_us);
}
template <typename V, Is<SessionStats> E>
void Fields(V& v, E& e) {
  v("host_to_device", e.host_to_device);
  v("device_to_host", e.device_to_host);
  v("device_to_device", e.device_to_device);
  v("compiles", e.compiles);
  v("compile_cache_hits", e.compile_cache_hits);
  v("persistent_cache_hits", e.persistent_cache_hits);
  v("compile_us", e.compile_us);
  v("executes", e.executes);
  v("execute_us", e.execute_us);
  v("queue_us", e.queue_us);
  v("refused_reads", e.refused_reads);
  v("refused_before_sending", e.refused_before_sending);
  v("failed_commands", e.failed_commands);
  v("live_bytes", e.live_bytes);
  v("peak_bytes", e.peak_bytes);
  v("live_buffers", e.live_buffers);
  v("placeholders", e.placeholders);
  v("simulated_live_bytes", e.simulated_live_bytes);
  v("simulated_peak_bytes", e.simulated_peak_bytes);
  v("program_bytes", e.program_bytes);
  v("inline_argument_bytes", e.inline_argument_bytes);
  v("aborted_bytes", e.aborted_bytes);
  v("replayed_commands", e.replayed_commands);
}
template <typename V, Is<SessionAccount> E>
void Fields(V& v, E& e) {
  v("stats", e.stats);
  v("transfers", e.transfers);
  v("runs", e.runs);
  v("compiles", e.compiles);
  v("samples", e.samples);
}

}  // namespace hlod::internal

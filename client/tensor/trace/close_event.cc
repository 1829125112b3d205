// Builds the events of closes and values.
#include "client/tensor/trace/close_event.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/runtime/session/state.h"
#include "client/tensor/autograd/tape.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "common/base/sha256.h"

namespace hlod::lazy {
namespace {

// Sums up the time for recording the operations of a trace. The first kEach are timed one by one; after that
// only each kStride-th, counted kStride times, because reading the clock takes longer than most of the work
// of an operation.
struct Recording {
  static constexpr int64_t kEach = 64, kStride = 16;
  int depth = 0;           // Nesting of operations; only the outermost is timed.
  int64_t operations = 0;  // The number of operations recorded in this trace so far.
  double us = 0;
  std::optional<runtime::Stopwatch> since;  // Set while an operation is timed.

  void Begin() {
    ++operations;
    if (operations <= kEach || operations % kStride == 0) since.emplace();
  }
  void End() {
    if (since.has_value()) us += since->us() * static_cast<double>(operations <= kEach ? 1 : kStride);
    since.reset();
  }
  double Take() {
    End();  // A trace that is closed because it is full is closed before its last operation has ended.
    operations = 0;
    return std::exchange(us, 0);
  }
};
thread_local Recording recording;

Origin OriginOf(const Caller& caller) { return runtime::OriginOf(CallerScope::Of(caller)); }

// Returns the live values of the trace that only operations remembered for Backward() refer to.
absl::flat_hash_set<const Value*> HeldByTapeAlone(const Trace& graph) {
  absl::flat_hash_set<const TapeEntry*> seen;
  std::vector<const TapeEntry*> pending;
  const auto visit = [&](const Ref<TapeEntry>& entry) {
    if (entry && entry->graph == &graph && seen.insert(entry.get()).second) pending.push_back(entry.get());
  };
  absl::flat_hash_map<const Value*, uint32_t> references;
  for (const Value* value : graph.LiveInOrder()) {
    visit(value->history);
    visit(value->detached_history);
  }
  while (!pending.empty()) {
    const TapeEntry& entry = *pending.back();
    pending.pop_back();
    for (const TapeInput& input : entry.inputs) {
      visit(input.history);
      if (input.value) ++references[input.value.get()];
    }
  }
  absl::flat_hash_set<const Value*> held;
  for (const auto& [value, count] : references) {
    if (value->graph() == &graph && value->references() == count) held.insert(value);
  }
  return held;
}

}  // namespace

uint64_t CloseOf(const Value& value) {
  if (value.state() != Value::State::kData || !value.buffer().valid()) return 0;
  return value.buffer().internal_state()->close.load(std::memory_order_relaxed);
}

EventValue EventValueOf(const Value& value) {
  EventValue event;
  event.value = value.id;
  if (value.state() == Value::State::kData && value.buffer().valid()) event.buffer = value.buffer().handle();
  event.shape = value.shape();
  event.bytes = hlo::ByteSize(event.shape).value_or(0);
  event.close = CloseOf(value);
  event.origin = runtime::OriginOf(value.origin);
  return event;
}

void RecordingTime::Begin() {
  if (recording.depth++ == 0) recording.Begin();
}
void RecordingTime::End() {
  if (--recording.depth == 0) recording.End();
}

CloseReport::CloseReport(Trace& graph) : graph_(graph), on_(runtime::Observed()) {
  if (!on_) return;
  for (const Value* value : graph.LiveInOrder()) live_.insert(value);
  backward_ = HeldByTapeAlone(graph);
}

void CloseReport::Begin(TraceCause cause, const Caller& caller, const char* operation, const Value* forced) {
  static uint64_t closes = 0;  // Guarded by TraceLock.
  close = ++closes;
  if (!on_) return;
  const std::shared_ptr<runtime::Session> session = DeviceOf(graph_.place).internal_session();
  event_.emplace();
  event_->close = close;
  event_->cause = cause;
  event_->operation = operation;
  event_->origin = OriginOf(caller);
  event_->forced = forced == nullptr ? 0 : forced->id;
  event_->session = session->id();
  event_->step = session->step;
  event_->device = graph_.place.ordinal;
  event_->nodes = graph_.size();
  event_->trace_us = recording.Take();
}

void CloseReport::Take(const Program& program) {
  if (!event_.has_value()) return;
  event_->name = program.compiled->executable.name();
  for (const uint32_t number : program.arguments) {
    const Parameter& parameter = graph_.parameters()[number];
    CloseEvent::Input& input = event_->inputs.emplace_back();
    if (parameter.literal == nullptr) {
      static_cast<EventValue&>(input) = EventValueOf(*parameter.value);
      input.number = parameter.value->state() == Value::State::kHost;
    } else {
      input.shape = parameter.literal->shape();
      input.bytes = static_cast<int64_t>(parameter.literal->bytes().size());
      input.origin = runtime::OriginOf(graph_.origin(parameter.node).caller);
      input.number = true;
    }
    input.recorded_as = number;
  }
  for (const int donated : program.donate) event_->inputs[static_cast<size_t>(donated)].donated = true;
}

void CloseReport::Started(const Execution& execution) {
  for (const Buffer& result : execution.results) result.internal_state()->close = close;
  if (!event_.has_value()) return;
  event_->command = execution.command;
  event_->program = ToHex(execution.executable->digest);
}

void CloseReport::End(const std::vector<std::vector<Value*>>& values) {
  if (!event_.has_value()) return;
  for (const std::vector<Value*>& same : values) {
    for (const Value* value : same) {
      CloseEvent::Output& output = event_->outputs.emplace_back();
      static_cast<EventValue&>(output) = EventValueOf(*value);
      output.alive = !live_.contains(value)      ? LiveReason::kResidual
                     : backward_.contains(value) ? LiveReason::kBackward
                                                 : LiveReason::kTensor;
    }
  }
  event_->found = found;
  event_->lower_us = lower_us;
  event_->compile_us = compile_us;
  event_->send_us = send_us;
  event_->status = std::move(status);
  runtime::Emit(*std::move(event_));
}

ForceReport::ForceReport(const Value& value, TraceCause cause, const char* operation, const Caller& caller)
    : value_(value),
      cause_(cause),
      operation_(operation),
      caller_(caller),
      on_(runtime::Observed() && !value.place.is_host()) {}

ForceReport::~ForceReport() {
  if (!on_) return;
  ForceEvent event{cause_, operation_, OriginOf(caller_), {}, close};
  {
    const TraceLock lock;
    event.value = EventValueOf(value_);
  }
  runtime::Emit(std::move(event));
}

void EmitDeath(const Value& value) {
  ValueFreedEvent event{EventValueOf(value), "released"};
  if (value.buffer().valid()) {
    runtime::BufferState& buffer = *value.buffer().internal_state();
    const absl::MutexLock lock(&buffer.mu);
    if (buffer.death.has_value()) event.how = std::string(Name(buffer.death->kind));
  }
  runtime::Emit(std::move(event));
}

}  // namespace hlod::lazy

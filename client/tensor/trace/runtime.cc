// Connections as tensors use them.
#include "client/tensor/trace/runtime.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/runtime/session/state.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/value/throw.h"

namespace hlod::lazy {

Runtime* Runtime::Of(const Device& device) {
  if (device.is_host()) return nullptr;
  const TraceLock lock;
  static auto* const runtimes = new absl::flat_hash_map<runtime::Session*, Runtime*>;
  static auto* const all = new std::vector<std::unique_ptr<Runtime>>;  // Includes those of ended connections.
  Runtime*& runtime = (*runtimes)[device.internal_session().get()];
  // A new session may have the address of one that has ended.
  if (runtime == nullptr || runtime->ended()) {
    all->push_back(std::unique_ptr<Runtime>(new Runtime(device.internal_session())));
    runtime = all->back().get();
  }
  return runtime;
}

void Runtime::End() {
  std::shared_ptr<runtime::Session> session;
  {
    const TraceLock lock;
    session = std::exchange(session_, nullptr);
    under_way_.clear();
    recorded = RecordedPrograms(kCachedWords);
    canonical = CanonicalPrograms(kCachedWords);
  }
}

void Runtime::Throttle(size_t most, const Caller& caller) {
  std::optional<runtime::Stopwatch> waiting;
  std::shared_ptr<runtime::Session> session;
  while (true) {
    Future<void> oldest;
    {
      const TraceLock lock;
      while (!under_way_.empty() && under_way_.front().Ready()) under_way_.pop_front();
      session = session_;
      if (under_way_.size() <= most) break;
      oldest = under_way_.front();
    }
    if (!waiting.has_value()) waiting.emplace();
    // A failure is reported where the results are read.
    static_cast<void>(oldest.Await());
  }
  if (waiting.has_value() && session != nullptr)
    runtime::EmitWait(*session, WaitCause::kThrottle, caller, waiting->us());
}

void Runtime::BeginStep(const Caller& caller) {
  std::shared_ptr<runtime::Session> session;
  {
    const TraceLock lock;
    session = session_;
  }
  if (session == nullptr || session->program_counts_steps) return;
  const uint64_t step = session->step + 1;
  // The next operation reports a lost session.
  if (!runtime::MarkStep(*session, step, caller).ok() || !runtime::Observed()) return;
  runtime::Emit(StepEvent{session->id(), step, runtime::OriginOf(caller)});
}

Place PlaceOf(const Device& device) {
  return device.is_host() ? Place{} : Place{Runtime::Of(device), device.ordinal()};
}

Device DeviceOf(Place place) { return place.is_host() ? Device() : place.runtime->device(place.ordinal); }

Device DeviceOfBuffer(const Buffer& buffer) {
  return Device(runtime::HomeOf(buffer.internal_state()->session), buffer.device());
}

TraceStats& Stats() {
  static TraceStats stats;
  return stats;
}

}  // namespace hlod::lazy

namespace hlod {

TraceStats GetTraceStats() {
  const lazy::TraceLock lock;
  return lazy::Stats();
}

void ResetTraceStats() {
  const lazy::TraceLock lock;
  lazy::Stats() = {};
}

}  // namespace hlod

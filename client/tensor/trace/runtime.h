// One connection as tensors see it: its devices, its compiled programs, its executes under way.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "client/tensor/trace/program_cache.h"
#include "client/tensor/value/value.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/device.h"
#include "hlod/tensor/trace.h"

namespace hlod::lazy {

// Guarded by TraceLock; Throttle() and BeginStep() take it themselves. There is one per connection that
// tensors have met. It is never freed, so that tensors may outlive their connection: what remains of an ended
// one is small.
class Runtime {
 public:
  // Returns the runtime of the device's connection, making it for the first tensor there. Null for the host.
  static Runtime* Of(const Device& device);

  Device device(int ordinal) const { return Device(session_, ordinal); }
  // Ends the use of the connection: reading its tensors and computing with them throws from now on.
  void End();
  bool ended() const { return session_ == nullptr; }
  // Returns OK, or the reason why the connection has no session any more.
  absl::Status status() const { return ended() ? absl::OkStatus() : Client(session_).status(); }

  RecordedPrograms recorded{kCachedWords};
  CanonicalPrograms canonical{kCachedWords};

  // Remembers an execute under way.
  void Started(Future<void> done) { under_way_.push_back(std::move(done)); }
  // Waits until at most `most` executes are under way. Not under the lock.
  void Throttle(size_t most, const Caller& caller);
  // Begins the next step, unless the program counts steps itself. Not under the lock.
  void BeginStep(const Caller& caller);

 private:
  static constexpr size_t kCachedWords = size_t{16} << 20;

  explicit Runtime(std::shared_ptr<internal::Session> session) : session_(std::move(session)) {}

  std::shared_ptr<internal::Session> session_;
  std::deque<Future<void>> under_way_;
};

Place PlaceOf(const Device& device);
Device DeviceOf(Place place);
Device DeviceOfBuffer(const Buffer& buffer);

// Returns the counters behind GetTraceStats(). Guarded by TraceLock.
TraceStats& Stats();

}  // namespace hlod::lazy

// One connection as tensors use it: its devices, its compiled programs, its executes in flight.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "client/tensor/program/program_cache.h"
#include "client/tensor/value/value.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/device.h"
#include "hlod/tensor/trace.h"

namespace hlod::lazy {

// Guarded by TraceLock; Throttle() and BeginStep() take it themselves. There is one per connection that
// tensors have used. It is never freed, so that tensors may outlive their connection; little memory remains
// of an ended one.
class Runtime {
 public:
  // Returns the runtime of the device's connection, which is made for the first tensor there. Null for the
  // host.
  static Runtime* Of(const Device& device);

  Device device(int ordinal) const { return Device(session_, ordinal); }
  // Ends the use of the connection: from now on, reading its tensors and computing with them throws.
  void End();
  bool ended() const { return session_ == nullptr; }
  // Returns OK, or the reason why the connection has no session any more.
  absl::Status status() const { return ended() ? absl::OkStatus() : Client(session_).status(); }

  RecordedPrograms recorded{kCachedWords};
  CanonicalPrograms canonical{kCachedWords};
  Forms forms{kCachedWords};

  // Adds an execute in flight.
  void Started(Future<void> done) { under_way_.push_back(std::move(done)); }
  // Waits until at most `most` executes are in flight. Must be called without the lock.
  void Throttle(size_t most, const Caller& caller);
  // Begins the next step, unless the program counts steps itself. Must be called without the lock.
  void BeginStep(const Caller& caller);

 private:
  static constexpr size_t kCachedWords = size_t{16} << 20;

  explicit Runtime(std::shared_ptr<runtime::Session> session) : session_(std::move(session)) {}

  std::shared_ptr<runtime::Session> session_;
  std::deque<Future<void>> under_way_;
};

Place PlaceOf(const Device& device);
Device DeviceOf(Place place);
Device DeviceOfBuffer(const Buffer& buffer);

// Returns the counters behind GetTraceStats(). Guarded by TraceLock.
TraceStats& Stats();

}  // namespace hlod::lazy

// The bytes of a device that the framework's buffers hold, and the most that they held.
//
// A buffer is counted when it is made, before the daemon has seen the command that makes its value, and the
// daemon may refuse that: then its bytes were never there. So what happens is kept in order until the
// commands are done.
#pragma once

#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/session/command.h"

namespace hlod::pjrt {

// Thread-safe.
class HeldMemory {
 public:
  // Adds a buffer whose value `command` makes; null: the value is there, or comes in another way. `buffer` is
  // an address that no other living buffer has.
  void Add(const void* buffer, int64_t bytes, runtime::Command command);
  void Remove(const void* buffer, int64_t bytes);
  // Counts the bytes that a command needs only while it runs, which are part of the peak.
  void Run(int64_t bytes, runtime::Command command);

  struct Figures {
    int64_t in_use = 0, peak = 0;
  };
  // Counts commands that are not done as if they succeeded.
  Figures figures();
  // Restarts the measurement of the peak.
  void ForgetPeak();

 private:
  enum class Kind : uint8_t { kAdd, kRemove, kRun };
  struct Event {
    Kind kind;
    const void* buffer = nullptr;
    int64_t bytes = 0;
    runtime::Command command;
  };
  using Buffers = absl::flat_hash_set<const void*>;
  static bool IsRefused(const Event& event);
  static void Count(const Event& event, Figures& figures, Buffers& refused);
  void Note(Event event);
  // Counts the events whose commands are done, up to the first that is not.
  void CountDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the figures with all events.
  Figures All() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  std::deque<Event> events_
      ABSL_GUARDED_BY(mu_);               // In order; the first is that of a command that is not done.
  Figures counted_ ABSL_GUARDED_BY(mu_);  // The figures of the events before.
  Buffers refused_ ABSL_GUARDED_BY(mu_);  // Buffers that still live and hold nothing.
};

}  // namespace hlod::pjrt

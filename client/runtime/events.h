// How events come to their observers: queued where they happen, which may be under a lock, and handed out
// where none is held.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlod/caller.h"
#include "hlod/events.h"

namespace hlod::internal {

// How many observe. All that is looked at while nobody does.
inline constinit std::atomic<uint32_t> observers = 0;
inline bool Observed() { return observers.load(std::memory_order_relaxed) != 0; }

// Queues an event. Does nothing in a forked child.
void Emit(decltype(Event::what)&& what);
// Hands out what is queued, unless a caller of this thread will.
void DeliverEvents();

// While it lives, this thread only queues.
class EventsHeld {
 public:
  EventsHeld();
  ~EventsHeld();
  EventsHeld(const EventsHeld&) = delete;
  EventsHeld& operator=(const EventsHeld&) = delete;
};

// The same; at its end what was queued is handed out, unless an outer one of the thread lives. To be declared
// before any lock that is taken in the meantime.
class EventsAfter {
 public:
  EventsAfter() : on_(Observed()) {
    if (on_) Begin();
  }
  ~EventsAfter() {
    if (on_) End();
  }
  EventsAfter(const EventsAfter&) = delete;
  EventsAfter& operator=(const EventsAfter&) = delete;

 private:
  static void Begin();
  static void End();
  const bool on_;
};

// What this thread's next transfers are about: a value, and the close that computed it.
class TransferOf {
 public:
  explicit TransferOf(uint64_t value, uint64_t close = 0);
  ~TransferOf();
  TransferOf(const TransferOf&) = delete;
  TransferOf& operator=(const TransferOf&) = delete;

  static uint64_t value();
  static uint64_t close();

 private:
  const uint64_t outer_value_, outer_close_;
};

// The lines that made the arguments of the programs that this thread compiles: what is said of a parameter
// that has changed.
class ArgumentLines {
 public:
  explicit ArgumentLines(std::vector<Origin> lines);
  ~ArgumentLines();
  ArgumentLines(const ArgumentLines&) = delete;
  ArgumentLines& operator=(const ArgumentLines&) = delete;

  static absl::Span<const Origin> Current();

 private:
  const std::vector<Origin> lines_;
  const ArgumentLines* const outer_;
};

// Microseconds since it was made.
class Stopwatch {
 public:
  double us() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hlod::internal

// Delivers events to observers. An event is queued when it happens, possibly under a lock, and delivered when
// no lock is held.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlod/observe/events.h"
#include "hlod/runtime/caller.h"

namespace hlod::runtime {

// The number of observers. While it is 0, reading it is the only cost of events.
inline constinit std::atomic<uint32_t> observers = 0;
inline bool Observed() { return observers.load(std::memory_order_relaxed) != 0; }

// Queues an event. Does nothing in a forked child.
void Emit(decltype(Event::what)&& what);
// Delivers the queued events, unless an outer scope of this thread defers them.
void DeliverEvents();

// While one exists, this thread only queues events.
class DeferEvents {
 public:
  DeferEvents();
  ~DeferEvents();
  DeferEvents(const DeferEvents&) = delete;
  DeferEvents& operator=(const DeferEvents&) = delete;
};

// Like DeferEvents, and its destructor delivers the queued events, unless an outer scope of the thread still
// defers them. Must be declared before any lock that the scope takes.
class DeliverEventsAtExit {
 public:
  DeliverEventsAtExit() : on_(Observed()) {
    if (on_) Begin();
  }
  ~DeliverEventsAtExit() {
    if (on_) End();
  }
  DeliverEventsAtExit(const DeliverEventsAtExit&) = delete;
  DeliverEventsAtExit& operator=(const DeliverEventsAtExit&) = delete;

 private:
  static void Begin();
  static void End();
  const bool on_;
};

// While one exists, this thread's transfers are attributed to a value, and to the close that computed it.
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

// While one exists, it holds the lines that made the arguments of the programs that this thread compiles, for
// the explanation of a changed parameter.
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

// Measures the microseconds since its construction.
class Stopwatch {
 public:
  double us() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hlod::runtime

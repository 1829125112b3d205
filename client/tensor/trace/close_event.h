// The events for observers about closes, reads of values and values that are freed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "client/runtime/observe/events.h"
#include "client/tensor/program/program_cache.h"
#include "client/tensor/trace/trace.h"
#include "hlod/observe/events.h"

namespace hlod::lazy {

// Returns the number of the close that computed the value's buffer; 0 if no close did. REQUIRES: TraceLock.
uint64_t CloseOf(const Value& value);
// Describes the value in its current state. REQUIRES: TraceLock.
EventValue EventValueOf(const Value& value);

// While one exists, this thread's time counts as recording, which the next close reports. Costs one relaxed
// load without an observer.
class RecordingTime {
 public:
  RecordingTime() : on_(runtime::Observed()) {
    if (on_) Begin();
  }
  ~RecordingTime() {
    if (on_) End();
  }
  RecordingTime(const RecordingTime&) = delete;
  RecordingTime& operator=(const RecordingTime&) = delete;

 private:
  static void Begin();
  static void End();
  const bool on_;
};

// Follows one close from beginning to end: always counts it, and sends an event to observers. REQUIRES:
// TraceLock.
class CloseReport {
 public:
  // Records the values that are live now. Must be made before residuals are added.
  explicit CloseReport(Trace& graph);
  // Begins the event of a close that has outputs, and numbers it.
  void Begin(TraceCause cause, const Caller& caller, const char* operation, const Value* forced);
  // Records the program, before it is started.
  void Take(const Program& program);
  void Started(const Execution& execution);
  // Records the final states of the live values, and emits the event.
  void End(const std::vector<std::vector<Value*>>& values);

  uint64_t close = 0;
  ProgramSource found = ProgramSource::kNone;
  double lower_us = 0, compile_us = 0, send_us = 0;
  absl::Status status;

 private:
  Trace& graph_;
  const bool on_;
  absl::flat_hash_set<const Value*> live_;      // The live values before residuals were added.
  absl::flat_hash_set<const Value*> backward_;  // The live values that only the tape refers to.
  std::optional<CloseEvent> event_;
};

// Covers one read of a device's value; its destructor emits the event.
class ForceReport {
 public:
  ForceReport(const Value& value, TraceCause cause, const char* operation, const Caller& caller);
  ~ForceReport();
  ForceReport(const ForceReport&) = delete;
  ForceReport& operator=(const ForceReport&) = delete;

  uint64_t close = 0;  // The close that the read caused, or 0.

 private:
  const Value& value_;
  const TraceCause cause_;
  const char* const operation_;
  const Caller& caller_;
  const bool on_;
};

// Emits the event of a value with a buffer that is about to be destroyed. REQUIRES: TraceLock.
void EmitDeath(const Value& value);

}  // namespace hlod::lazy

// What observers see of closes, of values that are asked for and of their deaths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "client/runtime/observe/events.h"
#include "client/tensor/trace/program_cache.h"
#include "client/tensor/trace/trace.h"
#include "hlod/observe/events.h"

namespace hlod::lazy {

// The close that computed the value's buffer; 0: none did. REQUIRES: TraceLock.
uint64_t CloseOf(const Value& value);
// The value as of now. REQUIRES: TraceLock.
EventValue EventValueOf(const Value& value);

// While it lives, this thread records: its time counts to the next close. One relaxed load while nobody
// observes.
class RecordingTime {
 public:
  RecordingTime() : on_(internal::Observed()) {
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

// One close, from its beginning to its end. It counts closes always, and says what happened to observers.
// REQUIRES: TraceLock.
class CloseReport {
 public:
  // Before residuals are added.
  explicit CloseReport(Trace& graph);
  // The close takes place.
  void Begin(TraceCause cause, const Caller& caller, const char* operation, const Value* forced);
  // The program, before it starts; and its execute, before its results are handed out.
  void Take(const Program& program);
  void Started(const Execution& execution);
  // What became of the live values.
  void End(const std::vector<std::vector<Value*>>& values);

  uint64_t close = 0;
  ProgramSource found = ProgramSource::kNone;
  double lower_us = 0, compile_us = 0, send_us = 0;
  absl::Status status;

 private:
  Trace& graph_;
  const bool on_;
  absl::flat_hash_set<const Value*> live_;      // Before residuals were added.
  absl::flat_hash_set<const Value*> backward_;  // That nothing but the tape holds.
  std::optional<CloseEvent> event_;
};

// A device's value that the program asks for, until it has it.
class ForceReport {
 public:
  ForceReport(const Value& value, TraceCause cause, const char* operation, const Caller& caller);
  ~ForceReport();
  ForceReport(const ForceReport&) = delete;
  ForceReport& operator=(const ForceReport&) = delete;

  uint64_t close = 0;  // That was caused.

 private:
  const Value& value_;
  const TraceCause cause_;
  const char* const operation_;
  const Caller& caller_;
  const bool on_;
};

// A value with a buffer is about to go. REQUIRES: TraceLock.
void EmitDeath(const Value& value);

}  // namespace hlod::lazy

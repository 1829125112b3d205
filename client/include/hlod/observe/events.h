// What a program does, as events: graphs that run, programs that are compiled, values that are asked for,
// bytes that cross, waits, deaths of values. Reports are made from these and from the daemon's account
// (hlod/observe/account.h), and from nothing else.
//
//   struct Printer : hlod::Observer {
//     void OnEvent(const hlod::Event& event) override { std::puts(hlod::ToString(event).c_str()); }
//   };
//   Printer printer;
//   const hlod::Observation observation(printer);  // What this process does, until it is destroyed.
//
// HOW THEY HANG TOGETHER. A *value* is what a tensor holds at a time; it never changes, and its number is
// never used again in the process. Its *buffer* is its handle in its session: two values may share one, and a
// program that uses buffers without tensors has buffers only (value 0). A *close* turns the live values of a
// trace into buffers, by one execute; closes count up from 1 in the process, and every value knows the close
// that computed it. So the events of a run say of each value where it was made, which close computed it,
// which closes took it as an argument, how often and why it crossed, and when it died: what one graph in
// place of two would not have kept or moved.
//
// WHAT THEY DO NOT SAY. A close waits for nothing, so how long its program was compiled and ran is not known
// yet: that is in the daemon's account, in the row of SessionAccount::runs (hlod/observe/account.h) with the
// same program, line and step, and in SessionAccount::compiles. Copies on the device are the daemon's alone,
// too.
//
// COST. While nothing is observed: one relaxed load at each close, transfer, wait and death of a value, and
// one an operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "common/base/errors/compile_reason.h"
#include "hlod/runtime/types.h"

namespace hlod {

enum class TraceCause : uint8_t;  // hlod/tensor/trace.h
std::string_view Name(TraceCause cause);

struct EventValue {
  uint64_t value = 0;   // 0: a buffer that no tensor is known to hold.
  uint64_t buffer = 0;  // 0: none so far (a placeholder, a value of the host).
  Shape shape;
  int64_t bytes = 0;
  uint64_t close = 0;  // The close that computed it; 0: it was uploaded, or came as a buffer.
  Origin origin;       // The line that made it.
};

// Why a value of a trace was computed.
enum class LiveReason : uint8_t {
  kTensor,    // A tensor, or a view of it, holds the value.
  kBackward,  // Only Backward() may need it: an operand of an operation that is remembered.
  kResidual,  // The close added it, so that Backward() need not compute it again.
};
std::string_view Name(LiveReason alive);

// Where a close found its program.
enum class ProgramSource : uint8_t {
  kRecorded,   // A trace of the same words ran before.
  kCanonical,  // One that is the same without dead code, in a canonical order.
  kCompiled,   // Nowhere: it was sent to be compiled.
  kNone,    // It failed before that.
};
std::string_view Name(ProgramSource found);

// A trace was closed and its graph run.
struct CloseEvent {
  uint64_t close = 0;  // Its number.
  TraceCause cause{};
  std::string operation;  // What asked: "sync", "item", "print", ...
  Origin origin;          // Where.
  uint64_t forced = 0;    // The value that was asked for; 0: none in particular.
  uint64_t session = 0, step = 0;
  int device = 0;
  int64_t nodes = 0;  // Instructions recorded since the last close.
  struct Input : EventValue {
    bool donated = false;
    bool number = false;       // Travels in the execute.
    uint64_t recorded_as = 0;  // A parameter's number among those of the trace.
  };
  std::vector<Input> inputs;  // The program's arguments, in order.
  struct Output : EventValue {
    LiveReason alive = LiveReason::kTensor;
  };
  std::vector<Output> outputs;  // Values that became its results; several may share one buffer.
  ProgramSource found = ProgramSource::kNone;
  std::string program;   // SHA-256 of the program, hexadecimal.
  std::string name;      // The module's.
  uint64_t command = 0;  // The execute, in the session.
  // On this side, in microseconds: recording since the last close (while observed), finding the program and
  // lowering it, serialising and sending it to be compiled, sending the execute.
  double trace_us = 0, lower_us = 0, compile_us = 0, send_us = 0;
  absl::Status status;  // Why it failed, when it did: its outputs hold that error.
};

// A program was sent to be compiled.
struct CompileEvent {
  uint64_t session = 0, step = 0;
  Origin origin;
  std::string program, name;  // As above.
  int64_t instructions = 0, bytes = 0;
  CompileReason reason = CompileReason::kUnsaid;
  std::string why;      // The same in a sentence: which program is nearest, and the first difference.
  std::string nearest;  // That program's name; empty: none.
};

// The program needed a value: what it found.
struct ForceEvent {
  TraceCause cause{};
  std::string operation;
  Origin origin;
  EventValue value;
  uint64_t close = 0;  // The close that this caused; 0: the value was there, or was computed on the host.
};

// Bytes crossed between host and device.
struct TransferEvent {
  Cause cause = Cause::kUpload;  // DirectionOf(cause) is its direction.
  Origin origin;
  std::string name;  // What the program calls the tensor (TensorName); may be empty.
  uint64_t session = 0, step = 0;
  int device = 0;
  EventValue value;  // Its bytes are those that crossed.
  double us = 0;     // Of the call: of an upload until its memory is free again, of a download with its wait.
};

enum class WaitCause : uint8_t {
#define HLOD_WAIT_CAUSE(id, text, meaning) id,
#include "hlod/observe/wait_causes.inc"
#undef HLOD_WAIT_CAUSE
};
std::string_view Name(WaitCause cause);

// The program waited for the daemon.
struct WaitEvent {
  WaitCause cause = WaitCause::kRead;
  Origin origin;
  uint64_t session = 0, step = 0, value = 0;
  double us = 0;
};

// A function ran on the host, between two graphs.
struct HostFunctionEvent {
  std::string name;
  Origin origin;
  std::vector<EventValue> inputs, outputs;
  double us = 0;  // Of the function alone.
};

// A value with a buffer is not needed any more.
struct ValueFreedEvent {
  EventValue value;
  std::string how;  // "released", "donated", "deleted", "failed"
};

// Paths of this process that are more than ten times slower than the normal one. Those of the daemon are in
// the account: CompileRow::slow_steps (hlod/observe/account.h).
enum class SlowPath : uint8_t {
  kHostTensor,  // An operation on host tensors that took long.
};
std::string_view Name(SlowPath path);

// Something took such a path.
struct SlowEvent {
  SlowPath path = SlowPath::kHostTensor;
  std::string operation;  // "matmul"
  Origin origin;
  double us = 0;
};

// Sync() began the next step.
struct StepEvent {
  uint64_t session = 0, step = 0;  // The step that begins.
  Origin origin;
};

struct Event {
  uint64_t number = 0;  // Counts up from 1 while something is observed.
  double at_us = 0;     // Of a steady clock.
  uint64_t thread = 0;  // The operating system's number.
  std::variant<CloseEvent, CompileEvent, ForceEvent, TransferEvent, WaitEvent, HostFunctionEvent,
               ValueFreedEvent, StepEvent, SlowEvent>
      what;
};
// One line for people.
std::string ToString(const Event& event);

// Takes events, one at a time, in order, on any thread of the program, a little after they happened: when the
// call that caused them is about to return, and no lock of hlod is held. It must not throw.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnEvent(const Event& event) = 0;
};

// Sends events to an observer from its construction on. Its destruction sends what is left, and returns when
// OnEvent does not run and will not be called again.
class Observation {
 public:
  explicit Observation(Observer& observer);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  Observer& observer_;
};

}  // namespace hlod

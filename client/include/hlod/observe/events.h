// The events of a program: graphs that run, programs that are compiled, values that are read, bytes that
// cross, waits, values that are freed. Reports are made only from these and the daemon's account
// (hlod/observe/account.h).
//
//   struct Printer : hlod::Observer {
//     void OnEvent(const hlod::Event& event) override { std::puts(hlod::ToString(event).c_str()); }
//   };
//   Printer printer;
//   const hlod::Observation observation(printer);  // What this process does, until it is destroyed.
//
// RELATIONS. A *value* is the content of a tensor at one time; it never changes, and its number is never used
// again in the process. Its *buffer* is its handle in its session: two values may share one, and a program
// that uses buffers without tensors has buffers only (value 0). A *close* turns the live values of a trace
// into buffers, by one execute; closes count up from 1 in the process, and every value knows the close that
// computed it. So the events of a run tell for each value where it was made, which close computed it, which
// closes took it as an argument, how often and why it crossed, and when it was freed. From this a report
// computes which memory and which transfers one graph instead of two would have saved.
//
// LIMITS. A close does not wait, so the times of its compile and its run are not known yet: they are in the
// daemon's account, in the row of SessionAccount::runs (hlod/observe/account.h) with the same program, line
// and step, and in SessionAccount::compiles. Copies on the device, too, are only in the account.
//
// COST. Without an observer: one relaxed load per close, transfer, wait, freed value and operation.
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
  uint64_t value = 0;   // 0 for a buffer without a known tensor.
  uint64_t buffer = 0;  // 0 when it has no buffer (a placeholder, a value of the host).
  Shape shape;
  int64_t bytes = 0;
  // The close that computed it; 0 when it was uploaded, or was a buffer from the beginning.
  uint64_t close = 0;
  Origin origin;       // The line that made it.
};

// The reason why a close computed a value of its trace.
enum class LiveReason : uint8_t {
  kTensor,    // A tensor, or a view of it, holds the value.
  kBackward,  // Only Backward() may need it: it is an operand of an operation on the gradient tape.
  kResidual,  // The close added it, so that Backward() need not recompute it.
};
std::string_view Name(LiveReason alive);

// The source of a close's program.
enum class ProgramSource : uint8_t {
  kRecorded,   // The cache, which had an identical trace.
  kCanonical,  // The cache, which had a trace that is equal without dead code and in canonical order.
  kCompiled,   // The program was not in the cache and was sent to be compiled.
  kNone,       // The close failed before it had a program.
};
std::string_view Name(ProgramSource found);

// A trace was closed and its graph run.
struct CloseEvent {
  uint64_t close = 0;  // The number of the close.
  TraceCause cause{};
  std::string operation;  // The operation that caused it: "sync", "item", "print", ...
  Origin origin;          // The line of that operation.
  uint64_t forced = 0;    // The value that the program read; 0 when it was not one value.
  uint64_t session = 0, step = 0;
  int device = 0;
  int64_t nodes = 0;  // The number of instructions recorded since the last close.
  struct Input : EventValue {
    bool donated = false;
    bool number = false;       // True for a number that travels in the execute.
    uint64_t recorded_as = 0;  // The parameter's number in the trace.
  };
  std::vector<Input> inputs;  // The program's arguments, in order.
  struct Output : EventValue {
    LiveReason alive = LiveReason::kTensor;
  };
  // The values that became results of the program; several may share one buffer.
  std::vector<Output> outputs;
  ProgramSource found = ProgramSource::kNone;
  std::string program;   // SHA-256 of the program, hexadecimal.
  std::string name;      // The module's name.
  uint64_t command = 0;  // The id of the execute in the session.
  // Times on this side, in microseconds: of recording since the last close (while observed), of finding the
  // program and lowering it, of serialising and sending it to be compiled, and of sending the execute.
  double trace_us = 0, lower_us = 0, compile_us = 0, send_us = 0;
  absl::Status status;  // OK, or the error of a failed close, which its outputs then have, too.
};

// A program was sent to be compiled.
struct CompileEvent {
  uint64_t session = 0, step = 0;
  Origin origin;
  std::string program, name;  // As in CloseEvent.
  int64_t instructions = 0, bytes = 0;
  CompileReason reason = CompileReason::kUnsaid;
  std::string why;      // The reason in a sentence: the nearest program, and the first difference.
  std::string nearest;  // The name of the nearest program; empty when there is none.
};

// The program needed a value.
struct ForceEvent {
  TraceCause cause{};
  std::string operation;
  Origin origin;
  EventValue value;
  // The close that this caused; 0 when the value had been computed already, or was computed on the host.
  uint64_t close = 0;
};

// Bytes crossed between host and device.
struct TransferEvent {
  Cause cause = Cause::kUpload;  // DirectionOf(cause) is its direction.
  Origin origin;
  std::string name;  // The program's name of the tensor (TensorName); may be empty.
  uint64_t session = 0, step = 0;
  int device = 0;
  EventValue value;  // The value of which `bytes` bytes crossed.
  // The time of the call: for an upload, until its memory may be reused; for a download, with its wait.
  double us = 0;
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
  double us = 0;  // The time of the function alone.
};

// A value that had a buffer is not needed any more.
struct ValueFreedEvent {
  EventValue value;
  std::string how;  // "released", "donated", "deleted", "failed"
};

// Slow paths of this process: more than ten times slower than the normal one. The daemon's slow paths are in
// the account: CompileRow::slow_steps (hlod/observe/account.h).
enum class SlowPath : uint8_t {
  kHostTensor,  // An operation on host tensors that took long.
};
std::string_view Name(SlowPath path);

// An operation took a slow path.
struct SlowEvent {
  SlowPath path = SlowPath::kHostTensor;
  std::string operation;  // "matmul"
  Origin origin;
  double us = 0;
};

// Sync() began the next step of a session.
struct StepEvent {
  uint64_t session = 0, step = 0;  // The step that begins.
  Origin origin;
};

struct Event {
  uint64_t number = 0;  // The event's number: counts up from 1 while there is an observer.
  double at_us = 0;     // The time on a steady clock.
  uint64_t thread = 0;  // The operating system's number of the thread.
  std::variant<CloseEvent, CompileEvent, ForceEvent, TransferEvent, WaitEvent, HostFunctionEvent,
               ValueFreedEvent, StepEvent, SlowEvent>
      what;
};
// Formats an event as one line.
std::string ToString(const Event& event);

// Receives events, one at a time and in order, on any thread of the program. An event is delivered a little
// after it happened: when the call that caused it is about to return, and no lock of hlod is held. OnEvent
// must not throw.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnEvent(const Event& event) = 0;
};

// Sends events to an observer from construction on. The destructor sends the remaining ones, and returns when
// OnEvent is not running and will not be called again.
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

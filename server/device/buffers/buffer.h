// The objects that handles name: buffers and executables in a session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/errors/compile_reason.h"
#include "common/base/errors/error.h"
#include "common/hlo/shape.h"
#include "server/device/execution/task.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/memory/device_memory.h"
#include "server/device/memory/side_memory.h"
#include "server/device/programs/executable_cache.h"

namespace hlod::device {

using Handle = uint64_t;  // Chosen by the client: strictly increasing in its session, and never 0.

// A command and the line of the program that sent it.
struct CommandRef {
  uint64_t id = 0;
  uint32_t origin = 0;  // The session's number of the line; 0 is unknown.
  uint64_t step = 0;
};

enum class BufferState : uint8_t { kPendingUpload, kPendingExecute, kReady, kPlaceholder, kFailed };
// Returns "pending", "ready", "placeholder" or "failed", as administration lists them.
std::string_view Name(BufferState state);

// One version of a value: filling a placeholder makes a new version under the same handle. Everything except
// the bytes is guarded by the session device's lock. Shared, because pending executes and downloads keep
// their buffers alive after the handle is freed.
struct Buffer {
  Handle handle = 0;
  uint32_t device = 0;
  hlo::Shape shape;  // kInvalid until the program that makes it is compiled.
  int64_t bytes = 0;
  CommandRef made_by;  // The command that defined the handle (not the one that filled it).
  BufferState state = BufferState::kPlaceholder;
  Block block;  // Set when ready and for a pending upload; empty after an execute has taken it over.
  SimulatedCharge simulated;  // Set for a placeholder.
  // Set when failed: the root cause, shared by all results that it failed.
  std::shared_ptr<const ErrorDetails> error;

  bool settled() const { return state >= BufferState::kReady; }
  bool holds_memory() const { return state == BufferState::kReady || state == BufferState::kPendingUpload; }
  std::shared_ptr<Task> producer;  // The upload or execute that makes it; null once settled.
  // The last execute that may consume it. Later commands wait for its outcome.
  std::shared_ptr<Task> donor;
  // The command of `donor` if it is abstract: it may consume a placeholder.
  std::optional<CommandRef> abstract_donor;
  // Readers that were sent after `donor`; the next consumer waits for them.
  std::vector<std::shared_ptr<Task>> readers;
  size_t purge_readers_at = 8;  // The number of readers at which the finished ones are removed.
  // The number of pinned reads, which may last any time: while there are any, programs do not write in place.
  int pins = 0;
  std::optional<CommandRef> consumed_by;  // The execute that it was donated to, after that has started.
  MemoryCharge charge;  // The charge for this object, set with its handle. It may outlive the handle.
};

// Adds `reader`, which has not been started, to the buffer's readers, and makes it wait for the execute that
// may consume the buffer.
void AddReader(Buffer& buffer, const std::shared_ptr<Task>& reader);
// Makes `consumer`, which has not been started, wait for the previous consumer and for all readers of the
// buffer.
void AddConsumer(Buffer& buffer, const std::shared_ptr<Task>& consumer);

// A session's state of an executable: pending until compiled, then a program that the cache shares with other
// sessions, or an error. Guarded by the session device's lock.
struct SessionExecutable {
  Handle handle = 0;
  CommandRef made_by;
  CompileReason reason = CompileReason::kUnsaid;  // As the command states it.
  std::string reason_text;                        // The reason as a sentence; cleared after the compile.
  std::shared_ptr<Executable> compiled;           // Null until compiled.
  std::shared_ptr<const ErrorDetails> error;      // Set when the compile failed.
  std::shared_ptr<const ByteCharge> charge;       // The charge for the program.
  MemoryCharge own_charge;                        // The charge for this object, set with its handle.
  bool settled() const { return compiled != nullptr || error != nullptr; }
  std::shared_ptr<Task> producer;  // Null once settled.
  ~SessionExecutable() {
    if (compiled == nullptr) return;
    --compiled->holders;
    compiled->DropPartialPlans();
  }
};

// The object that a handle names; exactly one of the two members is set.
struct Entry {
  std::shared_ptr<Buffer> buffer;
  std::shared_ptr<SessionExecutable> executable;
};

}  // namespace hlod::device

// Buffers and executables as a session sees them: what a handle names.
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
#include "server/device/programs/executable_cache.h"

namespace hlod::device {

using Handle = uint64_t;  // A client's name; strictly increasing in its session, 0 is none.

// Which command does something, and at which line of the program.
struct CommandRef {
  uint64_t id = 0;
  uint32_t origin = 0;  // As the session numbered its lines; 0 is unknown.
  uint64_t step = 0;
};

enum class BufferState : uint8_t { kPendingUpload, kPendingExecute, kReady, kPlaceholder, kFailed };
// "pending", "ready", "placeholder", "failed": as administration lists them.
std::string_view Name(BufferState state);

// One version of a value: filling a placeholder makes a new one under the same handle. All but the bytes is
// guarded by the session device's lock. Shared, because executes and downloads under way keep what they use
// alive after the handle is freed.
struct Buffer {
  Handle handle = 0;
  uint32_t device = 0;
  hlo::Shape shape;  // kInvalid while the program that makes it is not compiled.
  int64_t bytes = 0;
  CommandRef made_by;  // The command that made the handle (not the one that filled it).
  BufferState state = BufferState::kPlaceholder;
  Block block;                // When ready, or when an upload or execute under way has taken it.
  SimulatedCharge simulated;  // Of a placeholder.
  std::shared_ptr<const ErrorDetails> error;  // When failed: the root cause, shared by all that it failed.

  bool settled() const { return state >= BufferState::kReady; }
  bool holds_memory() const { return state == BufferState::kReady || state == BufferState::kPendingUpload; }
  std::shared_ptr<Task> producer;  // Until it is settled: the upload or execute that makes it.
  // The last execute that may consume it: what was sent later waits for the outcome.
  std::shared_ptr<Task> donor;
  // That donor, when it is abstract: it may consume a placeholder.
  std::optional<CommandRef> abstract_donor;
  std::vector<std::shared_ptr<Task>> readers;  // Sent since then: the next consumer waits for them.
  size_t purge_readers_at = 8;                 // So many of them, and the finished ones are dropped.
  int pins = 0;  // Reads whose bytes stay for as long as the reader likes: nothing may write in place.
  std::optional<CommandRef> consumed_by;  // The execute it was donated to, once that has started.
};

// `reader`, which is being set up, reads the buffer: after the execute that may have consumed it before.
void AddReader(Buffer& buffer, const std::shared_ptr<Task>& reader);
// `consumer`, which is being set up, may consume the buffer: after the one that may have before, and after
// all that read it.
void AddConsumer(Buffer& buffer, const std::shared_ptr<Task>& consumer);

// What a session's handle holds of an executable: pending until compiled, then shared with other sessions by
// the cache, or an error. Guarded by the session device's lock.
struct SessionExecutable {
  Handle handle = 0;
  CommandRef made_by;
  CompileReason reason = CompileReason::kUnsaid;  // As the command said, ...
  std::string reason_text;                        // ... until it is compiled.
  std::shared_ptr<Executable> compiled;           // Null until it is.
  std::shared_ptr<const ErrorDetails> error;      // When it could not be.
  std::shared_ptr<const ByteCharge> charge;       // Of the program.
  bool settled() const { return compiled != nullptr || error != nullptr; }
  std::shared_ptr<Task> producer;  // Until it is settled.
  ~SessionExecutable() {
    if (compiled != nullptr) --compiled->holders;
  }
};

// What a handle names: one of the two.
struct Entry {
  std::shared_ptr<Buffer> buffer;
  std::shared_ptr<SessionExecutable> executable;
};

}  // namespace hlod::device

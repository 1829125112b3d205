// What is behind the public handles.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/arena.h"
#include "client/runtime/session.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"
#include "hlod/buffer.h"
#include "hlod/device.h"
#include "hlod/executable.h"

namespace hlod::internal {

// Why a buffer is dead: which command killed it, from which line.
struct Death {
  ErrorKind kind = ErrorKind::kDeleted;
  Command by;
};

struct BufferState {
  BufferState(std::shared_ptr<Session> session, uint64_t handle, Shape shape, int device, Command producer,
              bool placeholder);
  ~BufferState();  // Frees it, unless it is dead.

  const std::shared_ptr<Session> session;
  const uint64_t handle;
  const Shape shape;
  const int64_t bytes;
  const int device;
  const uint32_t origin;

  absl::Mutex mu;
  Command producer ABSL_GUARDED_BY(mu);  // What makes its value.
  bool placeholder ABSL_GUARDED_BY(mu);
  std::optional<Death> death ABSL_GUARDED_BY(mu);
};

// OK when it may be named in a command; else kind deleted, donated, or lost_session. `use` says what for:
// "reading", "argument 3 of step".
absl::Status CheckAlive(BufferState& buffer, std::string_view use, const Caller& caller);
// CheckAlive, and not a placeholder. A refusal is counted.
absl::Status CheckReadable(BufferState& buffer, std::string_view use, const Caller& caller);
// "bf16[8,4] (handle 7, made at model.cc:8)"
std::string Describe(BufferState& buffer);

// Uploads to a new buffer, or with `fill` to a placeholder.
absl::StatusOr<Command> UploadBytes(Session& session, const Shape& shape, int device,
                                    absl::Span<const std::byte> bytes, Cause cause, const Caller& caller,
                                    BufferState* fill, uint64_t* handle);

struct ExecutableState {
  ~ExecutableState();

  std::shared_ptr<Session> session;
  uint64_t handle = 0;
  std::string name;
  std::vector<Shape> arguments, results;
  std::vector<std::string> argument_names;  // "parameter x", "parameter x, leaf 2"
  Command compile;
  std::string program;  // Serialized; for Dependences.

  // Which results depend on which arguments; from the program, on first use. Null when it cannot be read.
  const hlo::Dependences* Dependences();

 private:
  absl::Mutex mu_;
  std::optional<std::optional<hlo::Dependences>> dependences_ ABSL_GUARDED_BY(mu_);
};

struct StagingState {
  std::shared_ptr<Session> session;
  Shape shape;
  int device = 0;
  Arena* arena = nullptr;           // The session's, when there is a range.
  std::optional<ArenaRange> range;  // Else `own`.
  Literal own;
  ~StagingState();
};

// A future for a command's end.
Future<void> FutureOf(std::shared_ptr<Session> session, Command command);

SessionStats StatsFromProto(const v1::SessionStats& proto);
Origin OriginOf(const Caller& caller);

}  // namespace hlod::internal

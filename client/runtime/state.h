// What is behind the public handles.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/arena.h"
#include "client/runtime/events.h"
#include "client/runtime/session.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/collective.h"
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

struct ExecutableState;

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
  std::atomic<uint64_t> close = 0;  // The close of a trace that computed it; 0: none did.

  absl::Mutex mu;
  Command producer ABSL_GUARDED_BY(mu);  // What makes its value.
  bool placeholder ABSL_GUARDED_BY(mu);
  std::optional<Death> death ABSL_GUARDED_BY(mu);
};

// What a buffer is named for: "a read", or an argument of a program. Put into words only for an error.
struct Use {
  Use(const char* what) : what(what) {}
  Use(const ExecutableState& program, size_t argument) : program(&program), argument(argument) {}
  std::string ToString() const;  // "argument 3 (parameter x) of step"

  const char* what = nullptr;
  const ExecutableState* program = nullptr;
  size_t argument = 0;
};

// OK when it may be named in a command; else kind deleted, donated, or lost_session. `use` says what for.
absl::Status CheckAlive(BufferState& buffer, const Use& use);
// CheckAlive, and not a placeholder. A refusal is counted.
absl::Status CheckReadable(BufferState& buffer, const Use& use, const Caller& caller);
// Kind argument, at the caller's line, about that buffer if any.
absl::Status ArgumentError(const Caller& caller, std::string text, BufferState* about = nullptr);
// "bf16[8,4] (handle 7, made at model.cc:8)"
std::string Describe(BufferState& buffer);

// Whether `bytes` are an array of that shape.
absl::Status CheckUpload(const Session& session, const Shape& shape, absl::Span<const std::byte> bytes,
                         const Caller& caller);
// Uploads to a new buffer, or with `fill` to a placeholder.
absl::StatusOr<Command> UploadBytes(Session& session, const Shape& shape, int device,
                                    absl::Span<const std::byte> bytes, Cause cause, const Caller& caller,
                                    BufferState* fill, uint64_t* handle);

// A program as the daemon has it: the handle, and the command that compiles it.
struct Compilation {
  uint64_t handle = 0;
  Command command;
  // The daemon was sent the program's digest alone, and may have forgotten the program.
  bool by_digest = false;
};

struct ExecutableState {
  // `program`: serialized; `digest`: its SHA-256.
  ExecutableState(std::shared_ptr<Session> session, std::string program, const Digest& digest)
      : session(std::move(session)), digest(digest), program_(std::move(program)) {}
  ~ExecutableState();

  const std::shared_ptr<Session> session;
  const Digest digest;
  std::string name = "program";
  hlo::Members members;
  std::vector<Shape> arguments, results;    // Of each member.
  std::vector<std::string> argument_names;  // "parameter x", "parameter x, leaf 2"
  std::vector<bool> large_results;  // Of an abstract session, by result: it is not computed. May be shorter.
  Verdict verdict;

  // Compiles the program, by its digest where the daemon is known to have it.
  absl::Status Compile(bool describe, const Caller& caller);
  // What to use. Where the daemon answered that it does not know the digest, its bytes are sent first.
  absl::StatusOr<Compilation> Current(const Caller& caller);

  // Its bytes, before Compile().
  const std::string& program() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return program_; }

  // Which results depend on which arguments; from the program, on first use. Null when it cannot be read.
  const hlo::Dependences* Dependences();

 private:
  absl::Status Send(bool by_digest, bool describe, const Caller& caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  const hlo::Dependences* DependencesLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Releases the bytes of a large program when nothing needs them any more.
  void ReleaseProgram() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  std::string program_ ABSL_GUARDED_BY(mu_);
  Compilation current_ ABSL_GUARDED_BY(mu_);
  std::optional<std::optional<hlo::Dependences>> dependences_ ABSL_GUARDED_BY(mu_);
};

// Compiles a serialized program; `module` is what it holds, null when it cannot be read.
absl::StatusOr<Executable> CompileBytes(const std::shared_ptr<Session>& session, const Module* module,
                                        std::string bytes, bool describe, const Caller& caller);

struct StagingState {
  std::shared_ptr<Session> session;
  Shape shape;
  int device = 0;
  Arena* arena = nullptr;           // The session's, when there is a range.
  std::optional<ArenaRange> range;  // Else `own`.
  Literal own;
  ~StagingState();
};

// What failed before anything was sent.
template <typename T>
class Failed : public Awaitable<T> {
 public:
  explicit Failed(absl::Status status) : status_(std::move(status)) {}
  bool Ready() override { return true; }
  typename Awaitable<T>::Result Await(absl::Time) override { return status_; }

 private:
  const absl::Status status_;
};

template <typename T>
Future<T> FailedFuture(absl::Status status) {
  return Future<T>(std::make_shared<Failed<T>>(std::move(status)));
}

// A future for a command's end.
Future<void> FutureOf(std::shared_ptr<Session> session, Command command);

// Events and metrics of the runtime; nothing is built while nobody observes. `us`: how long the call took.
void EmitTransfer(Session& session, Cause cause, const Caller& caller, uint64_t buffer, const Shape& shape,
                  int64_t bytes, int device, uint32_t made_at, double us);
void EmitWait(Session& session, WaitCause cause, const Caller& caller, double us, uint64_t value = 0);
// Sets the step of what follows.
absl::Status MarkStep(Session& session, uint64_t step, const Caller& caller);

SessionStats StatsFromProto(const v1::SessionStats& proto);
// Hexadecimal; "" for none.
std::string HexDigest(std::string_view bytes);
Origin OriginOf(const Caller& caller);

}  // namespace hlod::internal

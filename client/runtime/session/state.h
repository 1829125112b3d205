// The shared state of the public handles Buffer, Executable, StagedUpload and Future.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/handles/read_pattern.h"
#include "client/runtime/observe/events.h"
#include "client/runtime/session/session.h"
#include "client/runtime/transfer/arena.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/device.h"
#include "hlod/runtime/executable.h"

namespace hlod::runtime {

// The reason why a buffer is dead: the command that deleted or consumed it.
struct Death {
  ErrorKind kind = ErrorKind::kDeleted;
  Command by;
};

struct DividedProgram;
struct ExecutableState;
struct Shards;

struct BufferState {
  BufferState(std::shared_ptr<Session> session, uint64_t handle, Shape shape, int device, Command producer,
              bool placeholder);
  // Makes a buffer that stands for its parts, and has no handle of the daemon's.
  explicit BufferState(std::shared_ptr<const Shards> shards);
  ~BufferState();  // Frees the buffer, unless it is dead.

  const std::shared_ptr<Session> session;
  const uint64_t handle;
  const Shape shape;
  const int64_t bytes;
  const int device;
  const uint32_t origin;
  const std::shared_ptr<const Shards> shards;  // Null for a buffer on one device.
  std::atomic<uint64_t> close = 0;             // The close of the trace that computed it, or 0.

  absl::Mutex mu;
  Command producer ABSL_GUARDED_BY(mu);  // The command that makes its value.
  bool placeholder ABSL_GUARDED_BY(mu);
  std::optional<Death> death ABSL_GUARDED_BY(mu);
  // For the result of an execute, the pattern that counts its first read: an element of its executable's
  // read_patterns. Null after that read, and for other buffers.
  std::shared_ptr<ReadPattern> pattern ABSL_GUARDED_BY(mu);
  Command prefetch
      ABSL_GUARDED_BY(mu);  // The Download that reads it ahead, until the first read. May be null.
};

// Notes a read of the buffer. Returns the Download that was sent ahead for its bytes; null if there is none.
// When that Download has succeeded, the caller must call TellRead.
Command TakePrefetch(BufferState& buffer);
// Tells the daemon, with the next message, that the program has read what was read ahead.
void TellRead(Session& session, const CommandState& prefetch, Cause cause, const Caller& caller);

// The purpose for which a buffer is named: "a read", or an argument of a program. Converted to text only for
// an error.
struct Use {
  Use(const char* what) : what(what) {}
  Use(const ExecutableState& program, size_t argument) : program(&program), argument(argument) {}
  std::string ToString() const;  // "argument 3 (parameter x) of step"

  const char* what = nullptr;
  const ExecutableState* program = nullptr;
  size_t argument = 0;
};

// Returns OK if the buffer may be named in a command; otherwise an error of kind deleted, donated or
// lost_session that says for which `use`.
absl::Status CheckAlive(BufferState& buffer, const Use& use);
// Returns OK if the buffer is a placeholder that may be filled. A client that skips its own checks gets the
// daemon's answer instead.
absl::Status CheckFillable(BufferState& buffer, const Caller& caller);
// Like CheckAlive, and also refuses a placeholder. A refusal is counted.
absl::Status CheckReadable(BufferState& buffer, const Use& use, const Caller& caller);
// Returns an error of kind argument at the caller's line; it names the buffer `about` unless that is null.
absl::Status ArgumentError(const Caller& caller, std::string text, BufferState* about = nullptr);
// "bf16[8,4] (handle 7, made at model.cc:8)"
std::string Describe(BufferState& buffer);

// Returns OK when `shape` is an array shape that can be uploaded and `bytes` has its size.
absl::Status CheckUpload(const Session& session, const Shape& shape, absl::Span<const std::byte> bytes,
                         const Caller& caller);
// Uploads to a new buffer or, unless `fill` is null, to that placeholder.
absl::StatusOr<Command> UploadBytes(Session& session, const Shape& shape, int device,
                                    absl::Span<const std::byte> bytes, Cause cause, const Caller& caller,
                                    BufferState* fill, uint64_t* handle);

// A program on the daemon: its handle, and the command that compiles it.
struct Compilation {
  uint64_t handle = 0;
  Command command;
  // True when only the program's digest was sent: the daemon may have forgotten the program.
  bool by_digest = false;
};

struct ExecutableState {
  // `program` is the serialized module, `digest` its SHA-256.
  ExecutableState(std::shared_ptr<Session> session, std::string program, const Digest& digest)
      : session(std::move(session)), digest(digest), program_(std::move(program)) {}
  ~ExecutableState();

  const std::shared_ptr<Session> session;
  const Digest digest;
  std::string name = "program";
  hlo::Participants participants;
  std::vector<Shape> arguments, results;    // The shapes, the same for each participant.
  std::vector<std::string> argument_names;  // "parameter x", "parameter x, leaf 2"
  // In an abstract session, by result: true if it is too large to be computed. May be shorter than `results`.
  std::vector<bool> large_results;
  // By result of one participant; empty if none is ever read ahead.
  std::shared_ptr<std::vector<ReadPattern>> read_patterns;
  CompileCause verdict;
  std::shared_ptr<const DividedProgram> divided;  // Null unless it was compiled for a mesh.

  // Compiles the program; sends only its digest if the daemon should have it.
  absl::Status Compile(bool describe, const Caller& caller);
  // Returns the compilation to execute. Compiles again from the bytes if the daemon answered that it does not
  // know the digest.
  absl::StatusOr<Compilation> Current(const Caller& caller);

  // The serialized module. May be used only before Compile().
  const std::string& program() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return program_; }

  // Returns this program on another daemon of the cluster, where it is compiled at the first call.
  absl::StatusOr<std::shared_ptr<ExecutableState>> On(const std::shared_ptr<Session>& owner,
                                                      const Caller& caller);

  // Returns which results depend on which arguments; analysed on first use. Null when the program cannot be
  // read.
  const hlo::Dependences* Dependences();

 private:
  absl::Status Send(bool by_digest, bool describe, const Caller& caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  const hlo::Dependences* DependencesLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Releases the bytes of a large program when they are not needed any more.
  void ReleaseProgram() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  std::string program_ ABSL_GUARDED_BY(mu_);
  Compilation current_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<ExecutableState>> elsewhere_ ABSL_GUARDED_BY(mu_);  // By daemon; see On().
  std::optional<std::optional<hlo::Dependences>> dependences_ ABSL_GUARDED_BY(mu_);
};

// Compiles a serialized program. `module` is the parsed form of `bytes`; null if they cannot be parsed.
absl::StatusOr<Executable> CompileBytes(const std::shared_ptr<Session>& session, const Module* module,
                                        std::string bytes, bool describe, const Caller& caller);

// Starts a program with the arguments of all participants, one list after another.
absl::StatusOr<Execution> StartParticipants(const std::shared_ptr<ExecutableState>& executable,
                                            absl::Span<const Argument> arguments,
                                            const ExecuteOptions& options, const Caller& caller);

struct StagingState {
  std::shared_ptr<Session> session;
  Shape shape;
  int device = 0;
  Arena* arena = nullptr;           // The session's arena; may be null when `range` is not set.
  std::optional<ArenaRange> range;  // The memory of the value; if it is not set, `own` is.
  Literal own;
  ~StagingState();
};

// The awaitable of an operation that failed before sending.
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

// Returns a future that is ready when the command is done.
Future<void> FutureOf(std::shared_ptr<Session> session, Command command);

// Emit events and count metrics of the runtime. Without observers the events are not built. `us` is the
// duration of the call in microseconds.
void EmitTransfer(Session& session, Cause cause, const Caller& caller, uint64_t buffer, const Shape& shape,
                  int64_t bytes, int device, uint32_t made_at, double us);
void EmitWait(Session& session, WaitCause cause, const Caller& caller, double us, uint64_t value = 0);
// Sets the step of the commands that follow.
absl::Status MarkStep(Session& session, uint64_t step, const Caller& caller);

SessionStats StatsFromProto(const v1::SessionStats& proto);
// Adds the figures of one daemon to those of others. The highest values are added, too: an upper bound.
void Add(const SessionStats& from, SessionStats& to);
// Returns hexadecimal digits; "" for no bytes.
std::string HexDigest(std::string_view bytes);
Origin OriginOf(const Caller& caller);

}  // namespace hlod::runtime

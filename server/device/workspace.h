// What one session has on the devices: its handles, its buffers and programs, and the work that waits for
// them. It knows commands by id and line, and nothing of messages or streams.
//
// Commands are handed in in the session's order, by one thread at a time; they bind to the versions of the
// buffers that their handles name at that moment, and never wait. What cannot run yet is a Task that depends
// on earlier ones. The end of a command is told by a callback, on whatever thread it came about, never under
// the lock.
//
// A Status that one of these functions *returns* is a violation of the protocol: the session must end. What
// goes to the callback is the answer to the command, and the handles it was to define then hold that error,
// with the command and its line as the root cause.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/literal.h"
#include "server/device/buffer_table.h"
#include "server/device/byte_budget.h"
#include "server/device/devices.h"
#include "server/device/recent_digests.h"
#include "server/device/upload_deadlines.h"

namespace hlod::device {

using Done = std::function<void(const absl::Status&)>;

struct UploadRequest {
  CommandRef command;
  Handle handle = 0;
  uint32_t device = 0;
  absl::StatusOr<hlo::Shape> shape;
  uint64_t bytes = 0;  // As the client says; must be the shape's.
  Cause cause = Cause::kUpload;
  bool fill = false;                     // Gives a placeholder its value.
  std::optional<std::string_view> data;  // The bytes, when they came along.
  bool pieces = false;  // Else they come in pieces (NextPiece), or by one transfer (ClaimUpload).
};

struct ExecuteRequest {
  struct Argument {
    Handle handle = 0;                      // 0: the literal.
    std::unique_ptr<hlo::Literal> literal;  // Apart: a command may name millions of handles.
  };
  CommandRef command;
  Handle executable = 0;
  uint32_t device = 0;
  std::vector<Argument> arguments;
  std::vector<Handle> results;    // 0 drops one.
  std::vector<uint32_t> fills;    // Indices of results that fill a placeholder.
  std::vector<uint32_t> donated;  // Indices of arguments.
  bool abstract = false;
  int64_t deadline_us = 0;  // 0: the limit.
  absl::Status refused;     // Found wrong already: the results are defined to hold this error.
};

struct DownloadRequest {
  CommandRef command;
  Handle handle = 0;
  uint64_t offset = 0, length = 0;  // length 0: to the end.
  bool pin = false;  // The bytes are read as long as ReadyBytes::pin is held; else until Release.
};

// The bytes of a buffer, ready to be read.
struct ReadyBytes {
  std::shared_ptr<Buffer> buffer;
  hlo::Shape shape;
  const std::byte* data = nullptr;
  int64_t bytes = 0;
  std::shared_ptr<Task> task;  // Release() finishes it.
  // When asked for: as long as a copy of it lives, the bytes stay in their place unchanged, whatever becomes
  // of the buffer and its handle. Whoever reads `data` holds one. The last one takes the workspace's lock as
  // it goes.
  std::shared_ptr<const void> pin;
};
using DownloadDone = std::function<void(absl::StatusOr<ReadyBytes>)>;

// An upload whose bytes are on their way. Whoever copies into `target` holds the upload: a failed one keeps
// the memory until then.
struct PendingUpload {
  CommandRef command;
  std::shared_ptr<Buffer> buffer;
  Cause cause = Cause::kUpload;
  bool pieces = false;
  absl::Span<std::byte> target;
  Block discarded;             // The memory of a failed upload.
  int64_t staged = 0;          // Bytes that count against staging_bytes_max.
  int64_t scheduled = 0;       // Pieces were named up to here.
  int64_t received = 0;        // Bytes that are in place.
  uint64_t generation = 0;     // Of the transfer that feeds it: a new one makes the old one stale.
  std::shared_ptr<Task> task;  // Finished when all bytes are in, or it has failed.
  Done done;
};

struct Execution;

// A live handle, for listings.
struct BufferInfo {
  Handle handle = 0;
  uint32_t device = 0;
  hlo::Shape shape;
  int64_t bytes = 0;
  BufferState state = BufferState::kReady;
  Origin origin;
};

// Thread-safe. Always held by shared_ptr: work under way keeps it alive.
class Workspace : public std::enable_shared_from_this<Workspace> {
 public:
  Workspace(uint64_t session, Devices& devices);

  // Lines of the program. Ids count up from 1: another id is a violation.
  absl::Status DefineOrigin(uint32_t id, Origin origin, Done done);
  Origin origin(uint32_t id) const;

  absl::Status DefinePlaceholder(const CommandRef& command, Handle handle, uint32_t device,
                                 const absl::StatusOr<hlo::Shape>& shape, Done done);
  // `done` comes when the last byte is in its place, or never will be.
  absl::Status Upload(UploadRequest request, Done done);
  absl::Status Free(const CommandRef& command, std::vector<Handle> handles, Done done);
  // `done` comes when the buffer is settled.
  absl::Status Download(DownloadRequest request, DownloadDone done);
  // Defines `handle` as the program. `done` has what the cache gave.
  using CompileDone = std::function<void(const absl::StatusOr<ExecutableCache::Compiled>&)>;
  absl::Status Compile(const CommandRef& command, Handle handle, absl::StatusOr<std::string> program,
                       CompileDone done);
  absl::Status CompileByDigest(const CommandRef& command, Handle handle, const absl::StatusOr<Digest>& digest,
                               CompileDone done);
  absl::Status Execute(ExecuteRequest request, Done done);
  void Cancel(uint64_t command);

  // Ends a read without a pin: the buffer may be consumed from now on.
  void Release(const ReadyBytes& bytes);

  // Hands the upload of a command to a transfer that brings all of its bytes; what an earlier one brought
  // counts as aborted. NOT_FOUND when there is none under way. To be called on the thread of
  // devices().transfers(), which also does the transfer's copies: so no earlier transfer can still be
  // writing.
  struct UploadPart {
    std::shared_ptr<PendingUpload> upload;
    uint64_t generation = 0;
    absl::Span<std::byte> target;
  };
  absl::StatusOr<UploadPart> ClaimUpload(uint64_t command);
  // Whether the transfer still has the upload: not stale, not failed.
  bool OwnsUpload(const UploadPart& part) const;
  // The next range of an upload that comes in pieces, in order and without gaps: INVALID_ARGUMENT otherwise.
  absl::StatusOr<UploadPart> NextPiece(uint64_t command, uint64_t offset, uint64_t length);
  // Whether a command's upload waits for its bytes by a transfer.
  bool ExpectsTransfer(uint64_t command) const;
  // Bytes of an upload are in place; the last ones complete it. False: the transfer is stale, and must stop.
  bool AddReceived(uint64_t command, uint64_t generation, int64_t bytes);
  // A transfer ended early: its bytes were in vain. The upload goes on waiting for another one, or fails with
  // `error`.
  void AbortTransfer(uint64_t command, uint64_t generation, const absl::Status& error = absl::OkStatus());
  // Fails uploads whose bytes have not come in time.
  void ExpireUploads(absl::Time now);

  // Frees everything, stops what runs; nothing is called back any more, and commands that come later do
  // nothing.
  void Close();

  uint64_t session() const { return session_; }
  SessionLedger& ledger() { return ledger_; }
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }
  Devices& devices() { return devices_; }
  std::vector<BufferInfo> ListBuffers() const;
  struct Counts {
    int64_t buffers = 0;  // That hold memory.
    int64_t placeholders = 0;
    int64_t waiting_executes = 0;  // For their arguments.
    Counts& operator+=(const Counts& other);
  };
  // By device; and of all of them.
  std::vector<Counts> device_counts() const;
  Counts counts() const;

 private:
  friend struct Execution;
  struct Pin;
  static constexpr size_t kDigestsMax = 65536;  // Programs that CompileByDigest may name.
  using ReadyTasks = std::vector<std::function<void()>>;

  // Tasks.
  static void DependOn(const std::shared_ptr<Task>& task, const std::shared_ptr<Task>& other);
  static void Finish(Task& task, ReadyTasks& ready_tasks);
  static void Unwait(const std::shared_ptr<Task>& task, ReadyTasks& ready_tasks);
  static void Run(ReadyTasks& ready_tasks);
  static void AddReader(Buffer& buffer, const std::shared_ptr<Task>& reader);

  // Errors.
  Error Root(std::string_view what, const absl::Status& status, const CommandRef& command) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Dead(Handle handle) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status PlaceholderRead(const Buffer& buffer, std::string_view what) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Consumed(const Buffer& buffer, const CommandRef& by) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WithLargestBuffers(absl::Status status) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string Line(uint32_t origin) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Origin OriginOf(uint32_t id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Handles.
  absl::StatusOr<std::shared_ptr<Buffer>> FindBuffer(Handle handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<std::shared_ptr<Program>> FindProgram(Handle handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The placeholder that a command is to fill: one that nobody has been given yet.
  absl::StatusOr<std::shared_ptr<Buffer>> FindPlaceholder(Handle handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A failed definition: the handle holds `error`.
  void DefineFailed(Handle handle, uint32_t device, const hlo::Shape* shape, const CommandRef& command,
                    const Error& error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckHandles(int64_t more) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The dense bytes of an array shape that a buffer may have: checked against overflow and the limits.
  absl::StatusOr<int64_t> CheckShape(const absl::StatusOr<hlo::Shape>& shape, uint32_t device) const;
  absl::StatusOr<int64_t> CheckBytes(const hlo::Shape& shape) const;
  absl::Status CheckDevice(uint32_t device) const;

  // Uploads.
  absl::StatusOr<std::shared_ptr<PendingUpload>> DeclareUpload(UploadRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Settles an upload: its buffer is ready, or failed. Returns its callback.
  Done SettleUpload(PendingUpload& upload, const absl::Status& status, absl::Status& answer,
                    ReadyTasks& ready_tasks) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Programs.
  absl::StatusOr<std::shared_ptr<Program>> DefineProgram(const CommandRef& command, Handle handle,
                                                         absl::Status& violation)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SettleProgram(const std::shared_ptr<Program>& program,
                     const absl::StatusOr<ExecutableCache::Compiled>& compiled, const CompileDone& done);

  // Executes (workspace_execute.cc).
  absl::Status BindExecution(Execution& execution) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnReady(const std::shared_ptr<Execution>& execution);
  // Finds out which results of an abstract execute can be computed, and compiles that part: on a compile
  // thread, for wide programs take long.
  void PrepareAbstract(const std::shared_ptr<Execution>& execution);
  void Queue(const std::shared_ptr<Execution>& execution, double estimate_us);
  absl::Duration TimeLimit(const ExecuteRequest& request) const;
  absl::Status CheckArguments(Execution& execution) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunExecution(const std::shared_ptr<Execution>& execution);
  // `started`: it came as far as taking its donations.
  absl::Status RunReal(Execution& execution, bool& started);
  // Runs it again when another execute of the device has completed; false when there was none beside it.
  bool Postpone(const std::shared_ptr<Execution>& execution);
  absl::Status RunAbstract(Execution& execution);
  // `started` says whether it came as far as running.
  absl::Status RunPart(Execution& execution, bool& started);
  void Consume(Execution& execution, std::vector<Entry>& gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Answers an execute, and lets go of it. With `if_waiting` only one that does not run.
  void Settle(const std::shared_ptr<Execution>& execution, const absl::Status& status,
              bool if_waiting = false);
  struct AfterUnlock;
  // The two halves of it: its results are ready or failed; it holds and orders nothing any more.
  void Tell(Execution& execution, const absl::Status& status, AfterUnlock& left)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Retire(Execution& execution, AfterUnlock& left) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  const uint64_t session_;
  Devices& devices_;
  const Limits& limits_;
  const std::shared_ptr<MemoryAccount> account_;
  SessionLedger ledger_;
  // State below is guarded by mu_.
  mutable Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  BufferTable table_ ABSL_GUARDED_BY(mu_);
  std::vector<Origin> origins_ ABSL_GUARDED_BY(mu_);
  uint32_t last_origin_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t executables_ ABSL_GUARDED_BY(mu_) = 0;
  RecentDigests digests_ ABSL_GUARDED_BY(mu_){kDigestsMax};
  absl::flat_hash_map<uint64_t, std::shared_ptr<Execution>> executions_ ABSL_GUARDED_BY(mu_);
  struct WaitingDownload {
    std::shared_ptr<Task> task;
    DownloadDone done;
  };
  absl::flat_hash_map<uint64_t, WaitingDownload> downloads_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, std::shared_ptr<PendingUpload>> uploads_ ABSL_GUARDED_BY(mu_);
  ByteBudget staging_ ABSL_GUARDED_BY(mu_);            // Of uploads.
  ByteBudget waiting_arguments_ ABSL_GUARDED_BY(mu_);  // Of executes.
  UploadDeadlines upload_deadlines_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::device

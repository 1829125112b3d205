// What one session has on the devices: its handles, its buffers and programs, and the work that waits for
// them. It knows commands by id and line, and nothing of messages or streams.
//
// Commands are handed in in the session's order, by one thread at a time; they bind to the versions of the
// buffers that their handles name at that moment, and never block. What cannot run yet is a Task that depends
// on earlier ones. The end of a command is reported by a callback, on any thread, never under the lock.
//
// The two kinds of failure are two types. A Violation that one of these functions returns is one of the
// protocol: the session must end. The absl::Status that goes to the callback is a refusal or a failure: it
// answers the command, and the handles which that was to define hold the error, with the command and its line
// as the root cause.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/device/buffer_table.h"
#include "server/device/byte_budget.h"
#include "server/device/deferring_lock.h"
#include "server/device/devices.h"
#include "server/device/program_charges.h"
#include "server/device/recent_digests.h"
#include "server/device/requests.h"
#include "server/device/session_errors.h"
#include "server/device/uploads.h"
#include "server/device/violation.h"

namespace hlod::device {

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

  // Commands: each calls `done` once, unless the workspace is closed first.
  // A line of the program. Ids count up from 1.
  Violation DefineOrigin(uint32_t id, Origin origin, Done done);
  Violation DefinePlaceholder(const PlaceholderRequest& request, Done done);
  // `done` comes when the last byte is in its place, or never will be.
  Violation Upload(const UploadRequest& request, Done done);
  Violation Free(const CommandRef& command, const std::vector<Handle>& handles, Done done);
  // `done` comes when the buffer is settled.
  Violation Download(const DownloadRequest& request, DownloadDone done);
  // Defines a handle as an executable. `done` has what the cache gave.
  using CompileDone = std::function<void(const absl::StatusOr<ExecutableCache::Compiled>&)>;
  Violation Compile(CompileRequest request, CompileDone done);
  Violation Execute(ExecuteRequest request, Done done);
  void Cancel(uint64_t command);

  // Ends a read without a pin: the buffer may be consumed from now on.
  void Release(const ReadyBytes& bytes);

  // The bytes of an upload under way (Uploads has the rules). To be called on the thread that does the copies
  // of transfers: so no earlier transfer can still be writing. NOT_FOUND when there is none under way.
  absl::StatusOr<UploadPart> ClaimUpload(uint64_t command);
  absl::StatusOr<UploadPart> NextPiece(uint64_t command, uint64_t offset, uint64_t length);
  // Whether the transfer still has the upload: not stale, not failed.
  bool OwnsUpload(const UploadPart& part) const;
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
  Origin origin(uint32_t id) const;
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
  struct Binding;
  struct Run;
  static constexpr size_t kDigestsMax = 65536;  // Programs that CompileRequest::digest may name.

  // Handles (workspace.cc).
  absl::StatusOr<std::shared_ptr<Buffer>> FindBuffer(Handle handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<std::shared_ptr<SessionExecutable>> FindExecutable(Handle handle)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The placeholder that a command is to fill: one that no execute has been given yet.
  absl::StatusOr<std::shared_ptr<Buffer>> FindPlaceholder(Handle handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A failed definition: the handle holds `error`. A shape of no type is not known.
  void DefineFailed(Handle handle, uint32_t device, const hlo::Shape& shape, const CommandRef& command,
                    const ErrorDetails& error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckHandles(int64_t more) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Why a buffer that is settled cannot be used, as far as its state says.
  absl::Status CheckUsable(const Buffer& buffer) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Uploads (workspace_upload.cc).
  absl::StatusOr<std::shared_ptr<PendingUpload>> DeclareUpload(const UploadRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // An upload is over: its buffer is ready, or failed with `status`.
  void SettleUpload(PendingUpload& upload, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Downloads (workspace_download.cc).
  struct WaitingDownload {
    std::shared_ptr<Task> task;
    DownloadDone done;
  };
  void Read(const DownloadRequest& request, std::shared_ptr<Buffer> buffer, const std::shared_ptr<Task>& task,
            const DownloadDone& done);

  // Compiles (workspace_program.cc).
  struct WaitingCompile {
    std::shared_ptr<ExecutableCache::Request> request;
    std::shared_ptr<SessionExecutable> executable;
    std::string what;
    CompileDone done;
  };
  absl::StatusOr<std::shared_ptr<SessionExecutable>> DefineExecutable(const CompileRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SettleExecutable(const std::shared_ptr<SessionExecutable>& executable, std::string_view what,
                        absl::StatusOr<ExecutableCache::Compiled> compiled, const CompileDone& done);

  // Executes until they run (workspace_execute.cc).
  absl::Status BindExecution(Execution& execution, std::vector<bool> fills)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnReady(const std::shared_ptr<Execution>& execution);
  absl::Status CheckArguments(Execution& execution) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckArgument(const Execution& execution, size_t i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckResults(const Execution& execution) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Answers an execute that is over, and lets go of it.
  void Settle(const std::shared_ptr<Execution>& execution, const absl::Status& status);
  // Answers a cancelled execute, unless it runs: its run ends soon.
  void CancelWaiting(Execution& execution, const absl::Status& cancelled, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The two halves of it: its results are ready or failed; it holds and orders nothing any more.
  void Report(Execution& execution, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Retire(Execution& execution, DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Executes that run (workspace_run.cc).
  // Finds out which results of an abstract execute can be computed, and compiles that part: on a compile
  // thread, for wide programs take long.
  void PrepareAbstract(const std::shared_ptr<Execution>& execution);
  void Queue(const std::shared_ptr<Execution>& execution, double expected_us);
  void RunExecution(const std::shared_ptr<Execution>& execution);
  // `started`: it has its memory, and was not refused for want of it.
  absl::Status RunReal(Execution& execution, bool& started);
  absl::Status RunAbstract(Execution& execution, bool& started);
  // Runs it again when another execute of the device has completed; false when there was none beside it.
  bool Postpone(const std::shared_ptr<Execution>& execution);
  // Donated arguments are gone from here on.
  void Consume(Execution& execution, DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  const uint64_t session_;
  Devices& devices_;
  const Limits& limits_;
  const std::shared_ptr<MemoryAccount> account_;
  SessionLedger ledger_;
  const std::shared_ptr<ByteBudget> kept_;
  // State below is guarded by mu_.
  mutable Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  BufferTable table_ ABSL_GUARDED_BY(mu_);
  SessionErrors errors_ ABSL_GUARDED_BY(mu_);
  int64_t executables_ ABSL_GUARDED_BY(mu_) = 0;
  ProgramCharges programs_ ABSL_GUARDED_BY(mu_);
  RecentDigests digests_ ABSL_GUARDED_BY(mu_){kDigestsMax};
  Uploads uploads_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, WaitingDownload> downloads_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, WaitingCompile> compiles_ ABSL_GUARDED_BY(mu_);  // By command.
  absl::flat_hash_map<uint64_t, std::shared_ptr<Execution>> executions_ ABSL_GUARDED_BY(mu_);
  ByteBudget waiting_arguments_ ABSL_GUARDED_BY(mu_);  // Of executes.
};

}  // namespace hlod::device

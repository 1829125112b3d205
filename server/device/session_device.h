// The state of one session on the devices: its handles, its buffers and programs, and the work that waits for
// them. It identifies commands by id and line, and is independent of messages and streams.
//
// Commands arrive in the session's order, from one thread at a time. A command binds to the versions of the
// buffers that its handles name at that moment, and never blocks. Work that cannot run yet is a Task that
// depends on earlier tasks. A callback reports the end of a command, on any thread, never under the lock.
//
// There are two kinds of failure, with a type for each. A returned Violation is a breach of the protocol: the
// session must end. An absl::Status that is passed to the callback is a refusal or a failure: it answers the
// command, and the handles that the command would have defined hold the error, with the command and its line
// as the root cause.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/device/buffers/session_uploads.h"
#include "server/device/deferring_lock.h"
#include "server/device/devices.h"
#include "server/device/execution/executions.h"
#include "server/device/execution/host_values.h"
#include "server/device/memory/program_charges.h"
#include "server/device/programs/recent_digests.h"
#include "server/device/requests.h"
#include "server/device/session_state.h"
#include "server/device/violation.h"

namespace hlod::device {

// A live handle, for listings.
struct BufferInfo {
  Handle handle = 0;
  uint32_t device = 0;
  hlo::Shape shape;
  int64_t bytes = 0;
  BufferState state = BufferState::kReady;
  Origin origin;
};

// Thread-safe. Always owned by a shared_ptr: pending work keeps it alive.
class SessionDevice : public std::enable_shared_from_this<SessionDevice> {
 public:
  // `share` is charged with the session's memory besides the devices' memory. Null: a share without an owner
  // is used. Machine code is made in the turns of `assembly`. Null: none is made at a second run. Launches
  // are those of `client`.
  SessionDevice(uint64_t session, Devices& devices, std::shared_ptr<MemoryShare> share = nullptr,
                std::shared_ptr<engine::AssemblyUser> assembly = nullptr, LaunchClient client = {});

  // The following functions are commands. Each calls `done` once, unless the session device is closed first.
  //
  // Defines a line of the program. Ids count up from 1.
  Violation DefineOrigin(uint32_t id, Origin origin, Done done, std::string name = "");
  Violation DefinePlaceholder(const PlaceholderRequest& request, Done done);
  Violation Upload(const UploadRequest& request, Done done) {
    return uploads_.Declare(request, std::move(done));
  }
  Violation Free(const CommandRef& command, const std::vector<Handle>& handles, Done done);
  // Defines a handle as a copy of a buffer. `done` is called when the copy is settled.
  Violation Copy(const CopyRequest& request, Done done);
  // `done` is called when the buffer is settled.
  Violation Download(const DownloadRequest& request, DownloadDone done);
  // Defines a handle as an executable. `done` receives the result of the cache.
  using CompileDone = std::function<void(const absl::StatusOr<ExecutableCache::Compiled>&)>;
  Violation Compile(CompileRequest request, CompileDone done);
  Violation Execute(ExecuteRequest request, Done done) {
    return executions_.Execute(std::move(request), std::move(done));
  }
  Violation Infeed(InfeedRequest request, Done done) {
    return host_values_.Infeed(std::move(request), std::move(done));
  }
  Violation Outfeed(OutfeedRequest request, Done done) {
    return host_values_.Outfeed(std::move(request), std::move(done));
  }
  void Cancel(uint64_t command);

  // Ends a read without a pin: from now on the buffer may be consumed.
  void Release(const ReadyBytes& bytes);

  // The uploads, which receive their bytes here.
  SessionUploads& uploads() { return uploads_; }

  // Frees everything and stops running work; later commands have no effect. No answer becomes due afterwards,
  // but a thread that has one may still call for it, so a callback owns what it uses.
  void Close();

  uint64_t session() const { return state_.session; }
  SessionLedger& ledger() { return state_.ledger; }
  const std::shared_ptr<MemoryAccount>& account() const { return state_.account; }
  Devices& devices() { return state_.devices; }
  const std::shared_ptr<MemoryShare>& share() const { return state_.share; }
  Origin origin(uint32_t id) const;
  std::string origin_name(uint32_t id) const;
  std::vector<BufferInfo> ListBuffers() const;
  struct Counts {
    int64_t buffers = 0;  // The number of buffers that hold memory.
    int64_t placeholders = 0;
    int64_t waiting_executes = 0;  // The number of executes that wait for their arguments.
    Counts& operator+=(const Counts& other);
  };
  // Counts per device, and their sum.
  std::vector<Counts> device_counts() const;
  Counts counts() const;

 private:
  struct Pin;
  // The number of programs that CompileRequest::digest may name.
  static constexpr size_t kDigestsMax = 65536;

  // Defined in session_device_download.cc.
  struct WaitingDownload {
    std::shared_ptr<Task> task;
    DownloadDone done;
  };
  void Read(const DownloadRequest& request, std::shared_ptr<Buffer> buffer, const std::shared_ptr<Task>& task,
            const DownloadDone& done);

  // Defined in session_device_copy.cc.
  struct PendingCopy;
  absl::StatusOr<std::shared_ptr<Buffer>> FindSource(const CopyRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  void StartCopy(const std::shared_ptr<PendingCopy>& pending);
  // Copies the bytes of a source that nothing changes.
  void RunCopy(PendingCopy& pending);
  void SettleCopy(PendingCopy& pending, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  void CancelCopy(uint64_t command, const absl::Status& cancelled, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  void CloseCopies(DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  // Defined in session_device_program.cc.
  struct WaitingCompile {
    std::shared_ptr<ExecutableCache::Request> request;
    std::shared_ptr<SessionExecutable> executable;
    std::string what;
    CompileDone done;
  };
  using WaitingCompiles = absl::flat_hash_map<uint64_t, WaitingCompile>;  // By command.
  bool CloseCommands(WaitingCompiles& compiles);
  void LeaveGroup();
  absl::StatusOr<std::shared_ptr<SessionExecutable>> DefineExecutable(const CompileRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  void SettleExecutable(const std::shared_ptr<SessionExecutable>& executable, std::string_view what,
                        absl::StatusOr<ExecutableCache::Compiled> compiled, const CompileDone& done);

  SessionState state_;
  // The members below are guarded by state_.mu, except those that have their own lock.
  int64_t executables_ ABSL_GUARDED_BY(state_.mu) = 0;
  ProgramCharges programs_ ABSL_GUARDED_BY(state_.mu);
  RecentDigests digests_ ABSL_GUARDED_BY(state_.mu){kDigestsMax, state_.share};
  absl::flat_hash_map<uint64_t, WaitingDownload> downloads_ ABSL_GUARDED_BY(state_.mu);
  // The copies that are not settled, by command.
  absl::flat_hash_map<uint64_t, std::shared_ptr<PendingCopy>> copies_ ABSL_GUARDED_BY(state_.mu);
  // The waiting compiles by command.
  WaitingCompiles compiles_ ABSL_GUARDED_BY(state_.mu);
  SessionUploads uploads_;
  Executions executions_;
  HostValues host_values_;
};

}  // namespace hlod::device

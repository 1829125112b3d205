// The state that all commands of a session share: its handles, its errors, its account. Private to
// SessionDevice and its parts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "common/base/limits.h"
#include "common/base/system/mutex.h"
#include "server/device/buffers/buffer_table.h"
#include "server/device/devices.h"
#include "server/device/execution/launches.h"
#include "server/device/execution/session_channels.h"
#include "server/device/ledger/ledger.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/session_errors.h"

namespace hlod::device {

struct SessionState {
  SessionState(uint64_t session, Devices& devices, std::shared_ptr<MemoryShare> share,
               std::shared_ptr<engine::AssemblyUser> assembly, LaunchClient client);

  absl::StatusOr<std::shared_ptr<Buffer>> FindBuffer(Handle handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  absl::StatusOr<std::shared_ptr<SessionExecutable>> FindExecutable(Handle handle)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Returns the placeholder that a command is to fill. Fails if it was donated to an abstract execute,
  // whether that has begun or not.
  absl::StatusOr<std::shared_ptr<Buffer>> FindPlaceholder(Handle handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Returns an error when a settled buffer has failed or was consumed.
  absl::Status CheckUsable(const Buffer& buffer) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Returns an error when there is no room for `more` further handles.
  absl::Status CheckHandles(int64_t more) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Makes the handle hold `error`, for a definition that failed. A shape without a type is an unknown shape.
  void DefineFailed(Handle handle, uint32_t device, const hlo::Shape& shape, const CommandRef& command,
                    const ErrorDetails& error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Constant after construction.
  const uint64_t session;
  Devices& devices;
  const Limits& limits;
  const std::shared_ptr<MemoryShare> share;  // The session's share of its user's share.
  const std::shared_ptr<engine::AssemblyUser> assembly;  // Null: its plans request no machine code.
  const LaunchClient client;
  const std::shared_ptr<MemoryAccount> account;
  SessionLedger ledger;
  const std::shared_ptr<ByteBudget> kept;  // The budget session_bytes_max.
  SessionChannels channels;
  const FailureMark failed;  // Ends the session when a step of it could not be finished.
  // The members below are guarded by mu.
  mutable Mutex mu;
  bool closed ABSL_GUARDED_BY(mu) = false;
  BufferTable table ABSL_GUARDED_BY(mu);
  SessionErrors errors ABSL_GUARDED_BY(mu);
  // The number of the last launch with a part here, by the upper half of the number: processes of a group
  // count the launches of each set of daemons on their own (Launch.sequence).
  std::map<uint32_t, uint64_t> last_launches ABSL_GUARDED_BY(mu);
  static constexpr size_t kLaunchCountsMax = 1024;
};

}  // namespace hlod::device

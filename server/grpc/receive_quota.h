// How much of the daemon's memory the bytes of one connection may take before anybody has asked for them.
//
// gRPC charges to a quota what it has received of messages that are not read, and resets calls when there is
// no more of it. A quota for each connection makes those the calls of the peer that filled it. What quotas
// may take is charged to the share of the connection's owner in --side-memory: all of it, for gRPC does not
// say what it has. So quotas are small, and grow with what is known to come.
// - Until a call has shown the secret of a session, or opened one, the connection is a stranger's: no message
//   is larger than a Hello.
// - Then there is room for a message of commands.
// - Chunks of bulk streams would fill the quota of an honest client with many uploads; so their reads take
//   turns, and the quota grows by each turn, while there is memory for further ones.
// - The largest messages, executes of a million arguments, are rare: a session whose stream was reset for
// want
//   of room resumes, and finds room for one.
#pragma once

#include <grpcpp/resource_quota.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/base/limits.h"
#include "common/base/system/mutex.h"
#include "server/device/memory/side_memory.h"

namespace hlod::grpc_server {

struct ReceiveLimits {
  int64_t stranger_bytes_max = 1 << 20;
  // Of a connection with a session, of one whose session was resumed, and of each turn of a bulk upload.
  int64_t session_bytes_max = 8 << 20, resumed_bytes_max = 24 << 20, turn_bytes = 4 << 20;
  // Chunks of bulk uploads that are being read, or were and are not copied, over all uploads of a connection.
  int64_t turns_max = 12;

  // Those with which messages and chunks of a daemon's limits pass.
  static ReceiveLimits Of(const Limits& limits);
};

// Thread-safe.
class ReceiveQuota : public std::enable_shared_from_this<ReceiveQuota> {
 public:
  // `name` is for gRPC's traces. `memory` has stranger_bytes_max taken, and grows; it may charge nobody.
  // `admitted` is called once, with the first Admit that succeeds.
  ReceiveQuota(
      const std::string& name, const ReceiveLimits& limits, device::MemoryCharge memory = {},
      std::function<void()> admitted = [] {});
  // For the server of the connection.
  const grpc::ResourceQuota& quota() const { return quota_; }

  // A session was opened, resumed, or named with its secret: the connection is not a stranger's any more.
  // RESOURCE_EXHAUSTED (kind limit): there is no memory for that.
  enum class How { kOpened, kResumed };
  absl::Status Admit(How how = How::kOpened);
  // Returns what Admit would, before there is a session.
  absl::Status CheckAdmission();

  // The right to have one chunk in memory; it is given back when the last copy goes.
  using Turn = std::shared_ptr<const void>;
  // Calls `ready` with a turn: at once, on this thread, when one is free, else on the thread that gives one
  // back, in the order of the requests. Turns must not be given back while a lock is held that `ready` takes.
  void AwaitTurn(std::function<void(Turn turn)> ready);

 private:
  void GiveBack();
  Turn MakeTurn();
  // Whether there is one more turn; the first there always is.
  bool TakeTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Grow(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ShrinkTo(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const ReceiveLimits limits_;
  const std::function<void()> on_admitted_;
  grpc::ResourceQuota quota_;
  Mutex mu_;
  device::MemoryCharge memory_ ABSL_GUARDED_BY(mu_);
  // What the quota is without turns, and with those that there were since there was none.
  int64_t base_ ABSL_GUARDED_BY(mu_), granted_ ABSL_GUARDED_BY(mu_);
  bool admitted_ ABSL_GUARDED_BY(mu_) = false;
  int64_t turns_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<std::function<void(Turn)>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server

// Limits the daemon's memory that the bytes of one connection may take before the daemon reads them.
//
// gRPC charges received messages that are not read yet to a quota, and resets calls when the quota is
// exhausted. With a quota per connection, these are only calls of the peer that filled it. Each quota is
// charged in full to the share of the connection's owner in --side-memory, because gRPC does not report how
// much of it is in use. So quotas are small, and grow with the messages that are expected:
// - Until a call has shown the secret of a session, or opened one, the connection is a stranger's: messages
//   are not larger than a Hello.
// - Then there is room for messages of ordinary commands, which have some 64 KiB. The first larger one makes
//   the room for several of its kind, until there was none for a while: many sessions that are idle, or send
//   tiny executes, take little.
// - Chunks of bulk streams would fill the quota of an honest client with many uploads. So their reads take
//   turns, and the quota grows by each turn, while there is memory for further ones.
// - The largest messages, executes of many thousand arguments, are rare. A session whose stream was reset for
//   lack of room resumes, and then gets room for one.
#pragma once

#include <grpcpp/resource_quota.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "common/base/limits.h"
#include "common/base/system/mutex.h"
#include "server/device/memory/side_memory.h"

namespace hlod::grpc_server {

struct ReceiveLimits {
  int64_t stranger_bytes_max = 1 << 20;
  // The limits for a connection with a session, for one that has lately sent a message of more than
  // small_message_bytes_max, for one whose session was resumed, and for each turn of a bulk upload.
  int64_t session_bytes_max = 2 << 20, busy_bytes_max = 8 << 20, resumed_bytes_max = 24 << 20,
          turn_bytes = 4 << 20;
  int64_t small_message_bytes_max = 128 << 10;
  // The limit on chunks of bulk uploads that are being read or wait to be copied, over all uploads of a
  // connection.
  int64_t turns_max = 12;

  // Returns limits with which the messages and chunks of a daemon's limits pass.
  static ReceiveLimits Of(const Limits& limits);
};

// Thread-safe.
class ReceiveQuota : public std::enable_shared_from_this<ReceiveQuota> {
 public:
  // `name` is for gRPC's traces. `memory` has reserved stranger_bytes_max, and grows; it may be a charge
  // without a share. `admitted` is called once, at the first Admit that succeeds.
  ReceiveQuota(
      const std::string& name, const ReceiveLimits& limits, device::MemoryCharge memory = {},
      std::function<void()> admitted = [] {});
  // For the server of the connection.
  const grpc::ResourceQuota& quota() const { return quota_; }

  // Called when a session was opened, resumed, or named with its secret: the connection is no longer a
  // stranger's. RESOURCE_EXHAUSTED (kind limit) when there is no memory for that.
  enum class How { kOpened, kResumed };
  absl::Status Admit(How how = How::kOpened);
  // Returns the status that Admit would return, before there is a session.
  absl::Status CheckAdmission();
  // Called with the size of each message of a session: makes room for more of them after a large one, while
  // there is memory for that. A turn does so, too.
  void OnMessage(int64_t bytes) {
    const bool large = bytes > limits_.small_message_bytes_max;
    if (large) OnLargeMessage(absl::Now());
    next_may_be_large_.store(large, std::memory_order_relaxed);
  }
  void OnLargeMessage(absl::Time now);
  // Gives the room back when the last large message or turn came more than kBusy ago, and a small message
  // since: otherwise the next large one may be half received, over a slow connection. To be called now and
  // then.
  static constexpr absl::Duration kBusy = absl::Seconds(10);
  void Tick(absl::Time now);

  // The right to have one chunk in memory, released when the last copy is destroyed.
  using Turn = std::shared_ptr<const void>;
  // Calls `ready` with a turn: at once on this thread if one is free; otherwise on the thread that releases
  // one, in the order of the requests. A turn must not be released while holding a lock that `ready` takes.
  void AwaitTurn(std::function<void(Turn turn)> ready);

 private:
  void MakeRoom(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveBack();
  Turn MakeTurn();
  // Takes a turn. Returns false if there is no further one; the first always exists.
  bool TakeTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Grow(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ShrinkTo(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const ReceiveLimits limits_;
  const std::function<void()> on_admitted_;
  grpc::ResourceQuota quota_;
  Mutex mu_;
  device::MemoryCharge memory_ ABSL_GUARDED_BY(mu_);
  // The quota without turns, and the quota with the largest number of turns since there was last none.
  int64_t base_ ABSL_GUARDED_BY(mu_), granted_ ABSL_GUARDED_BY(mu_);
  bool admitted_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time large_ ABSL_GUARDED_BY(mu_);       // The time of the last large message.
  std::atomic<bool> next_may_be_large_{false};  // True when the last message was.
  int64_t turns_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<std::function<void(Turn)>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server

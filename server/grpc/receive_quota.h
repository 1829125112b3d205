// How much of the daemon's memory the bytes of one connection may take before anybody has asked for them.
//
// gRPC charges to a quota what it has received of messages that are not read, and resets calls when there is
// no more of it. A quota for each connection makes those the calls of the peer that filled it. Until a call
// has shown the secret of a session, or opened one, the connection is a stranger's, and its quota small: then
// no message is larger than a Hello. Chunks of bulk streams would fill the quota of an honest client with
// many uploads, too; so their reads take turns.
#pragma once

#include <grpcpp/resource_quota.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "common/base/mutex.h"

namespace hlod::grpc_server {

struct ReceiveLimits {
  size_t stranger_bytes_max = 2 << 20;
  // Of a connection with a session.
  size_t received_bytes_max = 64 << 20;
  // Chunks of bulk uploads that are being read, or were and are not copied, over all uploads of a connection.
  int64_t chunks_max = 12;
};

// Thread-safe.
class ReceiveQuota : public std::enable_shared_from_this<ReceiveQuota> {
 public:
  // `name` is for gRPC's traces. `admitted` is called once, with the first Admit.
  ReceiveQuota(
      const std::string& name, const ReceiveLimits& limits, std::function<void()> admitted = [] {});
  // For the server of the connection.
  const grpc::ResourceQuota& quota() const { return quota_; }

  // A session was opened or named with its secret: the connection is not a stranger's any more.
  void Admit();

  // The right to have one chunk in memory; it is given back when the last copy goes.
  using Turn = std::shared_ptr<const void>;
  // Calls `ready` with a turn: at once, on this thread, when one is free, else on the thread that gives one
  // back, in the order of the requests. Turns must not be given back while a lock is held that `ready` takes.
  void AwaitTurn(std::function<void(Turn turn)> ready);

 private:
  void GiveBack();
  Turn MakeTurn();

  const ReceiveLimits limits_;
  const std::function<void()> on_admitted_;
  grpc::ResourceQuota quota_;
  Mutex mu_;
  bool admitted_ ABSL_GUARDED_BY(mu_) = false;
  int64_t free_turns_ ABSL_GUARDED_BY(mu_);
  std::deque<std::function<void(Turn)>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server

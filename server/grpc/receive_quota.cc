// Grows a quota on admission, and hands permits to read to those who wait, in order.
#include "server/grpc/receive_quota.h"

#include <utility>

namespace hlod::grpc_server {

ReceiveQuota::ReceiveQuota(const std::string& name, const ReceiveLimits& limits,
                           std::function<void()> admitted)
    : limits_(limits), on_admitted_(std::move(admitted)), quota_(name), free_turns_(limits.chunks_max) {
  quota_.Resize(limits.stranger_bytes_max);
}

void ReceiveQuota::Admit() {
  MutexLock lock(&mu_);
  if (std::exchange(admitted_, true)) return;
  quota_.Resize(limits_.received_bytes_max);
  on_admitted_();
}

ReceiveQuota::Turn ReceiveQuota::MakeTurn() {
  return Turn(this, [self = shared_from_this()](const void*) { self->GiveBack(); });
}

void ReceiveQuota::AwaitTurn(std::function<void(Turn)> ready) {
  {
    MutexLock lock(&mu_);
    if (free_turns_ == 0) {
      waiting_.push_back(std::move(ready));
      return;
    }
    --free_turns_;
  }
  ready(MakeTurn());
}

void ReceiveQuota::GiveBack() {
  std::function<void(Turn)> next;
  {
    MutexLock lock(&mu_);
    if (waiting_.empty()) {
      ++free_turns_;
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next(MakeTurn());
}

}  // namespace hlod::grpc_server

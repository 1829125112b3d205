// Resizes a quota together with its charge, and grants turns to read in the order of the requests.
#include "server/grpc/receive_quota.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "common/rpc/message_size.h"

namespace hlod::grpc_server {

ReceiveLimits ReceiveLimits::Of(const Limits& limits) {
  const int64_t message = rpc::MessageBytesMax(limits),
                common = std::max(limits.chunk_bytes_max, limits.inline_bytes_max);
  ReceiveLimits received;
  received.session_bytes_max = std::max(received.session_bytes_max, 4 * limits.inline_bytes_max);
  received.busy_bytes_max = std::max({received.busy_bytes_max, received.session_bytes_max, 4 * common});
  received.resumed_bytes_max = message + received.busy_bytes_max;
  received.turn_bytes = 2 * limits.chunk_bytes_max;
  return received;
}

ReceiveQuota::ReceiveQuota(const std::string& name, const ReceiveLimits& limits, device::MemoryCharge memory,
                           std::function<void()> admitted)
    : limits_(limits),
      on_admitted_(std::move(admitted)),
      quota_(name),
      memory_(std::move(memory)),
      base_(limits.stranger_bytes_max),
      granted_(base_) {
  quota_.Resize(static_cast<size_t>(granted_));
}

absl::Status ReceiveQuota::Grow(int64_t bytes) {
  RETURN_IF_ERROR(memory_.TryGrow(bytes, "The bytes of a connection that are received and not read"));
  granted_ += bytes;
  quota_.Resize(static_cast<size_t>(granted_));
  return absl::OkStatus();
}

void ReceiveQuota::ShrinkTo(int64_t bytes) {
  memory_.Grow(bytes - granted_);
  granted_ = bytes;
  quota_.Resize(static_cast<size_t>(granted_));
}

absl::Status ReceiveQuota::Admit(How how) {
  {
    MutexLock lock(&mu_);
    if (admitted_) return absl::OkStatus();
    RETURN_IF_ERROR(Grow(limits_.session_bytes_max - base_));
    base_ = limits_.session_bytes_max;
    // Without it, all but the largest messages pass.
    if (how == How::kResumed && Grow(limits_.resumed_bytes_max - base_).ok())
      base_ = limits_.resumed_bytes_max;
    admitted_ = true;
  }
  on_admitted_();
  return absl::OkStatus();
}

absl::Status ReceiveQuota::CheckAdmission() {
  MutexLock lock(&mu_);
  const int64_t before = granted_;
  if (admitted_) return absl::OkStatus();
  RETURN_IF_ERROR(Grow(limits_.session_bytes_max - base_));
  ShrinkTo(before);
  return absl::OkStatus();
}

void ReceiveQuota::OnLargeMessage(absl::Time now) {
  MutexLock lock(&mu_);
  MakeRoom(now);
}

void ReceiveQuota::MakeRoom(absl::Time now) {
  large_ = now;
  if (!admitted_ || base_ >= limits_.busy_bytes_max || !Grow(limits_.busy_bytes_max - base_).ok()) return;
  base_ = limits_.busy_bytes_max;
}

void ReceiveQuota::Tick(absl::Time now) {
  MutexLock lock(&mu_);
  if (base_ != limits_.busy_bytes_max || turns_ > 0 || next_may_be_large_ || now - large_ < kBusy) return;
  ShrinkTo(granted_ - (base_ - limits_.session_bytes_max));
  base_ = limits_.session_bytes_max;
}

bool ReceiveQuota::TakeTurn() {
  if (turns_ >= limits_.turns_max) return false;
  MakeRoom(absl::Now());  // A chunk takes about twice its bytes while it arrives.
  const bool granted = granted_ >= base_ + (turns_ + 1) * limits_.turn_bytes;
  // If there is no memory for it, the bytes of the first turn fit into the room for a message.
  if (!granted && !Grow(limits_.turn_bytes).ok() && turns_ > 0) return false;
  ++turns_;
  return true;
}

ReceiveQuota::Turn ReceiveQuota::MakeTurn() {
  return Turn(this, [self = shared_from_this()](const void*) { self->GiveBack(); });
}

void ReceiveQuota::AwaitTurn(std::function<void(Turn)> ready) {
  {
    MutexLock lock(&mu_);
    if (!TakeTurn()) {
      waiting_.push_back(std::move(ready));
      return;
    }
  }
  ready(MakeTurn());
}

void ReceiveQuota::GiveBack() {
  std::function<void(Turn)> next;
  {
    MutexLock lock(&mu_);
    if (waiting_.empty()) {
      if (--turns_ == 0) ShrinkTo(base_);
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next(MakeTurn());
}

}  // namespace hlod::grpc_server

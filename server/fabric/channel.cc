// Numbers, acknowledgements, and messages that come twice or too early.
#include "server/fabric/channel.h"

#include <utility>

#include "absl/status/statusor.h"
#include "common/base/errors/status.h"

namespace hlod::fabric {
namespace {

// Returns false if the message is too large even without the texts of its error.
bool MakeFit(v1::PeerMessage& message) {
  constexpr size_t kStamps = 64;  // The room for the numbers that are set later.
  const auto fits = [&message] { return message.ByteSizeLong() + kStamps <= Channel::kMessageBytesMax; };
  if (fits()) return true;
  v1::Error* const error =
      message.has_step() && message.step().has_error()     ? message.mutable_step()->mutable_error()
      : message.has_offer() && message.offer().has_error() ? message.mutable_offer()->mutable_error()
      : message.has_offer_refused()                        ? message.mutable_offer_refused()->mutable_error()
                                                           : nullptr;
  if (error == nullptr) return false;
  v1::Error brief;
  brief.set_code(error->code());
  brief.set_kind(error->kind());
  brief.set_text("The error is too long to be told to another daemon.");
  *error = std::move(brief);
  return fits();
}

// Returns about the memory that a message that is kept occupies.
size_t BytesOf(const v1::PeerMessage& message) { return sizeof(message) + message.ByteSizeLong(); }

}  // namespace

const v1::PeerMessage* Channel::Add(v1::PeerMessage message, int64_t now_us) {
  if (!MakeFit(message) || waiting_bytes_ + BytesOf(message) > kWaitingBytesMax) return nullptr;
  if (waiting_.empty()) stalled_us_ = resent_us_ = now_us;
  message.set_sequence(++sent_);
  Stamp(message);
  const v1::PeerMessage& added = waiting_.emplace_back(std::move(message));
  waiting_bytes_ += BytesOf(added);
  return &added;
}

void Channel::Stamp(v1::PeerMessage& message) {
  message.set_received(received_);
  told_ = received_;
  repeated_ = false;
}

absl::StatusOr<std::vector<v1::PeerMessage>> Channel::Take(const v1::PeerMessage& message, int64_t now_us) {
  if (message.received() > sent_) {
    return InvalidArgument("It acknowledges message %d; the last one sent to it is %d.", message.received(),
                           sent_);
  }
  if (message.received() > acknowledged_) {
    acknowledged_ = message.received();
    stalled_us_ = resent_us_ = now_us;
    for (; !waiting_.empty() && waiting_.front().sequence() <= acknowledged_; waiting_.pop_front())
      waiting_bytes_ -= BytesOf(waiting_.front());
  }
  std::vector<v1::PeerMessage> due;
  if (message.sequence() == 0) return due;
  if (message.sequence() <= received_) {
    repeated_ = true;
    return due;
  }
  if (message.sequence() != received_ + 1) {  // A message that does not fit comes again.
    const size_t bytes = BytesOf(message);
    if (early_.size() < kEarlyMax && early_bytes_ + bytes <= kEarlyBytesMax &&
        early_.emplace(message.sequence(), message).second)
      early_bytes_ += bytes;
    return due;
  }
  due.push_back(message);
  ++received_;
  for (auto next = early_.find(received_ + 1); next != early_.end(); next = early_.find(received_ + 1)) {
    early_bytes_ -= BytesOf(next->second);
    due.push_back(std::move(next->second));
    early_.erase(next);
    ++received_;
  }
  return due;
}

bool Channel::MustResend(int64_t now_us, int64_t interval_us) {
  if (waiting_.empty() || now_us - resent_us_ < interval_us) return false;
  resent_us_ = now_us;
  return true;
}

}  // namespace hlod::fabric

// Acknowledges replies in order where it can, and by name beyond the first that is missing or held.
#include "client/runtime/session/acknowledgements.h"

#include <algorithm>

namespace hlod::runtime {
namespace {

// The bytes of unacknowledged replies above which an acknowledgement is sent at once.
constexpr int64_t kUnacknowledgedBytesMax = 1 << 20;

}  // namespace

void Acknowledgements::set_settled_through(uint64_t command) {
  settled_through_ = command;
  answered_beyond_.erase(answered_beyond_.begin(), answered_beyond_.upper_bound(Through()));
}

uint64_t Acknowledgements::Through() const {
  return held_.empty() ? settled_through_ : std::min(settled_through_, *held_.begin() - 1);
}

bool Acknowledgements::HasNews() const {
  return Through() > sent_through_ ||
         std::any_of(answered_beyond_.begin(), answered_beyond_.end(),
                     [this](uint64_t command) { return !held_.contains(command); });
}

bool Acknowledgements::IsUrgent() const { return unacknowledged_bytes_ > kUnacknowledgedBytesMax; }

void Acknowledgements::AddTo(v1::ClientMessage& message) {
  sent_through_ = Through();
  unacknowledged_bytes_ = 0;
  message.set_ack_through(sent_through_);
  answered_beyond_.erase(answered_beyond_.begin(), answered_beyond_.upper_bound(sent_through_));
  for (auto it = answered_beyond_.begin(); it != answered_beyond_.end();) {
    if (held_.contains(*it)) {
      ++it;
    } else {
      message.add_acknowledged(*it);
      it = answered_beyond_.erase(it);
    }
  }
}

}  // namespace hlod::runtime

// Settling, keeping, acknowledging.
#include "server/session/reply_box.h"

#include <utility>

namespace hlod::session {

uint64_t ReplyBox::Receive() {
  settled_.push_back(false);
  ++in_flight_;
  return ++received_;
}

void ReplyBox::Settle(uint64_t command, std::shared_ptr<const v1::Reply> reply) {
  if (command <= settled_through_ || command > received_ || settled_[command - settled_through_ - 1]) return;
  if (reply != nullptr) {
    const int64_t bytes = static_cast<int64_t>(reply->ByteSizeLong());
    kept_[command] = {std::move(reply), bytes};
    kept_bytes_ += bytes;
    outbox_.push_back(command);
  } else if (command != settled_through_ + 1) {
    beyond_.push_back(command);
  }
  settled_[command - settled_through_ - 1] = true;
  --in_flight_;
  while (!settled_.empty() && settled_.front()) {
    settled_.pop_front();
    ++settled_through_;
  }
}

bool ReplyBox::Acknowledge(uint64_t command) {
  if (command > settled_through_) return false;
  while (!kept_.empty() && kept_.begin()->first <= command) {
    kept_bytes_ -= kept_.begin()->second.bytes;
    kept_.erase(kept_.begin());
  }
  return true;
}

bool ReplyBox::AcknowledgeOne(uint64_t command) {
  if (command == 0 || command > received_) return false;
  if (command > settled_through_ && !settled_[command - settled_through_ - 1]) return false;
  if (const auto kept = kept_.find(command); kept != kept_.end()) {
    kept_bytes_ -= kept->second.bytes;
    kept_.erase(kept);
  }
  return true;
}

void ReplyBox::Fill(v1::ServerMessage& message, int64_t bytes_max,
                    std::vector<std::shared_ptr<const v1::Reply>>& keep) {
  int64_t bytes = 0;
  while (!outbox_.empty() && (bytes == 0 || bytes < bytes_max)) {
    const auto kept = kept_.find(outbox_.front());
    outbox_.pop_front();
    if (kept == kept_.end()) continue;  // Acknowledged meanwhile, on a promise that it was seen.
    bytes += kept->second.bytes;
    keep.push_back(kept->second.reply);
    // The message borrows the reply: a download's bytes are not copied once more.
    message.mutable_replies()->UnsafeArenaAddAllocated(const_cast<v1::Reply*>(kept->second.reply.get()));
  }
  // With replies left, what they settle must not be told yet.
  if (outbox_.empty()) told_through_ = settled_through_;
  message.set_settled_through(told_through_);
  for (const uint64_t command : beyond_) {
    if (command > told_through_) message.add_settled(command);
  }
  beyond_.clear();
}

void ReplyBox::Detach(v1::ServerMessage& message) {
  while (message.replies_size() > 0) message.mutable_replies()->UnsafeArenaReleaseLast();
}

void ReplyBox::Rewind() {
  outbox_.clear();
  for (const auto& [command, kept] : kept_) outbox_.push_back(command);
  told_through_ = 0;
  beyond_.clear();
  for (size_t i = 0; i < settled_.size(); ++i) {
    const uint64_t command = settled_through_ + 1 + i;
    if (settled_[i] && !kept_.contains(command)) beyond_.push_back(command);
  }
}

}  // namespace hlod::session

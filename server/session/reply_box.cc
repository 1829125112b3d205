// Settles commands, and keeps and acknowledges their replies.
#include "server/session/reply_box.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"

namespace hlod::session {
namespace {

// The bytes besides the reply: its counters, its place in the map and in the outbox.
constexpr int64_t kKeptOverhead = 160;

}  // namespace

uint64_t ReplyBox::Receive(Piece piece) {
  ++received_;
  unsettled_.insert(unsettled_.end(), received_);
  commands_.Charge(SessionBudgets::kCommandBytes);
  if (piece != Piece::kNone) {
    ++pieces_ahead_;
    if (pieces_.empty() || pieces_.back().last + 1 != received_ || pieces_.back().piece != piece)
      pieces_.push_back({received_, received_, piece});
    pieces_.back().last = received_;
  }
  return received_;
}

void ReplyBox::Settle(uint64_t command, std::shared_ptr<const v1::Reply> reply) {
  if (!unsettled_.contains(command)) return;
  // Memory is taken first, so that a command that finds none can be settled again.
  if (reply != nullptr) {
    const int64_t held = static_cast<int64_t>(reply->SpaceUsedLong()) + kKeptOverhead;
    const int64_t wire = static_cast<int64_t>(reply->ByteSizeLong());
    outbox_.push_back(command);
    absl::Cleanup take_back = [this] { outbox_.pop_back(); };
    kept_[command] = {std::move(reply), wire, held};
    std::move(take_back).Cancel();
    unacknowledged_.Charge(held);
  } else if (command != settled_through_ + 1) {
    beyond_.push_back(command);
  }
  unsettled_.erase(command);
  commands_.Release(SessionBudgets::kCommandBytes);
  settled_through_ = unsettled_.empty() ? received_ : *unsettled_.begin() - 1;
  while (!pieces_.empty() && pieces_.front().first <= settled_through_) {
    Run& run = pieces_.front();
    const uint64_t last = std::min(run.last, settled_through_);
    pieces_ahead_ -= static_cast<int64_t>(last - run.first + 1);
    run.first = last + 1;
    if (run.first > run.last) pieces_.pop_front();
  }
}

void ReplyBox::Drop(std::map<uint64_t, Kept>::iterator kept) {
  unacknowledged_.Release(kept->second.held_bytes);
  kept_.erase(kept);
}

bool ReplyBox::Acknowledge(uint64_t command) {
  if (command > settled_through_) return false;
  while (!kept_.empty() && kept_.begin()->first <= command) Drop(kept_.begin());
  return true;
}

bool ReplyBox::AcknowledgeOne(uint64_t command) {
  if (command == 0 || !IsSettled(command)) return false;
  if (const auto kept = kept_.find(command); kept != kept_.end()) Drop(kept);
  return true;
}

void ReplyBox::Fill(v1::ServerMessage& message, int64_t bytes_max,
                    std::vector<std::shared_ptr<const v1::Reply>>& keep) {
  told_before_ = told_through_;
  int64_t bytes = 0;
  while (!outbox_.empty() && (bytes == 0 || bytes < bytes_max)) {
    const auto kept = kept_.find(outbox_.front());
    if (kept == kept_.end()) {  // It was acknowledged meanwhile: the client had received the reply.
      outbox_.pop_front();
      continue;
    }
    bytes += kept->second.wire_bytes;
    keep.push_back(kept->second.reply);
    // The message borrows the reply, so that a download's bytes are not copied again.
    message.mutable_replies()->UnsafeArenaAddAllocated(const_cast<v1::Reply*>(kept->second.reply.get()));
    outbox_.pop_front();
  }
  // From here on no memory is needed: all that was removed above is in the message (PutBack).
  message.mutable_settled()->Reserve(static_cast<int>(beyond_.size()));
  // While replies are left, the commands that they settle must not be reported yet.
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

void ReplyBox::PutBack(const v1::ServerMessage& unsent) {
  told_through_ = told_before_;
  for (int i = unsent.replies_size(); i-- > 0;) outbox_.push_front(unsent.replies(i).command());
  beyond_.insert(beyond_.end(), unsent.settled().begin(), unsent.settled().end());
}

void ReplyBox::Rewind() {
  outbox_.clear();
  for (const auto& [command, kept] : kept_) outbox_.push_back(command);
  told_through_ = told_before_ = 0;
  beyond_.clear();
  // Skips pieces of uploads, of which there may be millions: their replies are kept or acknowledged.
  auto run = pieces_.begin();
  for (uint64_t command = settled_through_ + 1; command <= received_; ++command) {
    while (run != pieces_.end() && run->last < command) ++run;
    if (run != pieces_.end() && run->first <= command && run->piece == Piece::kOfUpload) {
      command = run->last;
    } else if (IsSettled(command) && !kept_.contains(command)) {
      beyond_.push_back(command);
    }
  }
}

}  // namespace hlod::session

// The numbered messages between two members, which survive the end of a link: what is not acknowledged is
// kept, and sent again on the next one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hlod/v1/peer.pb.h"

namespace hlod::fabric {

// Not thread-safe.
class Channel {
 public:
  // The most memory of messages that wait for an acknowledgement. What clients cause stays far below it:
  // their offers are added only while there is room (HasRoom), and the rest is bounded by the launches that
  // have begun and the offers that a leader keeps.
  static constexpr size_t kWaitingBytesMax = 64 << 20;
  // The messages, and their memory, that may wait before offers do.
  static constexpr size_t kRoomMessages = 256, kRoomBytes = 1 << 20;
  // The most messages that are kept because an earlier one has not arrived, and their memory.
  static constexpr size_t kEarlyMax = 256, kEarlyBytesMax = 16 << 20;
  // The most bytes of a message. The receiver of a larger one ends the link, and it would be sent on the next
  // one again.
  static constexpr size_t kMessageBytesMax = 1 << 20;
  // After this number of messages without one back, an acknowledgement is due by itself.
  static constexpr uint64_t kAcknowledgeAfter = 64;

  // Numbers a message, keeps a copy, and returns it. A message that is too large loses the text of its error.
  // Returns null when there is no room for it within kWaitingBytesMax, and when it is too large even so.
  const v1::PeerMessage* Add(v1::PeerMessage message, int64_t now_us);
  // States in an unnumbered message how far this side has received.
  void Stamp(v1::PeerMessage& message);
  // Takes a message: its acknowledgement and, unless it came before, its content. Returns the messages that
  // are to be delivered now, in order. INVALID_ARGUMENT for an acknowledgement of what was never sent.
  absl::StatusOr<std::vector<v1::PeerMessage>> Take(const v1::PeerMessage& message, int64_t now_us);
  // True when an acknowledgement must be sent even if there is nothing to say.
  bool MustAcknowledge() const { return received_ - told_ >= kAcknowledgeAfter; }
  bool MayAcknowledge() const { return received_ != told_ || repeated_; }

  // A new link begins: the time until an acknowledgement is due is counted from now.
  void OnLinked(int64_t now_us) { stalled_us_ = resent_us_ = now_us; }

  // The messages that have not been acknowledged, oldest first, and their memory.
  const std::deque<v1::PeerMessage>& waiting() const { return waiting_; }
  size_t waiting_bytes() const { return waiting_bytes_; }
  // False when an offer is to wait until some of these are acknowledged.
  bool HasRoom() const { return waiting_.size() < kRoomMessages && waiting_bytes_ < kRoomBytes; }
  // Returns true once per `interval_us` while messages wait and none is acknowledged: they are to be sent
  // again.
  bool MustResend(int64_t now_us, int64_t interval_us);
  // The time since messages wait and none of them is acknowledged; 0 if none waits.
  int64_t StalledFor(int64_t now_us) const { return waiting_.empty() ? 0 : now_us - stalled_us_; }

 private:
  std::deque<v1::PeerMessage> waiting_;
  std::map<uint64_t, v1::PeerMessage> early_;
  size_t waiting_bytes_ = 0, early_bytes_ = 0;
  uint64_t sent_ = 0;          // The last number given.
  uint64_t acknowledged_ = 0;  // By the other side.
  uint64_t received_ = 0;      // All up to this number have arrived.
  uint64_t told_ = 0;          // The last `received_` that was sent.
  bool repeated_ = false;      // A message came twice, so its acknowledgement may have been lost.
  int64_t stalled_us_ = 0;     // The time at which messages began to wait, or the last one was acknowledged.
  int64_t resent_us_ = 0;      // The same, or when they were sent again.
};

}  // namespace hlod::fabric

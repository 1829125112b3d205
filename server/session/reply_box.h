// Which commands are finished, and the replies that the client has not acknowledged.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "proto/hlod/v1/session.pb.h"

namespace hlod::session {

// Not thread-safe: the session locks. Commands are received in order of their ids, 1, 2, 3, ..., and settle
// in any order.
class ReplyBox {
 public:
  // The next command has come; returns its id.
  uint64_t Receive();
  // A command is finished. Its reply, if it has one, is kept until acknowledged and sent with the next
  // message.
  void Settle(uint64_t command, std::shared_ptr<const v1::Reply> reply);
  // The client has the replies to all commands up to `command`. False: that is more than are settled.
  bool Acknowledge(uint64_t command);
  // ... and to this one. False: it is not settled.
  bool AcknowledgeOne(uint64_t command);

  // Whether there is a reply to send, or at least progress to tell.
  bool has_replies() const { return !outbox_.empty(); }
  bool has_news() const { return !outbox_.empty() || !beyond_.empty() || told_through_ != settled_through_; }
  // Moves what is to be sent into `message`, up to some `bytes_max`. The replies stay the box's: call Detach
  // before the message dies.
  void Fill(v1::ServerMessage& message, int64_t bytes_max,
            std::vector<std::shared_ptr<const v1::Reply>>& keep);
  static void Detach(v1::ServerMessage& message);
  // The connection is new: everything unacknowledged is to be sent again.
  void Rewind();

  uint64_t received_through() const { return received_; }
  uint64_t settled_through() const { return settled_through_; }
  // Commands that are not settled, and how far the last one is past the first of them.
  int64_t in_flight() const { return in_flight_; }
  int64_t window() const { return static_cast<int64_t>(received_ - settled_through_); }
  int64_t unacknowledged_bytes() const { return kept_bytes_; }

 private:
  struct Kept {
    std::shared_ptr<const v1::Reply> reply;
    int64_t bytes = 0;
  };
  uint64_t received_ = 0;
  uint64_t settled_through_ = 0;
  uint64_t told_through_ = 0;  // As the last message said.
  std::deque<bool> settled_;   // Of the commands after settled_through_.
  int64_t in_flight_ = 0;
  std::vector<uint64_t> beyond_;  // To be told: settled without a reply while earlier ones are not.
  std::map<uint64_t, Kept> kept_;
  int64_t kept_bytes_ = 0;
  std::deque<uint64_t> outbox_;  // Commands whose replies are to be sent.
};

}  // namespace hlod::session

// Which commands are finished, and the replies that the client has not acknowledged.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "absl/container/btree_set.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/session/budgets.h"

namespace hlod::session {

// Not thread-safe: the session locks. Commands are received in order of their ids, 1, 2, 3, ..., and settle
// in any order.
class ReplyBox {
 public:
  // What the replies take is charged to the budget `replies`, and what each command takes until it is settled
  // to `commands`.
  explicit ReplyBox(SessionBudgets& budgets)
      : unacknowledged_(budgets.replies), commands_(budgets.commands) {}

  // Pieces belong to a command that they follow, and do not widen the window: there may be any number of
  // them.
  enum class Piece { kNone, kOfUpload, kOfProgram };
  // The next command has come; returns its id. Pieces of uploads are always settled with a reply.
  uint64_t Receive(Piece piece = Piece::kNone);
  // A command is finished. Its reply, if it has one, is kept until acknowledged and sent with the next
  // message.
  void Settle(uint64_t command, std::shared_ptr<const v1::Reply> reply);
  // The client has the replies to all commands up to `command`. False: that is more than are settled.
  bool Acknowledge(uint64_t command);
  // ... and to this one. False: it is not settled.
  bool AcknowledgeOne(uint64_t command);

  // Whether there is a reply to send, or at least progress to report.
  bool has_replies() const { return !outbox_.empty(); }
  bool has_news() const { return has_replies() || untold() > 0; }
  // Commands that are settled, as far as no message has said so.
  uint64_t untold() const { return settled_through_ - told_through_ + beyond_.size(); }
  // Moves what is to be sent into `message`, up to some `bytes_max`. The replies stay the box's: call Detach
  // before the message dies.
  void Fill(v1::ServerMessage& message, int64_t bytes_max,
            std::vector<std::shared_ptr<const v1::Reply>>& keep);
  static void Detach(v1::ServerMessage& message);
  // The message that was filled last could not be sent: what it has goes with the next one.
  void PutBack(const v1::ServerMessage& unsent);
  // The connection is new: everything unacknowledged is to be sent again.
  void Rewind();

  uint64_t received_through() const { return received_; }
  uint64_t settled_through() const { return settled_through_; }
  // Commands that are not settled, and how far the last one is past the first of them, pieces not counted.
  int64_t in_flight() const { return static_cast<int64_t>(unsettled_.size()); }
  int64_t window() const { return static_cast<int64_t>(received_ - settled_through_) - pieces_ahead_; }

 private:
  struct Kept {
    std::shared_ptr<const v1::Reply> reply;
    int64_t wire_bytes = 0, held_bytes = 0;
  };
  struct Run {
    uint64_t first, last;
    Piece piece;
  };
  void Drop(std::map<uint64_t, Kept>::iterator kept);
  bool IsSettled(uint64_t command) const { return command <= received_ && !unsettled_.contains(command); }

  device::ByteBudget& unacknowledged_;
  device::ByteBudget& commands_;
  uint64_t received_ = 0;
  uint64_t settled_through_ = 0;
  uint64_t told_through_ = 0;            // As the last message said ...
  uint64_t told_before_ = 0;             // ... and the one before.
  absl::btree_set<uint64_t> unsettled_;  // Commands that are received and not settled.
  std::deque<Run> pieces_;               // After settled_through_.
  int64_t pieces_ahead_ = 0;             // How many those are.
  std::vector<uint64_t> beyond_;  // To be reported: settled without a reply while earlier ones are not.
  std::map<uint64_t, Kept> kept_;
  std::deque<uint64_t> outbox_;  // Commands whose replies are to be sent.
};

}  // namespace hlod::session

// Records which commands are settled, and keeps the replies that the client has not acknowledged.
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

// Not thread-safe; the session locks. Commands are received in the order of their ids 1, 2, 3, ..., and
// settle in any order.
class ReplyBox {
 public:
  // Charges replies to the budget `replies`, and each command until it is settled to `commands`.
  explicit ReplyBox(SessionBudgets& budgets)
      : unacknowledged_(budgets.replies), commands_(budgets.commands) {}

  // A piece belongs to the command that it follows, and does not widen the window, because there may be any
  // number of pieces.
  enum class Piece { kNone, kOfUpload, kOfProgram };
  // Records the arrival of the next command and returns its id. Pieces of uploads are always settled with a
  // reply.
  uint64_t Receive(Piece piece = Piece::kNone);
  // Settles a command. Its reply, unless null, is kept until acknowledged, and sent with the next message.
  void Settle(uint64_t command, std::shared_ptr<const v1::Reply> reply);
  // Acknowledges the replies to all commands up to `command`. Returns false when these are not all settled.
  bool Acknowledge(uint64_t command);
  // Acknowledges the reply to one command. Returns false when it is not settled.
  bool AcknowledgeOne(uint64_t command);

  // Return true when there is a reply to send, and when there is a reply or progress to send.
  bool has_replies() const { return !outbox_.empty(); }
  bool has_news() const { return has_replies() || untold() > 0; }
  // The number of settled commands that no message has reported.
  uint64_t untold() const { return settled_through_ - told_through_ + beyond_.size(); }
  // Moves replies of about `bytes_max`, and the progress, into `message`. The box keeps the replies: Detach
  // must be called before the message is destroyed.
  void Fill(v1::ServerMessage& message, int64_t bytes_max,
            std::vector<std::shared_ptr<const v1::Reply>>& keep);
  static void Detach(v1::ServerMessage& message);
  // Puts back a message from Fill that could not be sent: its content goes with the next one.
  void PutBack(const v1::ServerMessage& unsent);
  // Prepares for a new connection: everything unacknowledged is sent again.
  void Rewind();

  uint64_t received_through() const { return received_; }
  uint64_t settled_through() const { return settled_through_; }
  // The number of commands that are not settled, and the distance from the first of them to the last command,
  // without counting pieces.
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
  uint64_t told_through_ = 0;            // settled_through as reported by the last message.
  uint64_t told_before_ = 0;             // settled_through as reported by the message before.
  absl::btree_set<uint64_t> unsettled_;  // Commands that were received and are not settled.
  std::deque<Run> pieces_;               // The pieces after settled_through_.
  int64_t pieces_ahead_ = 0;             // The number of pieces in pieces_.
  // The commands to report that settled without a reply although an earlier command is not settled.
  std::vector<uint64_t> beyond_;
  std::map<uint64_t, Kept> kept_;
  std::deque<uint64_t> outbox_;  // Commands whose replies are to be sent.
};

}  // namespace hlod::session

// What a session has to send and has not sent: commands, cancels and acknowledgements, in order, and the
// messages that are made of them. Commands are kept as bytes of a message, so that one is serialized once,
// however often it is sent.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "client/runtime/pipe.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::internal {

// Not thread-safe: the session locks.
class Outbox {
 public:
  // How many commands the daemon takes in one message; 0 when it does not say: it takes one, in a field of
  // its own. REQUIRES: nothing was encoded yet.
  void set_commands_per_message_max(int64_t max) { commands_per_message_max_ = max; }

  // A command as the bytes of its field in a message.
  std::shared_ptr<const std::string> Encode(const v1::Command& command) const;

  void AddCommand(std::shared_ptr<const std::string> encoded) {
    command_bytes_ += encoded->size();
    items_.push_back({std::move(encoded), 0});
  }
  void AddCancel(uint64_t command) { items_.push_back({nullptr, command}); }
  // A message that has nothing but a header.
  void AddHeader() { items_.push_back({nullptr, 0}); }
  void Clear() {
    items_.clear();
    command_bytes_ = 0;
  }
  bool empty() const { return items_.empty(); }
  // Of the commands that wait.
  size_t command_bytes() const { return command_bytes_; }

  // Takes the next message: a cancel, a bare header, or as many commands as are there and fit. `header` is
  // what it says beside that. REQUIRES: !empty().
  MessageParts Next(v1::ClientMessage header);

 private:
  struct Item {
    std::shared_ptr<const std::string> command;  // Else a cancel ...
    uint64_t cancel = 0;                         // ... of this command, or a bare header.
  };
  std::deque<Item> items_;
  size_t command_bytes_ = 0;
  int64_t commands_per_message_max_ = 0;
};

}  // namespace hlod::internal

// The queue of what a session still has to send: commands, cancels and acknowledgements, in order. It packs
// them into messages. A command is kept as the bytes of its field in a message, so that it is serialized
// once, even if it is sent several times.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "client/runtime/connection/pipe.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

// Not thread-safe; the session locks.
class Outbox {
 public:
  // Sets the number of commands that the daemon accepts per message; 0 if the daemon does not state it, which
  // means one command, in a separate field. REQUIRES: no command was encoded yet.
  void set_commands_per_message_max(int64_t max) { commands_per_message_max_ = max; }

  // Serializes a command, with the tag and length of its field in a message.
  std::shared_ptr<const std::string> Encode(const v1::Command& command) const;

  void AddCommand(std::shared_ptr<const std::string> encoded) {
    command_bytes_ += encoded->size();
    items_.push_back({std::move(encoded), 0});
  }
  void AddCancel(uint64_t command) { items_.push_back({nullptr, command}); }
  // Queues a message that has only a header.
  void AddHeader() { items_.push_back({nullptr, 0}); }
  void Clear() {
    items_.clear();
    command_bytes_ = 0;
  }
  bool empty() const { return items_.empty(); }
  // The bytes of the queued commands.
  size_t command_bytes() const { return command_bytes_; }

  // Takes the next message: a cancel, a bare header, or the queued commands that fit into one. `header` holds
  // the message's other fields. REQUIRES: !empty().
  MessageParts Next(v1::ClientMessage header);

 private:
  struct Item {
    std::shared_ptr<const std::string> command;  // Null for a cancel or a bare header.
    uint64_t cancel = 0;                         // The command to cancel; 0 for a bare header.
  };
  std::deque<Item> items_;
  size_t command_bytes_ = 0;
  int64_t commands_per_message_max_ = 0;
};

}  // namespace hlod::runtime

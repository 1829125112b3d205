// The answers of the daemon that a client has seen, and those that it has acknowledged. The essay in
// session.h tells why.
#pragma once

#include <cstdint>
#include <set>

#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

// Not thread-safe.
class Acknowledgements {
 public:
  // Must be called when a reply to `command` has come.
  void Answered(uint64_t command) { answered_beyond_.insert(command); }
  // Adds to the bytes that the daemon keeps until a message acknowledges them.
  void AddBytes(int64_t bytes) { unacknowledged_bytes_ += bytes; }
  uint64_t settled_through() const { return settled_through_; }
  void set_settled_through(uint64_t command);

  // Keeps a command's reply unacknowledged until Release(), which returns false when it was not held.
  void Hold(uint64_t command) { held_.insert(command); }
  bool Release(uint64_t command) { return held_.erase(command) != 0; }

  // Returns true when a message sent now would acknowledge more than the last one did.
  bool HasNews() const;
  // Returns true when the daemon keeps more than 1 MiB of replies, for which news is sent at once.
  bool IsUrgent() const;
  // Adds to the message what may be acknowledged.
  void AddTo(v1::ClientMessage& message);

 private:
  uint64_t Through() const;

  uint64_t settled_through_ = 0;  // As the daemon said last.
  uint64_t sent_through_ = 0;     // As the last message said.
  int64_t unacknowledged_bytes_ = 0;
  std::set<uint64_t> held_;
  // Commands whose replies have come, and to which `ack_through` does not reach yet.
  std::set<uint64_t> answered_beyond_;
};

}  // namespace hlod::runtime

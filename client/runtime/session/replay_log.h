// The command log: the commands from the first unsettled one to the last one added, in order of id and
// without gaps, with their bytes for a replay. The essay in session.h tells what it is for.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "client/runtime/session/command.h"
#include "common/base/limits.h"

namespace hlod::runtime {

// Not thread-safe.
class ReplayLog {
 public:
  struct Entry {
    std::shared_ptr<const std::string> bytes;  // Encoded by the Outbox; null when the command is done.
    Command command;
    // True for a piece of an upload or a full piece of a program, which the daemon's window does not count.
    bool piece = false;
  };

  // Returns the id of the next command, which Append() must add then.
  uint64_t NextId() { return next_++; }
  uint64_t last_id() const { return next_ - 1; }
  void Append(Entry entry);
  // Returns null for a command that is settled, or does not exist.
  Entry* Find(uint64_t command);
  // Releases the bytes of an entry whose command is done, which no replay needs any more.
  void Release(Entry& entry);
  // Removes the oldest entry. REQUIRES: it is released.
  void PopFront();
  void Clear();

  bool empty() const { return entries_.empty(); }
  Entry& front() { return entries_.front(); }
  const std::deque<Entry>& entries() const { return entries_; }
  int64_t unsettled() const { return unsettled_; }
  // Returns true when the daemon will not refuse the next command for its number, and the bytes kept are few.
  bool HasRoom(const Limits& limits) const;

 private:
  std::deque<Entry> entries_;
  uint64_t next_ = 1;
  int64_t unsettled_ = 0;  // The number of entries that are not released.
  int64_t pieces_ = 0;     // The number of entries that are pieces.
  int64_t bytes_ = 0;      // The sum of the entries' bytes.
};

}  // namespace hlod::runtime

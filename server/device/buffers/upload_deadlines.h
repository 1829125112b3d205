// When an upload whose bytes do not come is given up.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"

namespace hlod::device {

// A client sends the bytes of its uploads in the order of their commands, one after the other. So an upload
// waits `wait` from its declaration, and again from each progress of its own or of one declared before it:
// while that one moves, it waits its turn. Progress of later uploads does not help it: they have overtaken an
// upload whose bytes do not come. Not thread-safe.
class UploadDeadlines {
 public:
  explicit UploadDeadlines(absl::Duration wait) : wait_(wait) {}

  void Declare(uint64_t command, absl::Time now) { declared_[command] = now; }
  // Bytes of a declared upload came. `now` does not go back.
  void Progress(uint64_t command, absl::Time now);
  // The upload is settled.
  void End(uint64_t command) { declared_.erase(command); }
  // The uploads whose time is over, in the order of their commands.
  std::vector<uint64_t> Late(absl::Time now) const;

 private:
  const absl::Duration wait_;
  std::map<uint64_t, absl::Time> declared_;  // Uploads under way.
  // The last progress of the uploads up to a command; later commands have later times. At most one entry
  // between two uploads under way.
  std::map<uint64_t, absl::Time> progress_;
};

}  // namespace hlod::device

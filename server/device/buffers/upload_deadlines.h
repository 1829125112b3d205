// Decides when an upload whose bytes do not arrive is abandoned.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"

namespace hlod::device {

// A client sends the bytes of its uploads one after the other, in the order of their commands. An upload
// therefore waits for `wait` after its declaration, and after each progress of its own or of an upload
// declared before it, because that upload's bytes come first. Progress of later uploads does not extend the
// wait, because they have overtaken it. Not thread-safe.
class UploadDeadlines {
 public:
  explicit UploadDeadlines(absl::Duration wait) : wait_(wait) {}

  void Declare(uint64_t command, absl::Time now) { declared_[command] = now; }
  // Records that bytes of a declared upload arrived. `now` never decreases.
  void Progress(uint64_t command, absl::Time now);
  // Removes an upload that is settled.
  void End(uint64_t command) { declared_.erase(command); }
  // Returns the uploads whose time is over, in the order of their commands.
  std::vector<uint64_t> Late(absl::Time now) const;

 private:
  const absl::Duration wait_;
  std::map<uint64_t, absl::Time> declared_;  // The pending uploads, and when they were declared.
  // The time of the last progress of the uploads up to a command. Later commands have later times. There is
  // at most one entry between two pending uploads.
  std::map<uint64_t, absl::Time> progress_;
};

}  // namespace hlod::device

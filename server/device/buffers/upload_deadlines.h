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
// wait, because they have overtaken it.
//
// A client that is not heard either may be behind a broken network, which it notices later than its bytes
// fail to come: its uploads wait for `grace` beyond that. When it has resumed its session, it may have to
// send everything again, and they wait anew. Not thread-safe.
class UploadDeadlines {
 public:
  UploadDeadlines(absl::Duration wait, absl::Duration grace) : wait_(wait), grace_(grace) {}

  void Declare(uint64_t command, absl::Time now) { declared_[command] = now; }
  // Records that bytes of a declared upload arrived. `now` never decreases.
  void Progress(uint64_t command, absl::Time now);
  // Removes an upload that is settled.
  void End(uint64_t command) { declared_.erase(command); }
  // Called when the client has resumed its session: all uploads wait anew.
  void Restart(absl::Time now) { restarted_ = now; }
  // Returns the uploads whose time is over, in the order of their commands. `heard` is the time of the
  // client's last message.
  std::vector<uint64_t> Late(absl::Time now, absl::Time heard) const;

 private:
  const absl::Duration wait_, grace_;
  absl::Time restarted_ = absl::InfinitePast();
  std::map<uint64_t, absl::Time> declared_;  // The pending uploads, and when they were declared.
  // The time of the last progress of the uploads up to a command. Later commands have later times. There is
  // at most one entry between two pending uploads.
  std::map<uint64_t, absl::Time> progress_;
};

}  // namespace hlod::device

// Notices that a connection which may stall has gone silent: after a while without an event the daemon is
// asked for a sign of life, and when none comes in time, the connection counts as broken.
#pragma once

#include <algorithm>
#include <optional>

#include "absl/time/time.h"

namespace hlod::runtime {

// Not thread-safe.
class Silence {
 public:
  // Begins anew, as with a new connection.
  void Restart(absl::Time now) {
    heard_ = polled_ = now;
    asked_.reset();
  }

  // Returns when a thread that polls from now on must call Ask() if no event comes before. `question` is the
  // silence after which the daemon is asked, `silence` the time that it has for an answer.
  absl::Time NextQuestion(absl::Time now, absl::Duration question, absl::Duration silence) {
    // Messages that came while no thread polled have not been seen, so that time was not silence.
    if (now - polled_ > question) {
      heard_ = now;
      if (asked_.has_value()) asked_ = now;
    }
    return asked_.has_value() ? *asked_ + silence : heard_ + question;
  }

  void Polled(absl::Time now) { polled_ = now; }
  // Notes that the last poll gave an event. A finished write may have reached only the kernel, so it does not
  // count as an answer; but as long as writes finish, an answer may still be queued behind them.
  void Heard(bool write_finished) {
    heard_ = polled_;
    asked_ = asked_.has_value() && write_finished ? std::optional(polled_) : std::nullopt;
  }
  bool HasLastedUntil(absl::Time question) const { return polled_ >= question; }

  // Notes that the daemon is asked now. Returns false when it was asked before and has not answered.
  bool Ask() {
    const bool first = !asked_.has_value();
    asked_ = first ? std::optional(polled_) : std::nullopt;
    return first;
  }

 private:
  absl::Time heard_, polled_;        // The last event, and the last poll.
  std::optional<absl::Time> asked_;  // The time of the question that is not answered yet.
};

}  // namespace hlod::runtime

// The rendezvous at which the participants of a run wait for each other; collectives are built on it.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/system/carrier.h"
#include "common/base/system/mutex.h"

namespace hlod {

// Participants are numbered from 0 and each runs on a thread of its own. A group meets at a place, identified
// by a pointer that the whole group uses. When a participant has left, or none can proceed, all stop waiting.
// Thread-safe.
class Rendezvous {
 public:
  // Called every few milliseconds while a participant waits. Returning an error ends its wait with that
  // error.
  using Stop = absl::FunctionRef<absl::Status()>;
  // The work that a group does together. It runs once, on the thread of the participant that arrives last,
  // and receives the contributions of all in the group's order. The others wait until it has returned.
  using Work = absl::FunctionRef<absl::Status(absl::Span<void* const> brought)>;

  // `names` has one entry per participant, for messages. Those of other processes never come here: they meet
  // the others through `elsewhere`, which is not owned. Null: all are here.
  explicit Rendezvous(std::vector<std::string> names, const Elsewhere* elsewhere = nullptr);
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  // Waits until every participant of `group`, which includes `participant`, is at `place` (called `what` in
  // messages), and runs `work` on one of them. Returns the result of the work; the error of `stop`; or, when
  // another participant has ended or all wait for each other at different places, ABORTED with a text that
  // names it.
  absl::Status Meet(int participant, const void* place, std::string_view what, absl::Span<const int> group,
                    void* brought, Stop stop, Work work);
  // Reports that a participant's run is over. The others stop waiting if it ended with an error, or if they
  // wait for it.
  void Leave(int participant, const absl::Status& status);

  const Elsewhere* elsewhere() const { return elsewhere_; }

  // cause() is the error of the first participant that failed, or OK. context() says which one it was and
  // what it was doing.
  absl::Status cause() const;
  std::string context() const;

 private:
  // A group at a place. First it waits until all have arrived, then its work runs, and then it is over.
  struct Table {
    const void* place;
    std::string what;
    std::vector<int> group;
    // The contributions by position in the group; null for a participant that has not arrived.
    std::vector<void*> brought;
    size_t missing;
    bool over = false;
    absl::Status result;
    int leaving = 0;  // The number of participants that have not read the result yet.
  };

  Table& TableOf(const void* place, std::string_view what, absl::Span<const int> group)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Fail(absl::Status cause, std::string context) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the error that the other participants get.
  absl::Status Released() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Calls Fail when a participant that others wait for has left, or when all are waiting.
  void CheckProgress() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::vector<std::string> names_;
  const Elsewhere* const elsewhere_;
  mutable Mutex mu_;
  CondVar changed_ ABSL_GUARDED_BY(mu_);
  std::list<Table> tables_ ABSL_GUARDED_BY(mu_);
  // By participant, true when it has left, or is in another process.
  std::vector<bool> absent_ ABSL_GUARDED_BY(mu_);
  // By participant, the table that it waits at, or null.
  std::vector<const Table*> waits_at_ ABSL_GUARDED_BY(mu_);
  absl::Status cause_ ABSL_GUARDED_BY(mu_);
  std::string context_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod

// A place where the members of a run wait for each other: what collectives stand on.
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
#include "common/base/mutex.h"

namespace hlod {

// Members are numbered from 0 and run on a thread each. Groups of them meet, at places that they agree on by
// a pointer; one that is gone, or a state in which nobody can go on, ends the waiting of all. Thread-safe.
class Meeting {
 public:
  // Asked while a member waits, each few milliseconds: an error is why that member has to stop.
  using Stop = absl::FunctionRef<absl::Status()>;
  // What a group does together, on the thread of the member that came last: it gets what each member brought,
  // in the group's order. The others stay until it has returned.
  using Work = absl::FunctionRef<absl::Status(absl::Span<void* const> brought)>;

  // `names`: what messages call the members, one each.
  explicit Meeting(std::vector<std::string> names);
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // Waits until each of `group`, `member` among them, is at `place` (`what` to people), and lets one of them
  // work. Returns what the work did; what `stop` said; or, when another member has ended or all wait for each
  // other at different places, ABORTED with a text that names that member.
  absl::Status Meet(int member, const void* place, std::string_view what, absl::Span<const int> group,
                    void* brought, Stop stop, Work work);
  // A member's run is over. With an error, or when others wait for it, these stop waiting.
  void Leave(int member, const absl::Status& status);

  // Why the first member failed, OK when none has; and what it was at, with its name.
  absl::Status cause() const;
  std::string context() const;

 private:
  // A group at a place. Open until all have come; then its work is under way, and then it is over.
  struct Table {
    const void* place;
    std::string what;
    std::vector<int> group;
    std::vector<void*> brought;  // By position in the group; null: not there yet.
    size_t missing;
    bool over = false;
    absl::Status result;
    int leaving = 0;  // Members that have not looked at the result yet.
  };

  Table& TableOf(const void* place, std::string_view what, absl::Span<const int> group)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Fail(absl::Status cause, std::string context) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The error that the others return.
  absl::Status Released() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Fails when a member is waited for that has left, or everybody waits.
  void CheckProgress() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::vector<std::string> names_;
  mutable Mutex mu_;
  CondVar changed_ ABSL_GUARDED_BY(mu_);
  std::list<Table> tables_ ABSL_GUARDED_BY(mu_);
  std::vector<bool> left_ ABSL_GUARDED_BY(mu_);
  std::vector<const Table*> waits_at_ ABSL_GUARDED_BY(mu_);  // By member; null: it does not wait.
  absl::Status cause_ ABSL_GUARDED_BY(mu_);
  std::string context_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod

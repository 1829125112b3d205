// A list of sessions, and the thread that visits them.
#include "client/runtime/session/heart.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/runtime/session/session.h"

namespace hlod::runtime {
namespace {

class Heart {
 public:
  // Outlives the thread, which may still run when the process ends.
  static Heart& Of() {
    static Heart* const heart = new Heart;
    return *heart;
  }
  void Add(const std::shared_ptr<Session>& session, absl::Duration beat) {
    absl::MutexLock lock(&mu_);
    sessions_.push_back({session, beat, absl::Now() + beat});
    changed_.Signal();
    if (threads_ > 0) return;
    try {
      std::thread([this] { Run(); }).detach();
      ++threads_;
    } catch (const std::system_error&) {
      sessions_.clear();
    }
  }
  void LookAgain() {
    absl::MutexLock lock(&mu_);
    changed_.Signal();
  }
  int threads() {
    absl::MutexLock lock(&mu_);
    return threads_;
  }

 private:
  struct Beating {
    std::weak_ptr<Session> session;
    absl::Duration beat;
    absl::Time next;
  };
  void Run() {
    for (;;) {
      // The references are released without the lock, because a session may end then.
      std::vector<std::shared_ptr<Session>> due;
      {
        absl::MutexLock lock(&mu_);
        std::erase_if(sessions_, [](const Beating& entry) { return entry.session.expired(); });
        if (sessions_.empty()) {
          --threads_;
          return;
        }
        const absl::Time now = absl::Now();
        absl::Time next = absl::InfiniteFuture();
        for (Beating& entry : sessions_) {
          if (entry.next <= now) {
            if (std::shared_ptr<Session> session = entry.session.lock()) due.push_back(std::move(session));
            entry.next = now + entry.beat;
          }
          next = std::min(next, entry.next);
        }
        if (due.empty()) changed_.WaitWithDeadline(&mu_, next);
      }
      for (const std::shared_ptr<Session>& session : due) session->Beat();
    }
  }
  absl::Mutex mu_;
  absl::CondVar changed_;
  std::vector<Beating> sessions_ ABSL_GUARDED_BY(mu_);
  int threads_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace

void KeepBeating(const std::shared_ptr<Session>& session, absl::Duration beat) {
  Heart::Of().Add(session, beat);
}

void StopBeating() { Heart::Of().LookAgain(); }

int BeatingThreads() { return Heart::Of().threads(); }

}  // namespace hlod::runtime

// A session that has used much of a queue's time yields to others, and so do sessions that its user opens
// afterwards.
#include <gtest/gtest.h>

#include <atomic>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

// Uses up the time of a job, or of a wait for one.
void Take(absl::Duration duration) {
  absl::SleepFor(duration);  // tidy: time is what sessions have used.
}

// Returns the number of jobs of user 2 that run before one of user 1, whose last session ended after a job of
// 300 ms.
int JobsBefore(Daemon& daemon) {
  device::FairQueue& queue = daemon.devices->transfers();
  auto ended = std::make_unique<Client>(daemon, 0, "user 1");
  Client next(daemon, 0, "user 1"), other(daemon, 0, "user 2");
  absl::Notification begun, end, done;
  std::atomic<int> others = 0;
  queue.Submit(ended->machine()->identity().id, 0, [&] {
    begun.Notify();
    end.WaitForNotification();
  });
  begun.WaitForNotification();
  // This is done before the other sessions exist, because their jobs would start beside it.
  Take(absl::Milliseconds(300));
  for (int i = 0; i < 200; ++i) {
    queue.Submit(other.machine()->identity().id, 0, [&] {
      Take(absl::Milliseconds(2));
      ++others;
    });
  }
  daemon.registry->End(ended->machine(), absl::OkStatus());
  end.Notify();
  const int before = others;
  int waited = 0;
  queue.Submit(next.machine()->identity().id, 0, [&] {
    waited = others - before;
    done.Notify();
  });
  done.WaitForNotification();
  EXPECT_TRUE(device::Eventually([&] { return others == 200; }));
  return waited;
}

TEST(Debt, OfAnEndedSessionStaysWithItsUser) {
  Daemon daemon;
  int most = 0;
  // On a busy machine the others may have caught up before the job comes; then this tries again.
  for (int round = 0; round < 10 && most < 10; ++round) most = std::max(most, JobsBefore(daemon));
  EXPECT_GE(most, 10);
}

}  // namespace
}  // namespace hlod::session

// A process is known by its user while it lives, and is known as ended for a while afterwards.
#include "server/session/processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hlod::session {
namespace {

TEST(WatchedProcesses, RememberWhoEnded) {
  Mutex mu;
  CondVar changed;
  int64_t reported = 0;
  WatchedProcesses processes([&](int64_t pid) {
    MutexLock lock(&mu);
    reported = pid;
    changed.SignalAll();
  });
  pid_t pid = 0;
  char program[] = "/bin/sleep", argument[] = "1000";
  char* const arguments[] = {program, argument, nullptr};
  ASSERT_EQ(posix_spawn(&pid, program, nullptr, nullptr, arguments, environ), 0);
  const rpc::PeerCredentials credentials{.pid = pid, .uid = 123};
  processes.Add(-1, credentials);
  EXPECT_EQ(processes.UserOf(pid), 123u);
  EXPECT_FALSE(processes.HasEnded(pid));
  kill(pid, SIGKILL);
  {
    MutexLock lock(&mu);
    while (reported != pid) changed.Wait(&mu);
  }
  EXPECT_EQ(processes.UserOf(pid), std::nullopt);
  EXPECT_TRUE(processes.HasEnded(pid));
  waitpid(pid, nullptr, 0);

  WatchedProcesses late([](int64_t) {});
  late.Add(-1, credentials);  // The process ended before its connection was accepted.
  EXPECT_TRUE(late.HasEnded(pid));
  EXPECT_FALSE(late.HasEnded(getpid()));
}

TEST(WatchedProcesses, AreDroppedWhenNothingUsesThem) {
  WatchedProcesses processes([](int64_t) {});
  const rpc::PeerCredentials credentials{.pid = getpid(), .uid = 123};
  processes.Add(-1, credentials);
  processes.DropUnused({getpid()});
  processes.DropUnused({});
  processes.DropUnused({getpid()});
  processes.DropUnused({});
  EXPECT_EQ(processes.UserOf(getpid()), 123u) << "It was unused, but not twice in a row.";
  processes.Add(-1, credentials);
  processes.DropUnused({});
  EXPECT_EQ(processes.UserOf(getpid()), 123u) << "It has connected once more.";
  processes.DropUnused({});
  EXPECT_EQ(processes.UserOf(getpid()), std::nullopt);
  EXPECT_FALSE(processes.HasEnded(getpid()));
}

}  // namespace
}  // namespace hlod::session

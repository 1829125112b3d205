// Teams of threads: only few threads own one, so that the system never refuses libgomp a thread.
#include "server/engine/run/team.h"

#include <grp.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/engine/contraction/subnormals.h"

namespace hlod::engine {
namespace {

// Threads that take teams one after the other and keep them until they are released.
class Owners {
 public:
  ~Owners() {
    release_.set_value();
    for (std::thread& thread : threads_) thread.join();
  }
  // Starts a thread that takes a team, and returns the team's size.
  int Take(int threads, bool reader) {
    std::promise<int> size;
    std::future<int> taken = size.get_future();
    threads_.emplace_back([&size, threads, reader, released = released_] {
      const auto scope = reader ? std::make_unique<ScopedReader>() : nullptr;
      size.set_value(TeamOfThisThread(threads));
      released.wait();
    });
    return taken.get();
  }

 private:
  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
  std::vector<std::thread> threads_;
};

// Returns the number of threads that a loop uses when it asks for `threads`.
int ThreadsOfLoop(int threads) {
  int used = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp atomic
    ++used;
  }
  return used;
}

int ThreadsOfProcess() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) count += entry.exists();
  return count;
}

TEST(Team, OnlyAFewThreadsHaveOneAndTheyGiveItBack) {
  ASSERT_EQ(TeamOfThisThread(3), 3) << "This thread may have one of another test.";
  for (int round = 0; round < 2; ++round) {
    Owners owners;
    for (int i = 1; i < kTeamsMax; ++i) EXPECT_EQ(owners.Take(3, false), 3) << round << " " << i;
    EXPECT_EQ(owners.Take(3, false), 1) << round;
    EXPECT_EQ(owners.Take(1, false), 1) << round;
  }
}

TEST(Team, ThreadsThatReadStreamsLeaveSomeToTheOthers) {
  ASSERT_EQ(TeamOfThisThread(3), 3);
  Owners owners;
  for (int i = 1; i < kReadersTeamsMax; ++i) EXPECT_EQ(owners.Take(3, true), 3) << i;
  EXPECT_EQ(owners.Take(3, true), 1);
  EXPECT_EQ(owners.Take(3, false), 3);
}

TEST(Team, AThreadWithoutOneHasItsJobRunByOneThatHas) {
  ASSERT_EQ(TeamOfThisThread(3), 3);
  Owners owners;
  for (int i = 1; i < kTeamsMax; ++i) ASSERT_EQ(owners.Take(2, false), 2) << i;
  std::vector<std::thread> threads;
  std::vector<int> sizes(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i, &sizes] {
      if (TeamOfThisThread(3) == 1) RunWithTeam(3, [&] { sizes[i] = ThreadsOfLoop(TeamOfThisThread(3)); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sizes, (std::vector<int>{3, 3, 3, 3}));
}

#if defined(__x86_64__)
// Returns the threads of a loop that take subnormal numbers as zeros.
int ThreadsWithZeros(int threads) {
  constexpr uint32_t kZeros = 1u << 15 | 1u << 6;
  int count = 0;
#pragma omp parallel num_threads(threads) reduction(+ : count)
  count += (__builtin_ia32_stmxcsr() & kZeros) == kZeros ? 1 : 0;
  return count;
}
TEST(Team, ALoopHasTheModesOfTheThreadThatBeginsIt) {
  ASSERT_EQ(TeamOfThisThread(2), 2);
  EXPECT_EQ(ThreadsWithZeros(2), 0);
  {
    const WithoutSubnormals zeros;
    EXPECT_EQ(ThreadsWithZeros(2), 2);
  }
  EXPECT_EQ(ThreadsWithZeros(2), 0);
}
#endif

TEST(Team, ANarrowLoopKeepsTheThreads) {
  std::thread([] {
    ASSERT_EQ(TeamOfThisThread(5), 5);
    const int before = ThreadsOfProcess();
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(ThreadsOfLoop(5), 5);
      EXPECT_EQ(ThreadsOfLoop(2), 2);
    }
    EXPECT_LE(ThreadsOfProcess(), before) << "Those of tests before may end meanwhile.";
  }).join();
}

// Runs in a separate process, because libgomp would end this one.
[[noreturn]] void RunWithoutFurtherThreads() {
  const auto require = [](bool ok, const char* what) {
    if (ok) return;
    std::fprintf(stderr, "%s\n", what);
    _exit(1);
  };
  require(PrepareTeams(4) == 4 && TeamOfThisThread(4) == 4, "no teams");
  // The system's limit does not apply to root.
  if (geteuid() == 0)
    require(setgroups(0, nullptr) == 0 && setresgid(65533, 65533, 65533) == 0 &&
                setresuid(65533, 65533, 65533) == 0,
            "not another user");
  const rlimit none{1, 1};
  require(setrlimit(RLIMIT_NPROC, &none) == 0, "no limit");
  for (int i = 0; i < 200; ++i) {
    require(ThreadsOfLoop(4) == 4, "not four");
    require(ThreadsOfLoop(2) == 2, "not two");
  }
  require(TeamOfThisThread(6) == 1, "a team that there are no threads for");
  require(PrepareTeams(6) == 1, "teams that there are no threads for");
  _exit(0);
}

TEST(Team, LoopsOfATeamNeedNoThreadFromTheSystem) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // Starts the program again instead of only forking.
  EXPECT_EXIT(RunWithoutFurtherThreads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hlod::engine

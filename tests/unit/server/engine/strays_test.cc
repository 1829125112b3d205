// Calls that a run abandons: they go on, keep the memory that they use, and are limited in number.
#include "server/engine/run/strays.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace hlod::engine {
namespace {

// A gate that a call waits for.
class Gate {
 public:
  void Open() {
    const std::lock_guard<std::mutex> lock(mu_);
    open_ = true;
    opened_.notify_all();
  }
  void Await() {
    std::unique_lock<std::mutex> lock(mu_);
    opened_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mu_;
  std::condition_variable opened_;
  bool open_ = false;
};

TEST(Strays, ARunThatHasToStopDoesNotWaitForACallThatDoesNotEnd) {
  const std::atomic<bool> cancel = true;
  RunContext cancelled, late;
  cancelled.cancel = &cancel;
  late.deadline = absl::Now() - absl::Seconds(1);
  for (const RunContext& run : {cancelled, late}) {
    Gate gate;
    std::weak_ptr<int> used;
    {
      Strays all;
      AbandonedCalls calls(all);
      EXPECT_FALSE(calls.Make(run, [&gate] { gate.Await(); }));
      ASSERT_TRUE(calls.any());
      auto memory = std::make_shared<int>();
      used = memory;
      calls.Keep(std::exchange(memory, nullptr));
      EXPECT_FALSE(used.expired());  // The call is still running.
      gate.Open();
    }
    EXPECT_TRUE(used.expired());  // Strays waits for all calls when it is destroyed.
  }
}

TEST(Strays, ACallIsWaitedForWhenNothingStopsTheRun) {
  Strays all;
  AbandonedCalls calls(all);
  bool made = false;
  EXPECT_TRUE(calls.Make(RunContext(), [&made] { made = true; }));
  EXPECT_TRUE(made);
  EXPECT_FALSE(calls.any());
}

TEST(Strays, BeyondTheMostARunWaits) {
  const std::atomic<bool> cancel = true;
  RunContext run;
  run.cancel = &cancel;
  Gate gate, last;
  Strays all;
  AbandonedCalls calls(all);
  for (int i = 0; i < Strays::kMax; ++i) EXPECT_FALSE(calls.Make(run, [&gate] { gate.Await(); }));
  std::thread opener([&last] { last.Open(); });
  EXPECT_TRUE(calls.Make(run, [&last] { last.Await(); }));
  opener.join();
  gate.Open();
}

}  // namespace
}  // namespace hlod::engine

// The thread that runs a job, and the fate of jobs that have not started.
#include "server/device/execution/fair_queue.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace hlod::device {
namespace {

constexpr double kLongUs = 1e9;

FairQueue::Options Device() {
  return {.name = "test",
          .schedule = {.width = 1, .beside_us_max = std::numeric_limits<double>::infinity()},
          .inline_us_max = 20};
}

// A job that runs until the test ends it. It must outlive its queue.
struct Gate {
  std::promise<void> begun, opened;
  std::shared_future<void> open = opened.get_future().share();
  FairQueue::Job job() {
    return [this] {
      begun.set_value();
      open.wait();
    };
  }
};

TEST(FairQueue, ShortWorkOnAnIdleDeviceRunsHere) {
  FairQueue queue(Device());
  std::thread::id ran;
  queue.Submit(1, 1.0, [&] { ran = std::this_thread::get_id(); });
  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_EQ(queue.length(), 0);
}

// A thread for which others wait runs no programs.
TEST(FairQueue, ShortWorkOfAThreadThatRunsNoneRunsOnAThreadOfTheQueue) {
  FairQueue queue(Device());
  std::promise<std::thread::id> ran;
  {
    const FairQueue::NoneHere outer;
    { const FairQueue::NoneHere inner; }
    queue.Submit(1, 1.0, [&] { ran.set_value(std::this_thread::get_id()); });
    EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
  }
  while (queue.length() > 0) std::this_thread::yield();
  std::thread::id here;
  queue.Submit(1, 1.0, [&] { here = std::this_thread::get_id(); });
  EXPECT_EQ(here, std::this_thread::get_id());
}

TEST(FairQueue, LongWorkRunsOnAThreadOfTheQueue) {
  FairQueue queue(Device());
  std::promise<std::thread::id> ran;
  queue.Submit(1, 1000.0, [&] { ran.set_value(std::this_thread::get_id()); });
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

// A thread of the queue may wait for a core, which long jobs occupy.
TEST(FairQueue, ATinyJobRunsHereBesideLongOnes) {
  FairQueue::Options options = Device();
  options.schedule.tiny_us = 20;
  Gate gate;
  FairQueue queue(options);
  queue.Submit(1, kLongUs, gate.job());
  queue.Submit(2, kLongUs, [] {});  // Waits for its turn, which may come at any time.
  gate.begun.get_future().wait();
  std::thread::id ran;
  queue.Submit(3, 1.0, [&] { ran = std::this_thread::get_id(); });
  EXPECT_EQ(ran, std::this_thread::get_id());
  gate.opened.set_value();
}

// Also those that its own threads start, when all are busy.
TEST(FairQueue, ItsThreadsAreNicerThanTheThreadThatMadeIt) {
  const auto nice = [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); };
  std::promise<int> ran;
  Gate gates[4];
  FairQueue::Options options = Device();
  options.nice = 2;
  FairQueue queue(options);
  for (uint64_t i = 0; i < std::size(gates); ++i) {
    queue.Submit(i + 1, kLongUs, gates[i].job());
    gates[i].begun.get_future().wait();
  }
  queue.Submit(9, kLongUs, [&] { ran.set_value(nice()); });
  EXPECT_EQ(ran.get_future().get(), std::min(nice() + 2, 19));
  for (Gate& gate : gates) gate.opened.set_value();
}

TEST(FairQueue, JobsOfOneSessionKeepTheirOrder) {
  Gate gate;
  FairQueue queue(Device());
  queue.Submit(1, kLongUs, gate.job());
  std::string order;
  std::promise<void> done;
  queue.Submit(1, kLongUs, [&] { order += 'a'; });
  queue.Submit(1, 1.0, [&] { order += 'b'; });
  queue.Submit(1, 1.0, [&] { done.set_value(); });
  gate.opened.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, "ab");
}

TEST(FairQueue, ALongJobDoesNotHoldUpOtherSessions) {
  // Opened only after jobs of all other sessions have run: short ones and long ones.
  Gate gate;
  FairQueue queue(Device());
  queue.Submit(1, kLongUs, gate.job());
  gate.begun.get_future().wait();
  for (uint64_t session = 2; session < 6; ++session) {
    std::promise<void> ran;
    queue.Submit(session, session % 2 == 0 ? 1.0 : kLongUs, [&] { ran.set_value(); });
    ran.get_future().wait();
  }
  gate.opened.set_value();
}

TEST(FairQueue, ManySessionsWithLongJobsDoNotHoldUpAnother) {
  constexpr uint64_t kSessions = 8;
  std::vector<std::unique_ptr<Gate>> gates;
  FairQueue queue(Device());
  for (uint64_t session = 1; session <= kSessions; ++session) {
    gates.push_back(std::make_unique<Gate>());
    queue.Submit(session, kLongUs, gates.back()->job());
    queue.Submit(session, kLongUs, [] {});
  }
  for (const std::unique_ptr<Gate>& gate : gates) gate->begun.get_future().wait();
  std::promise<void> ran;
  queue.Submit(kSessions + 1, 1000, [&] { ran.set_value(); });
  ran.get_future().wait();
  EXPECT_GE(queue.length(), static_cast<int64_t>(2 * kSessions)) << "Each session has one running.";
  for (const std::unique_ptr<Gate>& gate : gates) gate->opened.set_value();
}

TEST(FairQueue, AJobWithoutRoomBesideAnotherRunsAgainAfterIt) {
  Gate gate;
  FairQueue queue(Device());
  queue.Submit(1, kLongUs, gate.job());
  gate.begun.get_future().wait();
  std::promise<void> postponed;
  std::promise<bool> again;
  std::string order;
  queue.Submit(2, 1000, [&] {
    const bool taken = queue.Postpone(2, 1000, [&] {
      order += 'a';
      again.set_value(queue.Postpone(2, 1000, [] {}));
    });
    EXPECT_TRUE(taken);
    postponed.set_value();
  });
  std::promise<void> last;
  queue.Submit(2, 1000, [&] {
    order += 'b';
    last.set_value();
  });
  postponed.get_future().wait();
  EXPECT_EQ(order, "");
  gate.opened.set_value();
  EXPECT_FALSE(again.get_future().get()) << "It was alone: there is nothing to wait for.";
  last.get_future().wait();
  EXPECT_EQ(order, "ab");
}

TEST(FairQueue, DiscardDropsTheJobsOfOneSession) {
  Gate gate;
  FairQueue queue({.name = "test"});
  queue.Submit(1, 0, gate.job());
  const auto held = std::make_shared<int>(1);
  for (int i = 0; i < 3; ++i)
    queue.Submit(2, 0, [held] { ADD_FAILURE() << "A job of an ended session ran."; });
  std::promise<void> ran;
  queue.Submit(3, 0, [&] { ran.set_value(); });
  queue.Discard(2);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(queue.length(), 2);
  gate.opened.set_value();
  ran.get_future().wait();
}

TEST(FairQueue, StopDropsWhatHasNotStarted) {
  Gate gate;
  const auto held = std::make_shared<int>(1);
  std::thread opener;
  {
    FairQueue queue({.name = "test"});
    queue.Submit(1, 0, [&] {
      gate.begun.set_value();
      gate.open.wait();
      queue.Submit(1, 0, [held] { ADD_FAILURE() << "A job ran that was submitted after the stop."; });
    });
    gate.begun.get_future().wait();
    for (uint64_t i = 0; i < 100; ++i)
      queue.Submit(i, 0, [held] { ADD_FAILURE() << "A job ran after the stop."; });
    opener = std::thread([&] {
      while (held.use_count() > 1) std::this_thread::yield();  // Stop() has dropped them.
      gate.opened.set_value();
    });
  }
  opener.join();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(FairQueue, AnExceptionEndsItsJobOnly) {
  FairQueue queue({.name = "test"});
  queue.Submit(1, 0, [] { throw std::runtime_error("as the test wants it"); });
  std::promise<void> ran;
  queue.Submit(1, 0, [&] { ran.set_value(); });
  ran.get_future().wait();
}

}  // namespace
}  // namespace hlod::device

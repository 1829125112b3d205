// Tasks that wait for one another, and locks that defer work.
#include "server/device/execution/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/device/deferring_lock.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TaskOrder : public testing::Test {
 protected:
  std::shared_ptr<Task> Make(int number) {
    auto task = std::make_shared<Task>();
    task->ready = [this, number] { ran.push_back(number); };
    return task;
  }
  std::vector<int> ran;
  ReadyTasks ready_tasks;
};

TEST_F(TaskOrder, WhatHasEndedIsNotKeptByWhatItWaitedFor) {
  const std::shared_ptr<Task> other = Make(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::shared_ptr<Task> task = Make(2);
    DependOn(task, other);
    DependOn(task, other);
    Start(task, ready_tasks);
    Finish(*task, ready_tasks);
  }
  EXPECT_LE(other->dependents.size(), 8u);
}

TEST_F(TaskOrder, ATaskIsReadyWhenItIsStartedAndAllBeforeItHaveFinished) {
  const std::shared_ptr<Task> first = Make(1), second = Make(2), third = Make(3);
  Start(first, ready_tasks);
  DependOn(second, first);
  Start(second, ready_tasks);
  DependOn(third, first);
  DependOn(third, second);
  Start(third, ready_tasks);
  RunReady(ready_tasks);
  EXPECT_THAT(ran, ElementsAre(1));
  ready_tasks.clear();
  Finish(*first, ready_tasks);
  RunReady(ready_tasks);
  EXPECT_THAT(ran, ElementsAre(1, 2));
  ready_tasks.clear();
  Finish(*second, ready_tasks);
  Finish(*second, ready_tasks);
  RunReady(ready_tasks);
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

TEST_F(TaskOrder, NothingWaitsForWhatIsOverOrForItself) {
  const std::shared_ptr<Task> over = Make(1), task = Make(2);
  Finish(*over, ready_tasks);
  DependOn(task, over);
  DependOn(task, task);
  DependOn(task, nullptr);
  Start(task, ready_tasks);
  RunReady(ready_tasks);
  EXPECT_THAT(ran, ElementsAre(2));
}

TEST_F(TaskOrder, WhatIsAbandonedNeverRuns) {
  const std::shared_ptr<Task> first = Make(1), second = Make(2);
  DependOn(second, first);
  Start(second, ready_tasks);
  Abandon(*first);
  Finish(*first, ready_tasks);
  EXPECT_THAT(ready_tasks, IsEmpty());
}

// Each task finishes the one before it: if these calls nested, they would need a hundred megabytes of stack.
TEST_F(TaskOrder, AChainMayBeLong) {
  constexpr int kLength = 300'000;
  std::vector<std::shared_ptr<Task>> chain;
  int finished = 0;
  for (int i = 0; i < kLength; ++i) {
    auto task = std::make_shared<Task>();
    if (i > 0) DependOn(task, chain.back());
    task->ready = [&finished, self = task.get()] {
      ++finished;
      ReadyTasks next;
      Finish(*self, next);
      RunReady(next);
    };
    chain.push_back(task);
  }
  for (size_t i = chain.size(); i-- > 0;) Start(chain[i], ready_tasks);
  RunReady(ready_tasks);
  EXPECT_EQ(finished, kLength);
  for (auto& task : chain) task.reset();
}

// Destructors and callbacks take the lock themselves, which would deadlock if the lock were held.
TEST(DeferringLock, PutsOffWhatMustNotHappenUnderIt) {
  Mutex mutex;
  std::vector<std::string> events;
  const auto note = [&](const std::string& event) {
    MutexLock lock(&mutex);
    events.push_back(event);
  };
  {
    DeferringLock lock(&mutex);
    auto task = std::make_shared<Task>();
    task->ready = [&] { note("task"); };
    Start(task, lock.ready_tasks());
    lock.Call([&] { note("call"); });
    lock.Answer([&](const absl::Status& status) { note("answer " + std::string(status.message())); },
                absl::InternalError("why"));
    lock.Answer(nullptr, absl::OkStatus());
    lock.Discard(std::shared_ptr<int>(new int(1), [&](int* value) {
      delete value;
      note("gone");
    }));
    EXPECT_THAT(events, IsEmpty());
  }
  EXPECT_THAT(events, ElementsAre("gone", "answer why", "call", "task"));
}

TEST(DeferringLock, OneAnswerThatFailsDoesNotStopTheOthers) {
  Mutex mutex;
  int answered = 0;
  {
    DeferringLock lock(&mutex);
    lock.Answer([](const absl::Status&) { throw std::bad_alloc(); }, absl::OkStatus());
    lock.Answer([&](const absl::Status&) { ++answered; }, absl::OkStatus());
  }
  EXPECT_EQ(answered, 1);
}

}  // namespace
}  // namespace hlod::device

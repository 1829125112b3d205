// The thread that reads a client's ring: order, its ways to end, and that each end comes once.
#include "server/session/ring/ring_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/rpc/ring.h"
#include "common/rpc/shared_memory.h"

namespace hlod::session {
namespace {

using testing::ElementsAre;

// Keeps the events as text, and lets a test wait for them.
class KeptRingEvents : public RingEvents {
 public:
  void OnRingMessage(const std::string& bytes) override {
    if (bytes == "too much") throw std::bad_alloc();  // tidy: the allocator refuses in no other way.
    Keep(bytes);
  }
  void OnElsewhere() override { Keep("elsewhere"); }
  void OnRingPause() override {}
  void OnRingBroken(const absl::Status& status) override {
    const bool no_memory = KindOf(status) == ErrorKind::kNoMemory;
    Keep((no_memory ? "no memory: " : "broken: ") + std::string(status.message()));
  }
  void OnRingEnd() override { Keep("end"); }

  std::vector<std::string> Await(size_t count) {
    MutexLock lock(&mu_);
    while (told_.size() < count) changed_.Wait(&mu_);
    return told_;
  }

 private:
  void Keep(std::string text) {
    MutexLock lock(&mu_);
    told_.push_back(std::move(text));
    changed_.SignalAll();
  }
  Mutex mu_;
  CondVar changed_;
  std::vector<std::string> told_ ABSL_GUARDED_BY(mu_);
};

struct RingFixture {
  rpc::SharedMemory memory = rpc::SharedMemory::Create(rpc::RingPair::kBytes).value();
  rpc::RingPair pair{memory.bytes()};
  rpc::RingWriter writer{pair.to_daemon};
  KeptRingEvents events;
  std::unique_ptr<RingThread> thread = RingThread::Start(pair.to_daemon, events).value();

  void Write(const std::string& text) {
    const absl::Span<const std::byte> part(reinterpret_cast<const std::byte*>(text.data()), text.size());
    while (!writer.Write({&part, 1}).value()) std::this_thread::yield();
  }
};

TEST(RingThread, ReadsOnlyWhileItIsTheRingsTurn) {
  RingFixture ring;
  ring.Write("one");
  ring.Write("two");
  ASSERT_TRUE(ring.writer.WriteElsewhere().ok());
  ring.thread->Read();
  EXPECT_THAT(ring.events.Await(3), ElementsAre("one", "two", "elsewhere"));
  ring.Write("three");
  ring.thread->Read();
  EXPECT_THAT(ring.events.Await(4), ElementsAre("one", "two", "elsewhere", "three"));
}

TEST(RingThread, AWaitingThreadIsWokenByEachMessageAndByItsEnd) {
  for (int round = 0; round < 50; ++round) {
    RingFixture ring;
    ring.thread->Read();
    for (size_t i = 0; i < 100; ++i) {
      ring.Write(std::to_string(i));
      if (i % 3 != 0) continue;
      EXPECT_EQ(ring.events.Await(i + 1).back(), std::to_string(i));
    }
    if (round % 2 == 0) continue;  // Destroyed while it waits or reads.
    ring.thread->Close();
    EXPECT_EQ(ring.events.Await(101).back(), "end");
  }
}

TEST(RingThread, ACloseComesAfterWhatWasWrittenBeforeIt) {
  for (int round = 0; round < 100; ++round) {
    RingFixture ring;
    ring.thread->Read();
    for (int i = 0; i < 20; ++i) ring.Write("x");
    ring.thread->Close();
    std::vector<std::string> expected(20, "x");
    expected.push_back("end");
    EXPECT_EQ(ring.events.Await(21), expected);
  }
}

TEST(RingThread, ABrokenRingIsToldOnce) {
  RingFixture ring;
  ring.thread->Read();
  ring.Write("one");
  ring.events.Await(1);
  ring.thread->Break(DataLoss("The other direction is broken."));
  ring.thread->Break(DataLoss("Again."));
  EXPECT_THAT(ring.events.Await(2), ElementsAre("one", "broken: The other direction is broken."));
  ring.thread.reset();
  EXPECT_EQ(ring.events.Await(2).size(), 2u);
}

TEST(RingThread, AMessageThatFindsNoMemoryIsSuchAnError) {
  RingFixture ring;
  ring.thread->Read();
  ring.Write("too much");
  EXPECT_THAT(ring.events.Await(1), ElementsAre("no memory: A message could not be handled: the "
                                                "process finds no memory (std::bad_alloc)."));
}

TEST(RingThread, AThreadThatDoesNotReadIsBrokenAndDestroyedAtOnce) {
  RingFixture ring;
  ring.thread->Break(DataLoss("Broken."));
  EXPECT_THAT(ring.events.Await(1), ElementsAre("broken: Broken."));
  RingFixture idle;
  idle.thread.reset();
}

}  // namespace
}  // namespace hlod::session

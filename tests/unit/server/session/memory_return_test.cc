// The times at which memory is returned to the system, by a clock that the test advances.
#include "server/session/memory_return.h"

#include <gtest/gtest.h>

namespace hlod::session {
namespace {

struct World {
  int heap = 0, pool = 0;
  MemoryReturn memory{[this] { ++heap; }, [this] { ++pool; }};
  absl::Time now = absl::UnixEpoch();
  void Tick(absl::Duration after, bool ended, bool busy, bool alone) {
    now += after;
    memory.Tick(now, ended, busy, alone);
  }
};

constexpr absl::Duration kTick = absl::Milliseconds(250);

TEST(MemoryReturn, TheHeapGoesBackWhenASessionHasEndedAlsoBesideBusyOnes) {
  World world;
  world.Tick(kTick, /*ended=*/false, /*busy=*/true, /*alone=*/false);
  EXPECT_EQ(world.heap, 0);
  world.Tick(kTick, /*ended=*/true, /*busy=*/true, /*alone=*/false);
  EXPECT_EQ(world.heap, 1);
  EXPECT_EQ(world.pool, 0) << "Other sessions would touch the devices' memory anew.";
}

TEST(MemoryReturn, SessionsThatEndWithoutEndGiveItBackNowAndThenAndTheLastOneIsNotForgotten) {
  World world;
  world.Tick(kTick, true, true, false);
  world.Tick(MemoryReturn::kBetween / 4, true, true, false);
  world.Tick(MemoryReturn::kBetween / 4, true, true, false);
  EXPECT_EQ(world.heap, 1);
  world.Tick(MemoryReturn::kBetween / 2, false, true, false);
  EXPECT_EQ(world.heap, 2);
  world.Tick(MemoryReturn::kBetween, false, true, false);
  EXPECT_EQ(world.heap, 2) << "Nothing ended since.";
}

TEST(MemoryReturn, AQuietDaemonGivesTheHeapBackOnceAndThePoolWhenNoSessionIsThere) {
  World world;
  world.Tick(kTick, false, false, false);
  world.Tick(MemoryReturn::kIdle, false, false, false);
  EXPECT_EQ(world.heap, 1);
  EXPECT_EQ(world.pool, 0);
  world.Tick(kTick, false, false, true);
  world.Tick(MemoryReturn::kIdle, false, false, true);
  world.Tick(MemoryReturn::kIdle, false, false, true);
  EXPECT_EQ(world.pool, 1);
  EXPECT_EQ(world.heap, 1);
}

TEST(MemoryReturn, WorkBetweenBeginsTheQuietAnew) {
  World world;
  world.Tick(kTick, false, false, true);
  world.Tick(MemoryReturn::kIdle / 2, false, true, false);
  world.Tick(MemoryReturn::kIdle / 2, false, false, true);
  world.Tick(MemoryReturn::kIdle / 2, false, false, true);
  EXPECT_EQ(world.heap + world.pool, 0);
  world.Tick(MemoryReturn::kIdle / 2, false, false, true);
  EXPECT_EQ(world.heap, 1);
  EXPECT_EQ(world.pool, 1);
}

}  // namespace
}  // namespace hlod::session

// The typical time of recent runs.
#include "server/device/programs/recent_runs.h"

#include <gtest/gtest.h>

namespace hlod::device {
namespace {

TEST(RecentRuns, OneLongRunAmongShortOnesChangesNothing) {
  RecentRuns runs;
  EXPECT_EQ(runs.typical_us(), -1);
  runs.Add(900);  // The first run is a long one: it touches everything for the first time.
  EXPECT_EQ(runs.typical_us(), 900);
  runs.Add(2);
  EXPECT_EQ(runs.typical_us(), 2);
  for (const int64_t us : {3, 4000, 2, 3, 5000, 3}) {
    runs.Add(us);
    EXPECT_LE(runs.typical_us(), 3) << us;
  }
}

TEST(RecentRuns, TwoLongRunsInARowAreTypical) {
  RecentRuns runs;
  for (const int64_t us : {2, 2, 2, 4000, 5000}) runs.Add(us);
  EXPECT_EQ(runs.typical_us(), 4000);
  runs.Add(1);
  EXPECT_EQ(runs.typical_us(), 4000);
  runs.Add(1);
  EXPECT_EQ(runs.typical_us(), 1);
}

}  // namespace
}  // namespace hlod::device

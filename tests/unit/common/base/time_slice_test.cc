// A thread's time slice, as the kernel reports it.
#include "common/base/system/time_slice.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

namespace hlod {
namespace {

// Returns this thread's slice in nanoseconds, at least 0. Before Linux 6.12 it is always 0.
uint64_t Slice() {
  uint64_t attributes[7] = {48};  // The kernel's struct sched_attr. Its fourth word is the slice.
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, attributes, 48, 0), 0);
  return attributes[3];
}

TEST(TimeSlice, AThreadHasTheOneThatItSetsAndPassesItOn) {
  std::thread([] {
    const uint64_t before = Slice();
    const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
    SetTimeSlice(kWorkSlice);
    const uint64_t set = before == 0 ? 0 : uint64_t{10'000'000};
    EXPECT_EQ(Slice(), set);
    std::thread([set] { EXPECT_EQ(Slice(), set); }).join();
    SetTimeSlice(kMessageSlice);
    EXPECT_EQ(Slice(), before == 0 ? 0 : uint64_t{100'000});
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())), nice);
  }).join();
}

}  // namespace
}  // namespace hlod

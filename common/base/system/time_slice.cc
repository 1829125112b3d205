// The system call, which glibc 2.36 does not declare.
#include "common/base/system/time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace hlod {
namespace {

// The kernel's struct sched_attr. Its header cannot be included beside glibc's <sched.h>.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;  // The slice, for the ordinary policies.
  uint64_t deadline_ns = 0, period_ns = 0;
};

}  // namespace

void SetTimeSlice(std::chrono::microseconds slice) {
  SchedulingAttributes attributes;
  // The nice value and the policy stay as they are.
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
  attributes.runtime_ns = static_cast<uint64_t>(std::chrono::nanoseconds(slice).count());
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace hlod

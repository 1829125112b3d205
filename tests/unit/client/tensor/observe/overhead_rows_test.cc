// The cost of reports for a program that requests none: recording an operation that was recorded before makes
// no event and allocates no memory. metering_bench and tensor_bench measure the nanoseconds (README).
#include <cstddef>
#include <cstdint>

#include "hlod/observe/events.h"
#include "tests/unit/client/tensor/fixture.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HLOD_COUNT_ALLOCATIONS 1

namespace {
thread_local bool counts_allocations = false;
thread_local int64_t allocation_count = 0;
}  // namespace

// Replaces glibc's functions by ones that count and then call them; operator new calls these, too.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_realloc(void*, size_t);

void* malloc(size_t bytes) {
  allocation_count += counts_allocations;
  return __libc_malloc(bytes);
}
void* realloc(void* old, size_t bytes) {
  allocation_count += counts_allocations;
  return __libc_realloc(old, bytes);
}
}
#endif

namespace hlod {
namespace {

class OverheadRows : public TensorTest {};

#ifdef HLOD_COUNT_ALLOCATIONS
// Acceptance row GB13.
TEST_F(OverheadRows, WithoutReportsAnOperationAllocatesNothing) {
  constexpr int kOperations = 1000;
  const Tensor start = OnDevice({1, 2}, {2});
  const auto allocations_of_a_step = [&start] {
    Tensor x = start;
    allocation_count = 0;
    counts_allocations = true;
    for (int i = 0; i < kOperations; ++i) x = x + start;
    counts_allocations = false;
    Sync();
    return allocation_count;
  };
  EXPECT_GT(allocations_of_a_step(), 0) << "The first step makes the trace's tables.";
  allocations_of_a_step();
  // Tables grow by doubling, so that a trace of any length allocates a few times.
  EXPECT_LT(allocations_of_a_step(), 50);
}
#endif

// Acceptance row GB13.
TEST_F(OverheadRows, WithoutReportsNoEventIsMade) {
  class Numbers : public Observer {
   public:
    void OnEvent(const Event& event) override { last = event.number; }
    uint64_t last = 0;
  };
  const auto step = [this] {
    const Tensor x = OnDevice({1, 2}, {2});
    EXPECT_TRUE((x + x).defined());
    Sync();
  };
  Numbers numbers;
  {
    const Observation observation(numbers);
    step();
  }
  const uint64_t before = numbers.last;
  EXPECT_GT(before, 0u);
  for (int i = 0; i < 10; ++i) step();
  {
    const Observation observation(numbers);
    step();
  }
  EXPECT_LE(numbers.last, 2 * before) << "Ten steps that nobody observed made events.";
}

}  // namespace
}  // namespace hlod

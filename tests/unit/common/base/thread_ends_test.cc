// Threads that end by pthread_exit when the process can get no memory.
#include "common/base/system/thread_ends.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace hlod {
namespace {

pthread_barrier_t no_memory;

// Uses up all memory of this process, then ends another thread.
[[noreturn]] void EndAThreadWithoutMemory() {
  PrepareForEndsOfThreads();
  pthread_barrier_init(&no_memory, nullptr, 2);
  pthread_t thread;
  const auto end = [](void*) -> void* {
    pthread_barrier_wait(&no_memory);
    pthread_exit(nullptr);
  };
  if (pthread_create(&thread, nullptr, end, nullptr) != 0) _exit(1);
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_AS, &none) != 0) _exit(1);
  for (size_t bytes = 1 << 20; bytes > 0; bytes /= 2) {
    while (std::malloc(bytes) != nullptr) {
    }
  }
  pthread_barrier_wait(&no_memory);
  pthread_join(thread, nullptr);
  _exit(0);
}

TEST(ThreadEnds, NeedNoMemoryOncePrepared) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "A sanitizer's allocator does not keep to the limit.";
#endif
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  // Unprepared, it is killed by SIGABRT, unless something in the process has loaded libgcc_s before.
  EXPECT_EXIT(EndAThreadWithoutMemory(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hlod

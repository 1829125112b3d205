// Filters one thread each, so that the test's process goes on as before.
#include "server/confinement/system_calls.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <thread>

namespace hlod {
namespace {

// Returns the errno of a call, or 0.
int ErrorOf(const std::function<int64_t()>& call) {
  errno = 0;
  return call() < 0 ? errno : 0;
}

void WithoutForbiddenCalls(const std::function<void()>& test) {
  std::thread([&test] {
    const absl::Status status = ForbidSystemCalls();
    if (absl::IsFailedPrecondition(status)) GTEST_SKIP() << "This kernel has no filters: " << status;
    ASSERT_TRUE(status.ok()) << status;
    test();
  }).join();
}

TEST(SystemCallFilter, NoProgramIsStarted) {
  char name[] = "/nonexistent";
  char* const arguments[] = {name, nullptr};
  EXPECT_EQ(ErrorOf([&] { return execv(name, arguments); }), ENOENT);
  WithoutForbiddenCalls([&] {
    EXPECT_EQ(ErrorOf([&] { return execv(name, arguments); }), EPERM);
    std::thread([&] { EXPECT_EQ(ErrorOf([&] { return execv(name, arguments); }), EPERM); }).join();
  });
}

TEST(SystemCallFilter, TheKernelsPartsThatNobodyNeedsAreOutOfReach) {
  WithoutForbiddenCalls([] {
    EXPECT_EQ(ErrorOf([] { return syscall(SYS_io_uring_setup, 0, nullptr); }), EPERM);
    EXPECT_EQ(ErrorOf([] { return syscall(SYS_bpf, -1, nullptr, 0); }), EPERM);
    EXPECT_EQ(ErrorOf([] { return syscall(SYS_keyctl, -1); }), EPERM);
    // With no flags it succeeds otherwise, for any user.
    EXPECT_EQ(ErrorOf([] { return unshare(0); }), EPERM);
    // Writes no byte, and succeeds otherwise.
    EXPECT_EQ(ErrorOf([] { return syscall(SYS_process_vm_writev, getpid(), nullptr, 0, nullptr, 0, 0); }),
              EPERM);
  });
}

TEST(SystemCallFilter, WhatADaemonDoesGoesOn) {
  WithoutForbiddenCalls([] {
    const int shared = memfd_create("shared", MFD_CLOEXEC);
    ASSERT_GE(shared, 0);
    EXPECT_EQ(ftruncate(shared, 4096), 0);
    // The assembler maps its code so.
    void* const code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, shared, 0);
    EXPECT_NE(code, MAP_FAILED);
    munmap(code, 4096);
    close(shared);
    const int self = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
    EXPECT_GE(self, 0);
    close(self);
    std::thread([] {}).join();
  });
}

TEST(SystemCallFilter, IsNamedAllOrRestricted) {
  EXPECT_EQ(*ParseSystemCalls("all"), SystemCalls::kAll);
  EXPECT_EQ(*ParseSystemCalls("restricted"), SystemCalls::kRestricted);
  EXPECT_EQ(ParseSystemCalls("some").status().message(), "\"some\" is not one of all, restricted");
}

}  // namespace
}  // namespace hlod

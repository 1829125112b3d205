// Preloaded into every process of a test by tests/support/limit.cc: on a signal, a thread writes the
// addresses of its stack to the file that $HLOD_TEST_STACKS names. A hanging test therefore fails with its
// stacks and those of its daemons, without a debugger or the right to trace.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/stacks.h"

namespace hlod {
namespace {

int file = -1;

// A signal handler that uses only async-signal-safe calls. It makes system calls directly, because a
// sanitizer's wrappers expect callers that it has compiled.
void WriteStack(int) {
  StackRecord record;
  record.thread = syscall(SYS_gettid);
  record.depth = backtrace(record.addresses, StackRecord::kDepthMax);
  syscall(SYS_write, file, &record, sizeof record);
}

__attribute__((constructor)) void Install() {
  const char* const path = getenv("HLOD_TEST_STACKS");
  if (path == nullptr) return;
  file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  void* warm[1];
  backtrace(warm, 1);  // Loads the unwinder, which a handler must not do.
  // The C library's own sigaction: ThreadSanitizer's would delay the signal until the thread makes a call.
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  const auto set_action = reinterpret_cast<decltype(&sigaction)>(libc ? dlsym(libc, "sigaction") : nullptr);
  if (set_action == nullptr) return;
  struct sigaction action = {};
  action.sa_handler = WriteStack;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  set_action(StackSignal(), &action, nullptr);
}

}  // namespace
}  // namespace hlod

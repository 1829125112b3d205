// A test that hangs, in a thread and in a process that it has started, for tests of the time limit.
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace {

[[gnu::noinline]] void Hang(const char* where) {
  std::printf("%s hangs\n", where);
  std::fflush(stdout);
  for (;;) pause();
}

[[gnu::noinline]] void HangInAThread() {
  Hang("the thread");
  std::printf(
      "never\n");  // Keeps the call above from being a tail call, so that this function stays on the stack.
}

[[gnu::noinline]] void HangInTheChild() {
  Hang("the child");
  std::printf("never\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    HangInTheChild();
    return 0;
  }
  char child[] = "child";
  char* arguments[] = {argv[0], child, nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0) return 1;
  std::thread thread(HangInAThread);
  thread.join();
}

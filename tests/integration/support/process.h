// Programs that the tests start. They are executed, not forked and continued, since gRPC's threads do not
// survive a fork.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace hlod {

// Returns the path of the program of that name beside this test.
std::string Beside(const std::string& name);

// A child process whose stdout is read here. It is killed when the object is destroyed.
class Process {
 public:
  // `words` holds the program's path and its arguments. Aborts the test when the program does not exist.
  explicit Process(const std::vector<std::string>& words);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Returns the next line of its output, without the line end; "" at the end of its output or after
  // `timeout`.
  std::string ReadLine(absl::Duration timeout = absl::Seconds(60));
  // Returns true when its stdout is closed in every process within `timeout`. Skips its output.
  bool WaitForEndOfOutput(absl::Duration timeout);
  void Kill();
  // REQUIRES: it has not ended.
  void Send(int signal) { kill(pid_, signal); }
  // Returns its exit code, or 128 + the signal; nullopt after `timeout`.
  std::optional<int> WaitForExit(absl::Duration timeout);

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::optional<int> exit_;
};

}  // namespace hlod

// Threads that run what they are handed, in order: compiles and large copies, which must not hold up whoever
// reads a stream.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "server/device/mutex.h"

namespace hlod::device {

class Worker {
 public:
  using Job = std::function<void()>;
  // `name` (at most 15 bytes) is what `top` shows.
  Worker(const std::string& name, int threads);
  // Finishes what was posted.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Never blocks. Jobs start in the order they were posted; an exception a job lets out is logged and ends
  // the job only.
  void Post(Job job);

 private:
  void Run();
  Mutex mu_;
  CondVar more_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hlod::device

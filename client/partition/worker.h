// The process that partitions programs, from this process's side.
#pragma once

#include <sys/types.h>

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/partition/frame.h"

namespace hlod::partition {

// One worker process. It is started by the first request, ends with this object or this process, and is
// started again after an error; after a refusal, as for want of jaxlib, a minute later at the earliest. A
// forked child of this process starts one of its own.
class Worker {
 public:
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Sends a request, and returns the answer. Errors as Partition() has them; an answer with an error of the
  // worker's own is returned as a frame.
  absl::StatusOr<Frame> Ask(const Frame& request, absl::Duration limit);

 private:
  absl::Status Start() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Stop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // An interpreter that cannot partition, with its own reason.
  struct Refusal {
    std::string interpreter;
    std::string reason;
    absl::Time time;
  };

  absl::Mutex mutex_;
  Refusal refusal_ ABSL_GUARDED_BY(mutex_);
  int socket_ ABSL_GUARDED_BY(mutex_) = -1;
  pid_t pid_ ABSL_GUARDED_BY(mutex_) = 0;
  pid_t owner_ ABSL_GUARDED_BY(mutex_) = 0;  // The process that started it.
};

// Returns the worker of this process.
Worker& SharedWorker();

}  // namespace hlod::partition

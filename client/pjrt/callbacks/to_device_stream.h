// A value that the framework gives to a running program, chunk by chunk.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/pjrt/abi/executable.h"
#include "client/pjrt/devices/device.h"
#include "client/pjrt/events/completion.h"
#include "common/hlo/shape.h"
#include "hlod/runtime/executable.h"

namespace hlod::pjrt {

// Sends the value when its last byte has come. Thread-safe; the framework destroys it.
class CopyToDeviceStream {
 public:
  // `execution` needs the value, and `end` is its completion for the framework. If the value cannot be sent,
  // or is not complete when the stream is destroyed, both end with an error, because the program would wait
  // for it.
  CopyToDeviceStream(std::vector<Device*> devices, int64_t channel, hlo::Shape shape, Execution execution,
                     std::shared_ptr<Completion> end);
  ~CopyToDeviceStream();

  // Takes a chunk, which the caller may free afterwards. INVALID_ARGUMENT when the chunks have more bytes
  // than the value.
  absl::Status Add(const void* data, size_t size);
  int64_t total_bytes() const { return total_; }
  int64_t current_bytes() const;

 private:
  void Fail(absl::Status error);

  const std::shared_ptr<Client> client_;  // The devices are the client's.
  const std::vector<Device*> devices_;    // Each of them gets the value.
  const int64_t channel_;
  const hlo::Shape shape_;
  const int64_t total_;
  const Execution execution_;
  const Caller line_;  // The line of the execution.
  const std::shared_ptr<Completion> end_;
  mutable absl::Mutex mu_;
  bool sent_ ABSL_GUARDED_BY(mu_) = false;
  int64_t current_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::byte> bytes_ ABSL_GUARDED_BY(mu_);  // Empty when the value came in one chunk.
};

}  // namespace hlod::pjrt

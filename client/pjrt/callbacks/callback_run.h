// The host's side of one execution of a program with callbacks.
//
// A thread of its own asks the daemon for the next value of each channel to the host and calls the
// framework's callback with each value that comes, one at a time. After the last operand of a callback (the
// channel before those of its results: frameworks number them so) it opens a stream for each result. When the
// program has ended it takes the values that still wait, and takes back what it asked for in vain.
//
// The channels of two executions have the same numbers, so they run one after another: the next one waits for
// its turn before it is sent.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "client/pjrt/abi/executable.h"
#include "client/pjrt/callbacks/host_channels.h"
#include "client/pjrt/devices/device.h"
#include "client/pjrt/events/completion.h"
#include "hlod/runtime/executable.h"

namespace hlod::pjrt {

// Lets one execution with callbacks of a client run at a time. Thread-safe.
class CallbackTurn {
 public:
  void Take() {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&free_));
    free_ = false;
  }
  void Give() {
    absl::MutexLock lock(&mu_);
    free_ = true;
  }

 private:
  absl::Mutex mu_;
  bool free_ ABSL_GUARDED_BY(mu_) = true;
};

// The callbacks of one participant, by channel.
struct ParticipantCallbacks {
  Device* device = nullptr;
  std::vector<abi::SendCallbackInfo> sends;
  std::vector<abi::RecvCallbackInfo> receives;
};

// Starts to serve the callbacks of an execution that has been sent. Returns its end, which comes after the
// last callback and carries the first error of a callback. Gives `turn` back then.
std::shared_ptr<Completion> ServeCallbacks(const HostChannels& channels,
                                           std::vector<ParticipantCallbacks> participants,
                                           const Execution& execution, std::shared_ptr<CallbackTurn> turn);

}  // namespace hlod::pjrt

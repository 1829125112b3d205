// The completion of work on a device. Several events may stand for one completion.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/session/completions.h"

namespace hlod::pjrt {

// Thread-safe. Callbacks run without a lock: they may destroy events and buffers.
class Completion : public std::enable_shared_from_this<Completion> {
 public:
  using Callback = std::function<void(const absl::Status&)>;
  // Maps the status of a command to that of the completion. It is called once, before any callback.
  using Finish = std::function<absl::Status(const runtime::CommandState&, absl::Status)>;
  using Urgency = runtime::Completions::Urgency;

  // Returns a completion that is done.
  static std::shared_ptr<Completion> Done(absl::Status status);
  // Returns a completion that is done when Set is called.
  static std::shared_ptr<Completion> Open();
  // Returns a completion that is done when the command is. `urgency` is that of its callbacks.
  static std::shared_ptr<Completion> Of(std::shared_ptr<runtime::Session> session,
                                        std::shared_ptr<runtime::Completions> completions,
                                        runtime::Command command, Urgency urgency, Finish finish = nullptr);

  // Returns true when it is done. Handles messages that have arrived, but does not wait.
  bool IsReady();
  absl::Status Await();
  // Calls `callback` once: now if it is done, else from the thread that learns of the end. May wait for a
  // moment if callbacks are awaited.
  void OnReady(Callback callback);
  // Completes it with `status`. Returns false when it was complete before.
  bool Set(absl::Status status);

 private:
  Completion() = default;
  // Completes it with the command's status.
  void SetFromCommand(absl::Status status);

  std::shared_ptr<runtime::Session> session_;  // Null unless it is the completion of a command.
  std::shared_ptr<runtime::Completions> completions_;
  runtime::Command command_;
  Urgency urgency_ = Urgency::kAwaited;

  std::atomic<bool> ready_{false};  // A copy of done_, to be read without the lock.
  absl::Mutex mu_;
  Finish finish_ ABSL_GUARDED_BY(mu_);
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  bool asked_ ABSL_GUARDED_BY(mu_) = false;  // True once the completion thread was asked to call back.
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  std::vector<Callback> callbacks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::pjrt

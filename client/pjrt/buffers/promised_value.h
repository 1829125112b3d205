// A value that a buffer is given after it was made.
#pragma once

#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/pjrt/events/completion.h"
#include "hlod/runtime/buffer.h"

namespace hlod::pjrt {

// Shared by the buffer and the one that gives the value. Thread-safe.
class PromisedValue {
 public:
  // Returns the value, or the error in its place; FAILED_PRECONDITION before it is given.
  absl::StatusOr<hlod::Buffer> Get() const;
  // Gives the value, which is there when `ready` is done. FAILED_PRECONDITION when it was given before.
  absl::Status Give(hlod::Buffer value, const std::shared_ptr<Completion>& ready);
  // Gives an error instead.
  absl::Status Fail(absl::Status error);
  // Lets go of the value, also of one that is given later.
  void Drop();
  // Done when the value is on the device.
  const std::shared_ptr<Completion>& end() const { return end_; }

 private:
  absl::Status Set(absl::StatusOr<hlod::Buffer> value);

  const std::shared_ptr<Completion> end_ = Completion::Open();
  mutable absl::Mutex mu_;
  std::optional<absl::StatusOr<hlod::Buffer>> value_ ABSL_GUARDED_BY(mu_);
  bool dropped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hlod::pjrt

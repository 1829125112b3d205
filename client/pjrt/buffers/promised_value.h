// A value that a buffer gets after it was made.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/pjrt/events/completion.h"
#include "hlod/runtime/buffer.h"

namespace hlod::pjrt {

// Shared by the buffer, by the code that gives the value, and by the runs that take it. Thread-safe.
class PromisedValue {
 public:
  // Keeps the value alive for a later Get(), even if the buffer is deleted before.
  class Use {
   public:
    explicit Use(std::shared_ptr<PromisedValue> promised);
    Use(Use&& other) = default;
    Use& operator=(Use&& other);
    ~Use();
    const PromisedValue& operator*() const { return *promised_; }
    PromisedValue* operator->() const { return promised_.get(); }

   private:
    std::shared_ptr<PromisedValue> promised_;
  };

  // Returns the value, or the error in its place; FAILED_PRECONDITION before it is given.
  absl::StatusOr<hlod::Buffer> Get() const;
  // Gives the value, which is on the device when `ready` is done. FAILED_PRECONDITION when it was given
  // before.
  absl::Status Give(hlod::Buffer value, const std::shared_ptr<Completion>& ready);
  // Gives an error instead.
  absl::Status Fail(absl::Status error);
  // Ends the buffer's own use. A value without uses is released, even if it is given later.
  void Drop() { RemoveUser(); }
  // Calls back when the value or an error was given: at once, or from the thread that gives it.
  void OnGiven(std::function<void()> callback);
  bool IsGiven() const;
  // Returns true when one use and `value`, the caller's copy of the value, are all that refers to the value.
  bool IsSoleUser(const hlod::Buffer& value) const;
  // Done when the value is on the device.
  const std::shared_ptr<Completion>& end() const { return end_; }

 private:
  void AddUser();
  void RemoveUser();
  absl::Status Set(absl::StatusOr<hlod::Buffer> value);
  void TellUsers();

  const std::shared_ptr<Completion> end_ = Completion::Open();
  mutable absl::Mutex mu_;
  std::optional<absl::StatusOr<hlod::Buffer>> value_ ABSL_GUARDED_BY(mu_);
  std::vector<std::function<void()>> when_given_ ABSL_GUARDED_BY(mu_);
  int users_ ABSL_GUARDED_BY(mu_) = 1;  // The first is the buffer.
};

}  // namespace hlod::pjrt

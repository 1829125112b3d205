// The result of a command under way. It has no thread of its own: the call that awaits it drives the
// connection.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace hlod {
namespace internal {

// The interface behind a future. Implemented inside the library; thread-safe.
template <typename T>
class Awaitable {
 public:
  using Result = std::conditional_t<std::is_void_v<T>, absl::Status, absl::StatusOr<T>>;
  virtual ~Awaitable() = default;
  virtual bool Ready() = 0;
  virtual Result Await(absl::Time deadline) = 0;
};

}  // namespace internal

// Copies share one result. A value is taken by the first Await that returns OK: a later Await, also on a
// copy, is FAILED_PRECONDITION. The end of a Future<void> is reported by each Await. Thread-safe.
template <typename T>
class Future {
 public:
  using Result = typename internal::Awaitable<T>::Result;

  Future() = default;  // Refers to nothing: only valid() may be called.
  explicit Future(std::shared_ptr<internal::Awaitable<T>> awaitable) : awaitable_(std::move(awaitable)) {}

  bool valid() const { return awaitable_ != nullptr; }
  // Returns true when Await would return without waiting. Handles messages that have arrived; never waits.
  bool Ready() const { return awaitable_->Ready(); }
  // Waits for the result and returns it, or the error of the command that was to make it. DEADLINE_EXCEEDED
  // when `timeout` passes first: the future stays valid and may be awaited again.
  Result Await(absl::Duration timeout = absl::InfiniteDuration()) const {
    return awaitable_->Await(timeout == absl::InfiniteDuration() ? absl::InfiniteFuture()
                                                                 : absl::Now() + timeout);
  }

 private:
  std::shared_ptr<internal::Awaitable<T>> awaitable_;
};

}  // namespace hlod

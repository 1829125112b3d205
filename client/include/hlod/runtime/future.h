// The result of a command that was sent. It has no thread of its own: the call that awaits it drives the
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
namespace runtime {

// The interface behind a future, implemented inside the library. Thread-safe.
template <typename T>
class Awaitable {
 public:
  using Result = std::conditional_t<std::is_void_v<T>, absl::Status, absl::StatusOr<T>>;
  virtual ~Awaitable() = default;
  virtual bool Ready() = 0;
  virtual Result Await(absl::Time deadline) = 0;
};

}  // namespace runtime

// Copies share one result. The first Await that returns OK takes the value: a later Await, also on a copy, is
// FAILED_PRECONDITION. A Future<void> may be awaited repeatedly. Thread-safe.
template <typename T>
class Future {
 public:
  using Result = typename runtime::Awaitable<T>::Result;

  Future() = default;  // Refers to no command: only valid() may be called.
  explicit Future(std::shared_ptr<runtime::Awaitable<T>> awaitable) : awaitable_(std::move(awaitable)) {}

  bool valid() const { return awaitable_ != nullptr; }
  // Returns true when Await would return without waiting. Handles messages that have arrived; never waits.
  bool Ready() const { return awaitable_->Ready(); }
  // Waits for the result and returns it, or the error of its command. DEADLINE_EXCEEDED when `timeout` passes
  // first: the future stays valid and may be awaited again.
  Result Await(absl::Duration timeout = absl::InfiniteDuration()) const {
    return awaitable_->Await(timeout == absl::InfiniteDuration() ? absl::InfiniteFuture()
                                                                 : absl::Now() + timeout);
  }

 private:
  std::shared_ptr<runtime::Awaitable<T>> awaitable_;
};

}  // namespace hlod

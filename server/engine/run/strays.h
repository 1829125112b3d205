// Calls that cannot be stopped: each is made on its own thread, and a run that must stop abandons it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "server/engine/run/run_context.h"

namespace hlod::engine {

// Counts the abandoned calls. Thread-safe.
class Strays {
 public:
  // The number of abandoned calls from which on a run waits for the end of its call.
  static constexpr int kMax = 4;

  Strays() = default;
  Strays(const Strays&) = delete;
  Strays& operator=(const Strays&) = delete;
  ~Strays();  // Waits for the abandoned calls.
  int count() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return count_;
  }

 private:
  friend class AbandonedCalls;
  bool Add();
  void Remove();

  mutable std::mutex mu_;
  std::condition_variable none_;
  int count_ = 0;
};

// The calls of one run. Thread-safe: steps make them from all of their threads.
class AbandonedCalls {
 public:
  // `all` must outlive every call.
  explicit AbandonedCalls(Strays& all) : all_(all) {}

  // Returns true when the call has ended. Returns false when the run had to stop before: then the call
  // continues, and the memory that it uses must be kept alive (Keep).
  bool Make(const RunContext& run, std::function<void()> call);
  // Keeps `used` until the last abandoned call has ended, then destroys it. Must be called after the run.
  void Keep(const std::shared_ptr<void>& used);
  bool any() const {
    return !left_.empty();
  }  // Returns true when calls were abandoned. Must be called after
     // the run.

 private:
  struct Call {
    std::mutex mu;
    std::condition_variable ended;
    bool has_ended = false, left = false;
    std::shared_ptr<void> used;
  };

  Strays& all_;
  std::mutex mu_;
  std::vector<std::shared_ptr<Call>> left_;
};

}  // namespace hlod::engine

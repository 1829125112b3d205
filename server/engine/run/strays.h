// Calls that cannot be stopped: each is made on a thread of its own, and a run that has to stop leaves it
// behind.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "server/engine/run/run_context.h"

namespace hlod::engine {

// Counts the calls that were left behind. Thread-safe.
class Strays {
 public:
  // A run waits for a call's end while there are so many.
  static constexpr int kMax = 4;

  Strays() = default;
  Strays(const Strays&) = delete;
  Strays& operator=(const Strays&) = delete;
  ~Strays();  // Waits for them.
  int count() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return count_;
  }

 private:
  friend class StrayCalls;
  bool Add();
  void Remove();

  mutable std::mutex mu_;
  std::condition_variable none_;
  int count_ = 0;
};

// The calls of one run. Thread-safe: steps make them from all of their threads.
class StrayCalls {
 public:
  // `all` outlives every call.
  explicit StrayCalls(Strays& all) : all_(all) {}

  // True when the call has been made. False when the run had to stop before its end: the call goes on, and
  // what it uses has to live on (Keep).
  bool Make(const RunContext& run, std::function<void()> call);
  // Destroys `used` when the last call that was left behind has ended. After the run.
  void Keep(const std::shared_ptr<void>& used);
  bool any() const { return !left_.empty(); }  // After the run.

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

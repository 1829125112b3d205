// Users of the assembler, for tests.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "server/engine/assemble/assembly_job.h"

namespace hlod::engine {

// Keeps its work until the test runs or drops it.
class HeldUser : public AssemblyUser {
 public:
  explicit HeldUser(int64_t bytes_max = std::numeric_limits<int64_t>::max()) : bytes_max_(bytes_max) {}
  void Submit(std::function<void()> work) override {
    ++requests_;
    works_.push_back(std::move(work));
  }
  bool Reserve(int64_t bytes) override {
    if (bytes_ + bytes > bytes_max_) return false;
    bytes_ += bytes;
    return true;
  }
  void Release(int64_t bytes) override { bytes_ -= bytes; }

  int requests() const { return requests_; }
  int64_t bytes() const { return bytes_; }
  void RunAll() {
    for (; !works_.empty(); works_.pop_front()) works_.front()();
  }
  void Drop() { works_.clear(); }

 private:
  const int64_t bytes_max_;
  int64_t bytes_ = 0;
  int requests_ = 0;
  std::list<std::function<void()>> works_;
};

// Starts a thread for each piece of work.
class ThreadUser : public AssemblyUser {
 public:
  void Submit(std::function<void()> work) override {
    std::lock_guard<std::mutex> lock(mu_);
    threads_.emplace_back(std::move(work));
  }
  bool Reserve(int64_t) override { return true; }
  void Release(int64_t) override {}
  // Waits for all work. Must be called before the user is destroyed.
  void Join() {
    while (true) {
      std::list<std::thread> threads;
      {
        std::lock_guard<std::mutex> lock(mu_);
        if (threads_.empty()) return;
        threads.swap(threads_);
      }
      for (std::thread& thread : threads) thread.join();
    }
  }

 private:
  std::mutex mu_;
  std::list<std::thread> threads_;
};

}  // namespace hlod::engine

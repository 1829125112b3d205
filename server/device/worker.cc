// A queue and the threads that empty it.
#include "server/device/worker.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace hlod::device {

Worker::Worker(const std::string& name, int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Run(); });
    pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
}

Worker::~Worker() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    more_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Worker::Post(Job job) {
  MutexLock lock(&mu_);
  jobs_.push_back(std::move(job));
  more_.Signal();
}

void Worker::Run() {
  while (true) {
    Job job;
    {
      MutexLock lock(&mu_);
      while (jobs_.empty() && !stopping_) more_.Wait(&mu_);
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    try {
      job();
    } catch (const std::exception& e) {
      spdlog::error("A job of a worker thread failed: {}", e.what());
    }
  }
}

}  // namespace hlod::device

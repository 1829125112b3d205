// The driver of a device.
#include "server/device/device_queue.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace hlod::device {
namespace {

void RunGuarded(const DeviceQueue::Job& job) {
  try {
    job();
  } catch (const std::exception& e) {
    spdlog::error("A job of a device failed: {}", e.what());
  }
}

}  // namespace

DeviceQueue::DeviceQueue(uint32_t ordinal) : driver_([this] { Drive(); }) {
  pthread_setname_np(driver_.native_handle(), ("device-" + std::to_string(ordinal)).c_str());
}

DeviceQueue::~DeviceQueue() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.SignalAll();
  }
  driver_.join();
}

void DeviceQueue::Submit(uint64_t session, double estimate_us, Job job) {
  {
    MutexLock lock(&mu_);
    if (running_ || queued_ > 0 || estimate_us >= kInlineUsMax) {
      std::deque<Job>& own = jobs_[session];
      if (own.empty()) turns_.push_back(session);
      own.push_back(std::move(job));
      ++queued_;
      // Whoever runs now looks again when it is done; only an idle device's driver sleeps.
      if (!running_) changed_.SignalAll();
      return;
    }
    running_ = true;
  }
  RunGuarded(job);
  MutexLock lock(&mu_);
  running_ = false;
  if (queued_ > 0 || stopping_) changed_.SignalAll();
}

int64_t DeviceQueue::length() const {
  MutexLock lock(&mu_);
  return queued_ + (running_ ? 1 : 0);
}

bool DeviceQueue::Drain(std::chrono::microseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (length() > 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void DeviceQueue::Drive() {
  while (true) {
    Job job;
    {
      MutexLock lock(&mu_);
      while (running_ || (queued_ == 0 && !stopping_)) changed_.Wait(&mu_);
      if (queued_ == 0) return;
      const uint64_t session = turns_.front();
      turns_.pop_front();
      const auto own = jobs_.find(session);
      job = std::move(own->second.front());
      own->second.pop_front();
      if (own->second.empty()) {
        jobs_.erase(own);
      } else {
        turns_.push_back(session);
      }
      --queued_;
      running_ = true;
    }
    RunGuarded(job);
    job = nullptr;  // What it held goes before the device is called idle.
    MutexLock lock(&mu_);
    running_ = false;
  }
}

}  // namespace hlod::device

// Reads records until there is none, then waits in the ring.
#include "server/session/ring/ring_thread.h"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "common/base/system/time_slice.h"

namespace hlod::session {
namespace {

// The thread is woken for all that it waits for; the limit is for a client whose code forgets to wake it.
constexpr std::chrono::seconds kSleepMax{10};

}  // namespace

absl::StatusOr<std::unique_ptr<RingThread>> RingThread::Start(rpc::RingPlace place, RingEvents& events) {
  std::unique_ptr<RingThread> ring(new RingThread(place, events));
  try {
    ring->thread_ = std::thread([ring = ring.get()] { ring->Run(); });
  } catch (const std::system_error& e) {
    return ResourceExhausted("There is no thread for a ring: %s.", e.what());
  }
  pthread_setname_np(ring->thread_.native_handle(), "ring");
  return ring;
}

RingThread::~RingThread() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  reader_.Interrupt();
  {
    MutexLock lock(&mu_);
    changed_.SignalAll();
  }
  thread_.join();
}

void RingThread::Read() {
  MutexLock lock(&mu_);
  reading_ = true;
  changed_.SignalAll();
}

void RingThread::Close() {
  closing_ = true;
  reader_.Interrupt();
}

void RingThread::Break(const absl::Status& status) {
  {
    MutexLock lock(&mu_);
    if (why_.ok()) why_ = status;
    broken_ = true;
    changed_.SignalAll();
  }
  reader_.Interrupt();
}

void RingThread::Run() {
  SetTimeSlice(kMessageSlice);
  for (;;) {
    {
      MutexLock lock(&mu_);
      while (!reading_ && !stopping_ && !broken_) changed_.Wait(&mu_);
    }
    if (stopping_) return;
    absl::Status status;
    try {
      ReadMessages();
    } catch (const std::exception& e) {
      status = ExceptionError("A message could not be handled", e);
    }
    {
      MutexLock lock(&mu_);
      if (status.ok()) status = why_;
    }
    if (status.ok()) continue;
    events_.OnRingBroken(status);
    return;
  }
}

void RingThread::ReadMessages() {
  std::string message;
  while (!stopping_ && !broken_ && ReadOne(message)) {
  }
}

bool RingThread::ReadOne(std::string& message) {
  const bool closing = closing_;  // Read before the ring, which has all that was written before the close.
  absl::StatusOr<rpc::RingReader::Got> got = reader_.Read(message);
  if (!got.ok()) {
    Break(got.status());
    return false;
  }
  switch (*got) {
    case rpc::RingReader::Got::kMessage: events_.OnRingMessage(message); return true;
    case rpc::RingReader::Got::kNothing:
      if (closing) {
        Stop();
        events_.OnRingEnd();
        return false;
      }
      events_.OnRingPause();
      reader_.Wait(kSleepMax);
      return true;
    case rpc::RingReader::Got::kElsewhere:
      Stop();
      events_.OnElsewhere();
      return false;
  }
  return false;
}

void RingThread::Stop() {
  MutexLock lock(&mu_);
  reading_ = false;
}

}  // namespace hlod::session

// The queue of events, and their delivery by one thread at a time.
#include "client/runtime/observe/events.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/connection/process.h"

namespace hlod {
namespace runtime {
namespace {

constinit thread_local int held = 0;  // The number of scopes of this thread that defer delivery.
constinit thread_local const ArgumentLines* argument_lines = nullptr;
constinit thread_local uint64_t transfer_value = 0, transfer_close = 0;

// The event queue of the process. Never destroyed, because tensors of static storage are destroyed late.
class EventQueue {
 public:
  static EventQueue& Get() {
    static auto* const queue = new EventQueue;
    return *queue;
  }

  void Add(Observer* observer) {
    absl::MutexLock lock(&mu_);
    observers_.push_back(observer);
    ObserversChanged();
  }

  void Remove(Observer* observer) {
    if (!owner_.IsThisOne()) return;
    absl::MutexLock lock(&mu_);
    // A call from within OnEvent does not wait, because this thread itself is delivering.
    if (handing_out_ != ThisThread()) {
      while (handing_out_ != 0) idle_.Wait(&mu_);
      HandOut();
      while (handing_out_ != 0) idle_.Wait(&mu_);
    }
    observers_.erase(std::find(observers_.begin(), observers_.end(), observer));
    ObserversChanged();
    if (observers_.empty()) events_.clear();
  }

  void Push(decltype(Event::what)&& what) {
    if (!owner_.IsThisOne()) return;  // The lock may have been held at the time of the fork.
    const double at_us = start_.us();
    absl::MutexLock lock(&mu_);
    if (observers_.empty()) return;
    events_.push_back({++last_, at_us, ThisThread(), std::move(what)});
    queued_.store(true, std::memory_order_relaxed);
  }

  // Returns without the lock if the queue is empty, as it is after most operations. A thread always sees the
  // events that it queued itself.
  void Deliver() {
    if (!queued_.load(std::memory_order_relaxed) || !owner_.IsThisOne()) return;
    absl::MutexLock lock(&mu_);
    if (handing_out_ == 0) HandOut();
  }

 private:
  static uint64_t ThisThread() {
    thread_local const auto id = static_cast<uint64_t>(syscall(SYS_gettid));
    return id;
  }

  void ObserversChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    observers.store(static_cast<uint32_t>(observers_.size()), std::memory_order_relaxed);
    changes_.fetch_add(1, std::memory_order_relaxed);
  }

  // Delivers until the queue is empty. Other threads, and observers that use hlod, may queue events
  // meanwhile.
  void HandOut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    handing_out_ = ThisThread();
    while (!events_.empty()) {
      taken_.swap(events_);
      HandOutTaken();
      taken_.clear();  // Clears it but keeps its memory for the next batch.
    }
    queued_.store(false, std::memory_order_relaxed);
    handing_out_ = 0;
    idle_.SignalAll();
  }

  // Delivers `taken_` without the lock, which is held again on return. An observer may be added or removed
  // from within OnEvent.
  void HandOutTaken() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (size_t next = 0; next < taken_.size();) {
      const std::vector<Observer*> to = observers_;
      const uint64_t changes = changes_.load(std::memory_order_relaxed);
      mu_.Unlock();
      for (; next < taken_.size() && changes_.load(std::memory_order_relaxed) == changes; ++next) {
        for (Observer* const observer : to) observer->OnEvent(taken_[next]);
      }
      mu_.Lock();
    }
  }

  const OwnerProcess owner_;
  const Stopwatch start_;
  absl::Mutex mu_;
  absl::CondVar idle_;
  uint64_t handing_out_ ABSL_GUARDED_BY(mu_) = 0;  // The thread that delivers; 0 for none.
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Event> events_ ABSL_GUARDED_BY(mu_);
  std::vector<Event> taken_;          // Used by the thread that delivers.
  std::atomic<bool> queued_ = false;  // True when events are queued; written under mu_.
  std::vector<Observer*> observers_ ABSL_GUARDED_BY(mu_);
  std::atomic<uint64_t> changes_ = 0;  // The number of changes of observers_; written under mu_.
};

}  // namespace

void Emit(decltype(Event::what)&& what) { EventQueue::Get().Push(std::move(what)); }

void DeliverEvents() {
  if (held == 0 && Observed()) EventQueue::Get().Deliver();
}

DeferEvents::DeferEvents() { ++held; }
DeferEvents::~DeferEvents() { --held; }

void DeliverEventsAtExit::Begin() { ++held; }
void DeliverEventsAtExit::End() {
  --held;
  DeliverEvents();
}

TransferOf::TransferOf(uint64_t value, uint64_t close)
    : outer_value_(std::exchange(transfer_value, value)),
      outer_close_(std::exchange(transfer_close, close)) {}
TransferOf::~TransferOf() {
  transfer_value = outer_value_;
  transfer_close = outer_close_;
}
ArgumentLines::ArgumentLines(std::vector<Origin> lines)
    : lines_(std::move(lines)), outer_(std::exchange(argument_lines, this)) {}
ArgumentLines::~ArgumentLines() { argument_lines = outer_; }
absl::Span<const Origin> ArgumentLines::Current() {
  return argument_lines == nullptr ? absl::Span<const Origin>() : absl::MakeConstSpan(argument_lines->lines_);
}

uint64_t TransferOf::value() { return transfer_value; }
uint64_t TransferOf::close() { return transfer_close; }

}  // namespace runtime

Observation::Observation(Observer& observer) : observer_(observer) {
  runtime::EventQueue::Get().Add(&observer);
}
Observation::~Observation() { runtime::EventQueue::Get().Remove(&observer_); }

}  // namespace hlod

// The threads of a queue: one of them watches the time, the others run jobs or end.
#include "server/device/execution/fair_queue.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "common/base/system/time_slice.h"
#include "server/engine/run/team.h"

namespace hlod::device {
namespace {

int64_t SteadyUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int NiceOfThisThread() { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); }

// The pause of a thread that finds no memory for its next job.
constexpr std::chrono::milliseconds kWithoutMemory(1);

// The time that each job of a manual queue takes.
constexpr int64_t kManualJobUs = 10;

// The job that this thread runs.
struct Current {
  const FairQueue* queue = nullptr;
  uint64_t session = 0, id = 0;
};
thread_local Current current;
thread_local int none_here = 0;  // The NoneHere of this thread.

// The condition variable of a thread that waits for a job. It is signalled without the queue's lock, perhaps
// when its thread has gone on, and ended, already. So it is never destroyed, but given to the next thread
// that needs one, which a late signal wakes in vain.
class Bell {
 public:
  Bell() {
    MutexLock lock(&unused.mu);
    if (unused.first == nullptr) {
      own_ = new Node;
    } else {
      own_ = std::exchange(unused.first, unused.first->next);
    }
  }
  ~Bell() {
    MutexLock lock(&unused.mu);
    own_->next = std::exchange(unused.first, own_);
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  CondVar& operator*() { return own_->rings; }

 private:
  struct Node {
    CondVar rings;
    Node* next = nullptr;
  };
  struct Unused {
    Mutex mu;
    Node* first ABSL_GUARDED_BY(mu) = nullptr;
  };
  static Unused unused;
  Node* own_;
};
Bell::Unused Bell::unused;

}  // namespace

FairQueue::Pause::Pause(FairQueue& queue) {
  if (current.queue != &queue || queue.options_.schedule.beside_us_max <= 0) return;
  MutexLock lock(&queue.mu_);
  int& paused = queue.paused_[current.session];
  if (paused == kPausesMax) return;
  ++paused;
  ++queue.all_paused_;
  queue_ = &queue;
  queue.schedule_.Complete(current.id, queue.NowUs());
  queue.Wake();
}

FairQueue::Pause::~Pause() {
  if (queue_ == nullptr) return;
  MutexLock lock(&queue_->mu_);
  --queue_->all_paused_;
  if (--queue_->paused_[current.session] == 0) queue_->paused_.erase(current.session);
  current.id = queue_->schedule_.Resume(current.session, queue_->NowUs());
}

FairQueue::NoneHere::NoneHere() { ++none_here; }

FairQueue::NoneHere::~NoneHere() { --none_here; }

FairQueue::FairQueue(Options options)
    : options_(std::move(options)),
      nice_(std::min(NiceOfThisThread() + options_.nice, 19)),
      schedule_(options_.schedule) {
  if (options_.manual) return;
  MutexLock lock(&mu_);
  while (threads_.size() < ThreadsKept()) {
    const size_t before = threads_.size();
    AddThread();
    if (threads_.size() == before) break;
  }
}

FairQueue::~FairQueue() { Stop(); }

int64_t FairQueue::NowUs() const { return options_.manual ? manual_us_ : SteadyUs(); }

size_t FairQueue::ThreadsKept() const {
  return static_cast<size_t>(options_.schedule.width) + (options_.schedule.beside_us_max > 0 ? 1 : 0);
}

void FairQueue::AddThread() {
  for (std::thread& thread : retired_) thread.join();  // The joined threads do not take the lock again.
  retired_.clear();
  try {
    threads_.emplace_back([this] { Drive(); });
    pthread_setname_np(threads_.back().native_handle(), options_.name.c_str());
  } catch (const std::exception& e) {
    // The process may not be able to start threads, or has no memory: jobs wait for the existing ones.
    if (threads_.empty()) throw;
    spdlog::warn("Queue {} has no further thread: {}", options_.name, e.what());
  }
}

void FairQueue::Retire() {
  const auto own = std::find_if(threads_.begin(), threads_.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  retired_.splice(retired_.end(), threads_, own);
}

void FairQueue::Wake() {
  if (!idle_.empty() && schedule_.NextStartUs() < watched_us_) idle_.back()->Signal();
}

void FairQueue::Submit(uint64_t session, double expected_us, Job job) {
  std::optional<uint64_t> started;
  CondVar* idle = nullptr;
  {
    MutexLock lock(&mu_);
    if (stopping_) return;  // The job is destroyed with the caller's frame, after the lock is released.
    if (!options_.manual && none_here == 0 && expected_us < options_.inline_us_max)
      started = schedule_.StartHere(session, expected_us, NowUs());
    if (!started.has_value()) {
      schedule_.Add(session, expected_us, std::move(job));
      if (!idle_.empty() && schedule_.NextStartUs() < watched_us_) idle = idle_.back();
    }
  }
  // Without the lock: the other thread may start at once on this core, and would wait for the lock.
  if (idle != nullptr) idle->Signal();
  if (started.has_value()) Run(session, *started, std::move(job), /*here=*/true);
}

bool FairQueue::RunNext() {
  std::optional<FairSchedule::Started> next;
  {
    MutexLock lock(&mu_);
    manual_us_ += kManualJobUs;
    if (!stopping_) next = schedule_.Start(manual_us_);
  }
  if (!next.has_value()) return false;
  Run(next->session, next->id, std::move(next->job), /*here=*/false);
  return true;
}

bool FairQueue::Postpone(uint64_t session, double expected_us, Job again) {
  MutexLock lock(&mu_);
  return !stopping_ && schedule_.Postpone(session, expected_us, std::move(again));
}

void FairQueue::Discard(uint64_t session) {
  std::list<FairSchedule::Waiting> gone;  // Destroyed after the lock is released.
  MutexLock lock(&mu_);
  gone = schedule_.Discard(session);
}

void FairQueue::Stop() {
  std::list<FairSchedule::Waiting> gone;
  std::list<std::thread> threads;
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    gone = schedule_.DiscardAll();
    threads.splice(threads.end(), threads_);
    threads.splice(threads.end(), retired_);
    for (CondVar* idle : idle_) idle->Signal();
  }
  gone.clear();
  for (std::thread& thread : threads) thread.join();
}

int64_t FairQueue::length() const {
  MutexLock lock(&mu_);
  return schedule_.waiting() + schedule_.running();
}

std::vector<FairSchedule::RunningJob> FairQueue::ListRunning() const {
  MutexLock lock(&mu_);
  return schedule_.ListRunning(NowUs());
}

void FairQueue::Drive() {
  // Both apply to this thread and to those that it starts.
  if (options_.nice != 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice_);
  SetTimeSlice(kWorkSlice);
  for (;;) {
    std::optional<FairSchedule::Started> next;
    try {
      next = AwaitJob();
    } catch (const std::exception&) {  // No memory for a list's entry: no job was taken.
      std::this_thread::sleep_for(kWithoutMemory);
      continue;
    }
    if (!next.has_value()) return;
    Run(next->session, next->id, std::move(next->job), /*here=*/false);
  }
}

std::optional<FairSchedule::Started> FairQueue::AwaitJob() {
  Bell bell;
  CondVar& wake = *bell;
  MutexLock lock(&mu_);
  if (!stopping_ && idle_.size() >= ThreadsKept()) {
    Retire();
    Wake();  // Another thread takes the job that this one would have taken.
    return std::nullopt;
  }
  const auto own = idle_.insert(idle_.end(), &wake);
  while (!stopping_) {
    std::optional<FairSchedule::Started> next;
    try {
      next = schedule_.Start(NowUs());
    } catch (const std::exception&) {  // No memory: the job still waits.
      idle_.erase(own);
      throw;
    }
    if (next.has_value()) {
      idle_.erase(own);
      // A thread that has just been added is not idle yet.
      if (idle_.empty() && options_.schedule.beside_us_max > 0 &&
          threads_.size() <= static_cast<size_t>(schedule_.running()) + all_paused_)
        AddThread();
      Wake();
      return next;
    }
    const int64_t at_us = schedule_.NextStartUs();
    if (at_us == FairSchedule::kNever) {
      wake.Wait(&mu_);
    } else {
      watched_us_ = std::min(watched_us_, at_us);
      wake.WaitFor(&mu_, std::chrono::microseconds(std::max<int64_t>(1, at_us - NowUs())));
      watched_us_ = FairSchedule::kNever;
    }
  }
  idle_.erase(own);
  return std::nullopt;
}

void FairQueue::Run(uint64_t session, uint64_t id, Job job, bool here) {
  const Current outer = std::exchange(current, {this, session, id});
  try {
    std::optional<engine::ScopedReader> reader;
    if (here) reader.emplace();
    job();
  } catch (const std::exception& e) {
    if (options_.failed != nullptr) options_.failed->Add(session);
    spdlog::error("A job of queue {} failed: {}", options_.name, e.what());
  }
  job = nullptr;  // Destroys what the job held before the queue counts it as completed.
  MutexLock lock(&mu_);
  schedule_.Complete(std::exchange(current, outer).id, NowUs());
  if (here) Wake();
}

}  // namespace hlod::device

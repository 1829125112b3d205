// One detached thread, started by the first session that ends. It is never joined. A process that exits right
// away gives it a moment first: over TCP a daemon that never got the goodbye would keep the session and wait
// for its client.
#include "client/runtime/background_closer.h"

#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace hlod::internal {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(2);
constexpr absl::Duration kExitTimeout = absl::Milliseconds(500);  // For all of them together.

struct ClosingPipe {
  std::shared_ptr<Pipe> pipe;
  std::deque<std::shared_ptr<const std::string>> rest;
  bool writing;
};

void Perform(ClosingPipe closing) {
  const absl::Time deadline = absl::Now() + kTimeout;
  while (absl::Now() < deadline) {
    if (!closing.writing && !closing.rest.empty()) {
      closing.writing = true;
      closing.pipe->StartWrite(std::move(closing.rest.front()));
      closing.rest.pop_front();
    }
    const PipeEvent event = closing.pipe->Poll(deadline);
    if (event.kind == PipeEvent::Kind::kWritten) closing.writing = false;
    if (event.kind == PipeEvent::Kind::kEnded) return;
  }
  closing.pipe->Cancel();
}

class BackgroundCloser {
 public:
  void Add(ClosingPipe closing) {
    absl::MutexLock lock(&mu_);
    waiting_.push_back(std::move(closing));
    ++open_;
    if (started_) return;
    started_ = true;
    process_ = getpid();
    std::atexit([] { Instance().Flush(); });
    std::thread([this] { Run(); }).detach();
  }

  // At exit, on the thread that exits. A forked child has no thread of ours to wait for.
  void Flush() {
    if (getpid() != process_) return;
    absl::MutexLock lock(&mu_);
    mu_.AwaitWithTimeout(absl::Condition(this, &BackgroundCloser::HasNothingOpen), kExitTimeout);
  }

  static BackgroundCloser& Instance() {
    static BackgroundCloser* const closer = new BackgroundCloser;
    return *closer;
  }

 private:
  void Run() {
    for (;;) {
      ClosingPipe next;
      {
        absl::MutexLock lock(&mu_);
        mu_.Await(absl::Condition(this, &BackgroundCloser::HasWork));
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      Perform(std::move(next));
      absl::MutexLock lock(&mu_);
      --open_;
    }
  }
  bool HasWork() const { return !waiting_.empty(); }
  bool HasNothingOpen() const { return open_ == 0; }

  absl::Mutex mu_;
  bool started_ = false;
  pid_t process_ = 0;
  int open_ = 0;  // Waiting or under way.
  std::deque<ClosingPipe> waiting_;
};

}  // namespace

void CloseInBackground(std::shared_ptr<Pipe> pipe, std::deque<std::shared_ptr<const std::string>> rest,
                       bool writing) {
  BackgroundCloser::Instance().Add({std::move(pipe), std::move(rest), writing});
}

}  // namespace hlod::internal

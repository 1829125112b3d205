// One detached thread, started by the first session that ends. It is never joined. A process that exits right
// away gives it a moment first: over TCP a daemon that never got the goodbye would keep the session and wait
// for its client.
#include "client/runtime/undertaker.h"

#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace hlod::internal {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(2);
constexpr absl::Duration kExitPatience = absl::Milliseconds(500);  // For all of them together.

struct Burial {
  std::shared_ptr<Pipe> pipe;
  std::deque<std::shared_ptr<const std::string>> rest;
  bool writing;
};

void Perform(Burial burial) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (absl::Now() < deadline) {
    if (!burial.writing && !burial.rest.empty()) {
      burial.writing = true;
      burial.pipe->StartWrite(std::move(burial.rest.front()));
      burial.rest.pop_front();
    }
    const PipeEvent event = burial.pipe->Poll(deadline);
    if (event.kind == PipeEvent::Kind::kWritten) burial.writing = false;
    if (event.kind == PipeEvent::Kind::kEnded) return;
  }
  burial.pipe->Cancel();
}

class Undertaker {
 public:
  void Add(Burial burial) {
    absl::MutexLock lock(&mu_);
    waiting_.push_back(std::move(burial));
    ++open_;
    if (started_) return;
    started_ = true;
    process_ = getpid();
    std::atexit([] { TheUndertaker().Flush(); });
    std::thread([this] { Run(); }).detach();
  }

  // At exit, on the thread that exits. A forked child has no thread of ours to wait for.
  void Flush() {
    if (getpid() != process_) return;
    absl::MutexLock lock(&mu_);
    mu_.AwaitWithTimeout(absl::Condition(this, &Undertaker::HasNothingOpen), kExitPatience);
  }

  static Undertaker& TheUndertaker() {
    static Undertaker* const undertaker = new Undertaker;
    return *undertaker;
  }

 private:
  void Run() {
    for (;;) {
      Burial next;
      {
        absl::MutexLock lock(&mu_);
        mu_.Await(absl::Condition(this, &Undertaker::HasWork));
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
  std::deque<Burial> waiting_;
};

}  // namespace

void Bury(std::shared_ptr<Pipe> pipe, std::deque<std::shared_ptr<const std::string>> rest, bool writing) {
  Undertaker::TheUndertaker().Add({std::move(pipe), std::move(rest), writing});
}

}  // namespace hlod::internal

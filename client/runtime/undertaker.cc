// One detached thread, started by the first session that ends. It is never joined: a process may exit while
// it waits, and the daemon then sees the process die, which frees the session as well.
#include "client/runtime/undertaker.h"

#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace hlod::internal {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(2);

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
    if (!started_) std::thread([this] { Run(); }).detach();
    started_ = true;
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
    }
  }
  bool HasWork() const { return !waiting_.empty(); }

  absl::Mutex mu_;
  bool started_ = false;
  std::deque<Burial> waiting_;
};

}  // namespace

void Bury(std::shared_ptr<Pipe> pipe, std::deque<std::shared_ptr<const std::string>> rest, bool writing) {
  static Undertaker* const undertaker = new Undertaker;
  undertaker->Add({std::move(pipe), std::move(rest), writing});
}

}  // namespace hlod::internal

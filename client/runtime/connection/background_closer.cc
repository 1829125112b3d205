// Ends one stream after another, on a detached thread that ends after the last of them.
#include "client/runtime/connection/background_closer.h"

#include <system_error>
#include <thread>
#include <utility>

#include "absl/time/clock.h"

namespace hlod::runtime {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(2);  // The time limit per stream.

}  // namespace

void BackgroundCloser::Close(std::shared_ptr<Pipe> pipe, std::deque<MessageParts> rest, bool writing) {
  absl::MutexLock lock(&mu_);
  waiting_.push_back({std::move(pipe), std::move(rest), writing});
  if (running_) return;
  try {
    std::thread([self = shared_from_this()] { self->Run(); }).detach();
    running_ = true;
  } catch (const std::system_error&) {
    waiting_.back()
        .pipe->Cancel();  // No thread could be started. The daemon notices that the connection is closed.
    waiting_.pop_back();
  }
}

void BackgroundCloser::Flush(absl::Duration timeout) {
  if (!owner_.IsThisOne()) return;
  absl::MutexLock lock(&mu_);
  mu_.AwaitWithTimeout(absl::Condition(this, &BackgroundCloser::IsIdle), timeout);
}

void BackgroundCloser::Run() {
  for (;;) {
    ClosingPipe next;
    {
      absl::MutexLock lock(&mu_);
      if (waiting_.empty()) {
        running_ = false;
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    EndStream(std::move(next));
  }
}

void BackgroundCloser::EndStream(ClosingPipe closing) {
  const absl::Time deadline = absl::Now() + kTimeout;
  while (absl::Now() < deadline) {
    if (!closing.writing && !closing.rest.empty()) {
      closing.writing = !closing.pipe->StartWrite(std::move(closing.rest.front()));
      closing.rest.pop_front();
      continue;
    }
    const PipeEvent event = closing.pipe->Poll(deadline);
    if (event.kind == PipeEvent::Kind::kWritten) closing.writing = false;
    if (event.kind == PipeEvent::Kind::kEnded) return;
  }
  closing.pipe->Cancel();
}

}  // namespace hlod::runtime

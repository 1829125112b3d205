// Ends the streams of destroyed sessions on a thread, because their destructors must not wait for the
// network.
#pragma once

#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/runtime/connection/pipe.h"
#include "client/runtime/connection/process.h"

namespace hlod::runtime {

// Shared by sessions. Its thread runs only while a stream has to be ended. Thread-safe.
class BackgroundCloser : public std::enable_shared_from_this<BackgroundCloser> {
 public:
  // Sends `rest` (after the current write, if `writing`), waits up to two seconds for the stream's end, then
  // cancels the stream. Returns at once.
  void Close(std::shared_ptr<Pipe> pipe, std::deque<MessageParts> rest, bool writing);
  // Waits until every stream passed to Close has ended, at most `timeout`. Does nothing in a forked child.
  void Flush(absl::Duration timeout);

 private:
  struct ClosingPipe {
    std::shared_ptr<Pipe> pipe;
    std::deque<MessageParts> rest;
    bool writing;
  };
  static void EndStream(ClosingPipe closing);
  void Run();
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !running_; }

  const OwnerProcess owner_;
  absl::Mutex mu_;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<ClosingPipe> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::runtime

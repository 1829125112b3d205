// One RPC on a completion queue: reads one at a time, writes in a queue, and an end. All of our methods are
// raw and generic, so one class serves them all; what a method does is a CallHandler.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/system/mutex.h"

namespace hlod::grpc_server {

class Call;

// What a method does. Calls come on the queue's thread, one at a time.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  // The call has begun; reading starts with the first call->Read().
  virtual void OnStart() {}
  virtual void OnRead(grpc::ByteBuffer& message) = 0;
  // The client sends no more, or the connection broke.
  virtual void OnReadsDone() = 0;
  virtual void OnWritten() {}
  // Nothing more happens. The handler is destroyed after it.
  virtual void OnDone() {}
  // Whether it asks for messages. False: none is awaited.
  virtual bool Reads() const { return true; }
  // Whether each message has to come within Start's timeout of the one before, not only the first.
  virtual bool EachMessageInTime() const { return false; }
  // Whether it does not ask for the next message yet: then its client is not late.
  virtual bool AwaitsTurn() const { return false; }
  // Whether there is something to say when the queue has nothing else to do ...
  virtual bool HasNews() { return false; }
  // ... and now it has nothing.
  virtual void OnIdle() {}
};

// An operation on its way; it keeps the call alive.
struct CallOperation {
  enum class Kind { kAccept, kRead, kWrite, kFinish, kAlarm, kEndAlarm, kDone } kind;
  std::shared_ptr<Call> call;
};

class Call : public std::enable_shared_from_this<Call> {
 public:
  Call();
  grpc::GenericServerContext& context() { return context_; }
  const std::string& method() const { return context_.method(); }
  // Asks for the next call of the service to become this one.
  void Accept(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue);
  // The server is shutting down: it will not.
  void Abandon() { done_.call.reset(); }
  // A call whose first message does not come within `timeout` ends with an error; one that has finished is
  // cancelled when its peer reads nothing for so long.
  void Start(std::unique_ptr<CallHandler> handler, absl::Duration timeout);

  // Drops it when the first message has come, or the call is over. On the queue's thread.
  void HoldUntilHeard(std::shared_ptr<const void> held) { until_heard_ = std::move(held); }

  // From any thread. Read: not while another one is on its way. What is written goes out in order; after
  // Finish nothing does.
  void Read();
  void Write(grpc::ByteBuffer message);
  void Finish(const absl::Status& status);
  // Ends the call at once: what was written and has not left is dropped. From any thread, once it has begun.
  void Cancel() {
    cancelled_ = true;
    context_.TryCancel();
  }

  // On the queue's thread.
  void OnOperation(CallOperation::Kind kind, bool ok);
  CallHandler* handler() { return handler_.get(); }
  // Whether the client reset it, or its connection broke. Once it is done.
  bool WasReset() const { return !cancelled_ && context_.IsCancelled(); }

 private:
  void StartNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetAlarm(grpc::Alarm& alarm, CallOperation& operation);
  void OnEndAlarm();
  void Begin(CallOperation& operation) { operation.call = shared_from_this(); }

  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_;
  CallOperation accept_{CallOperation::Kind::kAccept, nullptr}, read_{CallOperation::Kind::kRead, nullptr},
      write_{CallOperation::Kind::kWrite, nullptr}, finish_{CallOperation::Kind::kFinish, nullptr},
      alarmed_{CallOperation::Kind::kAlarm, nullptr}, end_alarmed_{CallOperation::Kind::kEndAlarm, nullptr},
      done_{CallOperation::Kind::kDone, nullptr};
  std::unique_ptr<CallHandler> handler_;
  grpc::ByteBuffer incoming_;
  grpc::ServerCompletionQueue* queue_ = nullptr;
  absl::Duration timeout_;
  grpc::Alarm alarm_;
  std::atomic<bool> cancelled_{false};  // By the daemon.
  bool heard_ = false;                  // On the queue's thread: a message has come since alarm_ was set.
  bool over_ = false;                   // On the queue's thread: OnDone was called.
  std::shared_ptr<const void> until_heard_;

  Mutex mu_;
  std::deque<grpc::ByteBuffer> outgoing_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;   // Finish was asked for ...
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;  // ... and has begun.
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  bool done_told_ ABSL_GUARDED_BY(mu_) = false;  // The call is done: no alarm is set any more.
  grpc::Alarm end_alarm_ ABSL_GUARDED_BY(mu_);
  size_t unwritten_ ABSL_GUARDED_BY(mu_) = 0;  // Of outgoing_, when end_alarm_ was set.
  grpc::Status status_ ABSL_GUARDED_BY(mu_);
};

// Runs a part of the call's work. One that throws ends the call; the daemon goes on.
void Guarded(Call& call, absl::FunctionRef<void()> body);

}  // namespace hlod::grpc_server

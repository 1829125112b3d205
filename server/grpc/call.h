// One RPC on a completion queue: reads one message at a time, writes from a queue, and ends. All methods are
// raw and generic, so one class serves them all; a CallHandler implements the method.
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

// The implementation of a method. Called on the queue's thread, one call at a time.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  // The call has begun. The handler's first call->Read() starts reading.
  virtual void OnStart() {}
  virtual void OnRead(grpc::ByteBuffer& message) = 0;
  // The client sends no more, or the connection broke.
  virtual void OnReadsDone() = 0;
  virtual void OnWritten() {}
  // The last function called. The handler is destroyed after it.
  virtual void OnDone() {}
  // Returns false if the method reads no messages; then none is waited for.
  virtual bool Reads() const { return true; }
  // Returns true if each message must arrive within Start's timeout after the previous one, instead of only
  // the first.
  virtual bool EachMessageInTime() const { return false; }
  // Returns true while the handler does not ask for the next message: then its client is not late.
  virtual bool AwaitsTurn() const { return false; }
  // HasNews returns true when there is something to send and the queue has no other event. Then OnIdle is
  // called.
  virtual bool HasNews() { return false; }
  virtual void OnIdle() {}
};

// A pending operation; it keeps the call alive.
struct CallOperation {
  enum class Kind { kAccept, kRead, kWrite, kFinish, kAlarm, kEndAlarm, kDone } kind;
  std::shared_ptr<Call> call;
};

class Call : public std::enable_shared_from_this<Call> {
 public:
  Call();
  grpc::GenericServerContext& context() { return context_; }
  const std::string& method() const { return context_.method(); }
  // Asks the service for its next call, which this object becomes.
  void Accept(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue);
  // Called when the server shuts down, so that no call is accepted.
  void Abandon() { done_.call.reset(); }
  // Starts the call. It ends with an error when its first message does not arrive within `timeout`. After
  // Finish, it is cancelled when its peer reads nothing for that long.
  void Start(std::unique_ptr<CallHandler> handler, absl::Duration timeout);

  // Keeps `held` until the first message has arrived or the call has ended. Must be called on the queue's
  // thread.
  void HoldUntilHeard(std::shared_ptr<const void> held) { until_heard_ = std::move(held); }

  // May be called from any thread. Read must not be called while another read is pending. Messages are sent
  // in order; a message written after Finish is not sent.
  void Read();
  void Write(grpc::ByteBuffer message);
  void Finish(const absl::Status& status);
  // Ends the call at once, dropping messages that were not sent. May be called from any thread after the call
  // has begun.
  void Cancel() {
    cancelled_ = true;
    context_.TryCancel();
  }

  // Called on the queue's thread.
  void OnOperation(CallOperation::Kind kind, bool ok);
  CallHandler* handler() { return handler_.get(); }
  // Returns true when the client reset the call or its connection broke. To be called once the call is done.
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
  std::atomic<bool> cancelled_{false};  // True when the daemon has cancelled the call.
  bool heard_ = false;  // Used on the queue's thread: true when a message has arrived since alarm_ was set.
  bool over_ = false;   // Used on the queue's thread: true when OnDone was called.
  std::shared_ptr<const void> until_heard_;

  Mutex mu_;
  std::deque<grpc::ByteBuffer> outgoing_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;   // True when Finish was called.
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;  // True when the operation of Finish has started.
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  bool done_told_ ABSL_GUARDED_BY(mu_) = false;  // True when the call is done: no further alarm is set.
  grpc::Alarm end_alarm_ ABSL_GUARDED_BY(mu_);
  size_t unwritten_ ABSL_GUARDED_BY(mu_) = 0;  // The size of outgoing_ when end_alarm_ was set.
  grpc::Status status_ ABSL_GUARDED_BY(mu_);
};

// Runs a part of the call's work. An exception ends the call, and the daemon continues.
void Guarded(Call& call, absl::FunctionRef<void()> body);

}  // namespace hlod::grpc_server

// Observes gRPC's rules: one read and one write at a time, Finish after the last write, and no object freed
// that the library still uses.
#include "server/grpc/call.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "common/base/errors/error.h"
#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "common/rpc/grpc/status.h"

namespace hlod::grpc_server {

Call::Call() : stream_(&context_) {}

void Call::Accept(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue) {
  queue_ = &queue;
  Begin(accept_);
  Begin(done_);
  context_.AsyncNotifyWhenDone(&done_);
  service.RequestCall(&context_, &stream_, &queue, &queue, &accept_);
}

void Call::SetAlarm(grpc::Alarm& alarm, CallOperation& operation) {
  Begin(operation);
  alarm.Set(queue_, std::chrono::system_clock::now() + absl::ToChronoMicroseconds(timeout_), &operation);
}

void Call::Start(std::unique_ptr<CallHandler> handler, absl::Duration timeout) {
  handler_ = std::move(handler);
  timeout_ = timeout;
  if (handler_->Reads()) {
    SetAlarm(alarm_, alarmed_);
  } else {
    until_heard_.reset();
  }
  handler_->OnStart();
}

void Call::Read() {
  Begin(read_);
  stream_.Read(&incoming_, &read_);
}

void Call::Write(grpc::ByteBuffer message) {
  MutexLock lock(&mu_);
  if (finished_ || broken_) return;
  outgoing_.push_back(std::move(message));
  StartNext();
}

void Call::Finish(const absl::Status& status) {
  MutexLock lock(&mu_);
  if (std::exchange(finished_, true)) return;
  status_ = rpc::ToGrpc(status);
  StartNext();
  // A client that does not read would keep the queued messages as long as its connection.
  if (!writing_ || done_told_) return;
  unwritten_ = outgoing_.size();
  SetAlarm(end_alarm_, end_alarmed_);
}

void Call::OnEndAlarm() {
  {
    MutexLock lock(&mu_);
    if (done_told_ || !writing_) return;
    if (outgoing_.size() < unwritten_) {  // The client reads, but slowly.
      unwritten_ = outgoing_.size();
      return SetAlarm(end_alarm_, end_alarmed_);
    }
  }
  Cancel();
}

void Call::StartNext() {
  if (writing_ || finishing_) return;
  if (!outgoing_.empty() && !broken_) {
    writing_ = true;
    Begin(write_);
    stream_.Write(outgoing_.front(), &write_);
  } else if (finished_) {
    finishing_ = true;
    Begin(finish_);
    stream_.Finish(status_, &finish_);
  }
}

void Call::OnOperation(CallOperation::Kind kind, bool ok) {
  switch (kind) {
    case CallOperation::Kind::kAccept:
    case CallOperation::Kind::kFinish: return;
    case CallOperation::Kind::kRead:
      if (over_)
        // The end of the call may be reported before that of its reads.
        return Finish(Cancelled("The call is over."));
      until_heard_.reset();
      if (!std::exchange(heard_, true) && !handler_->EachMessageInTime()) alarm_.Cancel();
      if (ok) {
        handler_->OnRead(incoming_);
      } else {
        handler_->OnReadsDone();
      }
      return;
    case CallOperation::Kind::kWrite: {
      {
        MutexLock lock(&mu_);
        writing_ = false;
        broken_ = !ok;
        outgoing_.pop_front();
        if (broken_) outgoing_.clear();
        StartNext();
      }
      if (ok && !over_) handler_->OnWritten();
      return;
    }
    case CallOperation::Kind::kAlarm:
      if (over_ || !ok || (heard_ && !handler_->EachMessageInTime())) return;
      // Without a kind, as a broken connection: the network may have been cut between two messages.
      if (!std::exchange(heard_, false) && !handler_->AwaitsTurn())
        return Finish(Unavailable("The call's next message did not come in time."));
      SetAlarm(alarm_, alarmed_);
      return;
    case CallOperation::Kind::kEndAlarm:
      if (ok) OnEndAlarm();
      return;
    case CallOperation::Kind::kDone:
      over_ = true;
      until_heard_.reset();
      alarm_.Cancel();
      {
        MutexLock lock(&mu_);
        done_told_ = true;
        end_alarm_.Cancel();
      }
      if (handler_ != nullptr) handler_->OnDone();
      return;
  }
}

void Guarded(Call& call, absl::FunctionRef<void()> body) {
  try {
    body();
  } catch (const std::exception& e) {
    spdlog::error("A call of {} failed: {}", call.method(), e.what());
    try {
      call.Finish(ExceptionError("The daemon could not go on with this call", e));
    } catch (const std::exception&) {  // There is not even memory for the error's text.
      call.Cancel();
    }
  }
}

}  // namespace hlod::grpc_server

// Methods that answer each request at once (administration, reflection), or before it arrives (health checks,
// refusals).
#include <functional>
#include <utility>

#include "common/base/errors/status.h"
#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {
namespace {

class AnswerHandler : public CallHandler {
 public:
  AnswerHandler(Call& call, Answer answer, bool streaming)
      : call_(call), answer_(std::move(answer)), streaming_(streaming) {}

  void OnStart() override { call_.Read(); }
  void OnRead(grpc::ByteBuffer& message) override {
    absl::StatusOr<std::string> answer = absl::InternalError("not answered");
    try {
      answer = answer_(ToString(message));
    } catch (const std::exception& e) {
      answer = absl::InternalError(e.what());
    }
    if (answer.ok()) call_.Write(ToByteBuffer(*answer));
    if (!answer.ok() || !streaming_) call_.Finish(answer.status());
  }
  // One answer at a time: a client that does not read answers cannot send further requests.
  void OnWritten() override {
    if (streaming_) call_.Read();
  }
  // A message that never ends would take memory that is not charged to a session.
  bool EachMessageInTime() const override { return streaming_; }
  void OnReadsDone() override { call_.Finish(absl::OkStatus()); }

 private:
  Call& call_;
  const Answer answer_;
  const bool streaming_;
};

class ConstantHandler : public CallHandler {
 public:
  ConstantHandler(Call& call, absl::StatusOr<std::string> answer) : call_(call), answer_(std::move(answer)) {}
  bool Reads() const override { return false; }
  void OnStart() override {
    if (answer_.ok()) call_.Write(ToByteBuffer(*answer_));
    call_.Finish(answer_.status());
  }
  void OnRead(grpc::ByteBuffer&) override {}
  void OnReadsDone() override {}

 private:
  Call& call_;
  const absl::StatusOr<std::string> answer_;
};

}  // namespace

std::unique_ptr<CallHandler> MakeConstantHandler(Call& call, absl::StatusOr<std::string> answer) {
  return std::make_unique<ConstantHandler>(call, std::move(answer));
}

std::unique_ptr<CallHandler> MakeAnswerHandler(Call& call, Answer answer, bool streaming) {
  return std::make_unique<AnswerHandler>(call, std::move(answer), streaming);
}

}  // namespace hlod::grpc_server

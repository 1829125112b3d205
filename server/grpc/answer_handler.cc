// Methods that answer each request at once: administration, health, reflection.
#include <functional>
#include <utility>

#include "common/base/status.h"
#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {
namespace {

class AnswerHandler : public CallHandler {
 public:
  AnswerHandler(Call& call, Answer answer, bool streaming)
      : call_(call), answer_(std::move(answer)), streaming_(streaming) {}

  void OnStart() override {
    if (answer_ != nullptr) call_.Read();
  }
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
  // One answer at a time: who does not read them is not asked for more.
  void OnWritten() override {
    if (streaming_) call_.Read();
  }
  void OnReadsDone() override { call_.Finish(absl::OkStatus()); }

 private:
  Call& call_;
  const Answer answer_;
  const bool streaming_;
};

// Says how the daemon is, and again when that changes. The client sends no more than its request.
class WatchHandler : public CallHandler {
 public:
  WatchHandler(Call& call, std::function<std::string()> health) : call_(call), health_(std::move(health)) {}
  void OnStart() override { call_.Read(); }
  void OnRead(grpc::ByteBuffer&) override {
    watching_ = true;
    Tell();
    call_.Read();
  }
  void OnReadsDone() override {
    if (!watching_) call_.Finish(InvalidArgument("A watch without a request."));
  }
  void OnAlarm() override {
    if (!watching_) return;
    Tell();
    call_.SetAlarm(absl::Milliseconds(500));
  }

 private:
  void Tell() {
    const std::string health = health_();
    if (health == told_) return;
    told_ = health;
    call_.Write(ToByteBuffer(health));
  }
  Call& call_;
  const std::function<std::string()> health_;
  bool watching_ = false;
  std::string told_;
};

}  // namespace

std::unique_ptr<CallHandler> MakeWatchHandler(Call& call, std::function<std::string()> health) {
  return std::make_unique<WatchHandler>(call, std::move(health));
}

std::unique_ptr<CallHandler> MakeAnswerHandler(Call& call, Answer answer, bool streaming) {
  return std::make_unique<AnswerHandler>(call, std::move(answer), streaming);
}

}  // namespace hlod::grpc_server

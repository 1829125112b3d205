// A client whose calls of the session machine run under failing memory. It does what the gRPC layer does
// with exceptions, remembers which commands it sent, and checks nothing by itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/failing_memory.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::faults {

// The pipe copies messages, where gRPC serializes them: memory for a message is one allocation, which may
// fail.
class OnePiecePipe : public session::PipeStream {
 public:
  bool Write(const v1::ServerMessage& message) override {
    const std::string bytes(message.ByteSizeLong() + 64, 0);
    SpareThisThread(true);
    const bool sent = PipeStream::Write(message);
    SpareThisThread(false);
    return sent;
  }
};

class Driver : public session::CommandsOf {
 public:
  explicit Driver(session::Daemon& daemon) : daemon_(daemon) {}
  ~Driver() { Break(); }

  // Opens a session, or goes on with the one that was open.
  void Connect() {
    stream_ = std::make_shared<OnePiecePipe>();
    connection_ = std::make_unique<session::Connection>(
        *daemon_.registry, session::Peer{.local = true, .description = "test", .owner = "user 1"});
    v1::ClientMessage message;
    v1::Hello& hello = *message.mutable_hello();
    hello.set_version_min(1);
    hello.set_version_max(1);
    hello.set_client("test");
    if (welcome_.has_value()) {
      resumes_ = true;
      hello.mutable_resume()->set_epoch(welcome_->epoch());
      hello.mutable_resume()->set_session(welcome_->session());
      hello.mutable_resume()->set_secret(welcome_->secret());
    }
    settled_through_ = 0;
    settled_.clear();
    SendRaw(message);
    Receive();
    const std::vector<v1::ClientMessage> again = sent_;
    for (const v1::ClientMessage& old : again) SendRaw(old);
  }
  uint64_t Send(v1::Command command, uint32_t origin = 0) {
    command.set_id(++last_command_);
    command.set_origin(origin);
    v1::ClientMessage message;
    *message.mutable_command() = std::move(command);
    sent_.push_back(message);
    SendRaw(message);
    return last_command_;
  }
  void Cancel(uint64_t command) {
    v1::ClientMessage message;
    message.mutable_cancel()->set_command(command);
    SendRaw(message);
  }
  // Calls a function of the daemon on the session, if it was opened, with failing memory.
  void Use(const std::function<void(session::Session&)>& call) {
    if (!welcome_.has_value()) return;
    const absl::StatusOr<std::shared_ptr<session::Session>> session =
        daemon_.registry->Authenticate(welcome_->session(), welcome_->secret());
    if (session.ok()) Enter([&] { call(**session); });
  }
  // Reads until all commands are answered or the stream has ended, for at most this long. Returns false
  // after that.
  bool AwaitAll(absl::Duration most) {
    const absl::Time until = absl::Now() + most;
    for (;;) {
      if (connection_ == nullptr && !ended()) Connect();
      Answered([&] { connection_->Flush(); });
      Receive();
      if (ended() || all_settled()) return true;
      if (absl::Now() > until) return false;
      daemon_.registry->Tick();
      if (connection_ == nullptr) continue;
      if (std::optional<v1::ServerMessage> next = stream_->Next(absl::Milliseconds(2)); next.has_value())
        Take(*next);
    }
  }
  void Break() {
    if (connection_ == nullptr) return;
    Enter([&] { connection_->OnClosed(stream_.get()); });
    connection_.reset();
  }
  bool ended() { return stream_->end().has_value(); }
  absl::Status end() { return stream_->end().value_or(absl::OkStatus()); }
  // True once it has come back on another connection: what happened meanwhile to its session, the end of a
  // stream no longer says.
  bool resumes() const { return resumes_; }
  bool IsSettled(uint64_t command) const { return command <= settled_through_ || settled_.contains(command); }
  const v1::Reply* ReplyTo(uint64_t command) const {
    const auto found = replies_.find(command);
    return found == replies_.end() ? nullptr : &found->second;
  }
  const std::map<uint64_t, v1::Reply>& replies() const { return replies_; }

 private:
  bool all_settled() const {
    for (uint64_t command = 1; command <= last_command_; ++command) {
      if (!IsSettled(command)) return false;
    }
    return true;
  }
  // Runs a call of the gRPC layer; if it throws, the stream ends, as grpc_server::Guarded ends it.
  void Enter(const std::function<void()>& call) {
    try {
      const Counted counted;
      call();
    } catch (const std::exception&) {
      stream_->Finish(MakeError(ErrorKind::kNoMemory, "The daemon has no memory for this call."));
    }
  }
  // Runs a call of the gRPC layer that sends answers; if it throws, the connection breaks, and the session
  // goes on in the next one, as grpc_server::SessionHandler has it.
  void Answered(const std::function<void()>& call) {
    if (connection_ == nullptr) return;
    try {
      const Counted counted;
      call();
    } catch (const std::exception&) {
      connection_->OnClosed(stream_.get());
      connection_.reset();
    }
  }
  void SendRaw(const v1::ClientMessage& message) {
    if (connection_ == nullptr || ended()) return;  // It goes with the next connection.
    Enter([&] { connection_->OnMessage(stream_, message); });
    Confirm();
  }
  void Confirm() {
    while (connection_ != nullptr && stream_->TakeUnconfirmed())
      Answered([&] { connection_->OnWritten(stream_.get()); });
  }
  void Receive() {
    Confirm();
    while (std::optional<v1::ServerMessage> next = stream_->Next(absl::ZeroDuration())) Take(*next);
  }
  void Take(const v1::ServerMessage& message) {
    if (message.has_welcome()) welcome_ = message.welcome();
    settled_through_ = std::max(settled_through_, message.settled_through());
    settled_.insert(message.settled().begin(), message.settled().end());
    for (const v1::Reply& reply : message.replies()) {
      replies_[reply.command()] = reply;
      settled_.insert(reply.command());
    }
    Confirm();
  }

  session::Daemon& daemon_;
  std::shared_ptr<session::PipeStream> stream_;
  std::unique_ptr<session::Connection> connection_;
  std::optional<v1::Welcome> welcome_;
  bool resumes_ = false;
  uint64_t last_command_ = 0, settled_through_ = 0;
  std::set<uint64_t> settled_;
  std::map<uint64_t, v1::Reply> replies_;
  std::vector<v1::ClientMessage> sent_;
};

}  // namespace hlod::faults

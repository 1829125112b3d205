// A daemon in memory: a Connector whose pipes pass every message to a function, which answers by pushing
// events.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/runtime/connection/pipe.h"
#include "common/base/errors/error.h"

namespace hlod::runtime {

class FakePipe : public Pipe {
 public:
  using Handler = std::function<void(const v1::ClientMessage&, FakePipe&)>;
  explicit FakePipe(Handler handler) : handler_(std::move(handler)) {}

  bool StartWrite(MessageParts parts) override {
    if (stalled) return false;
    std::string bytes;
    for (const std::shared_ptr<const std::string>& part : parts) bytes += *part;
    v1::ClientMessage message;
    message.ParseFromString(bytes);
    if (!reports_late && !writes_at_once) Push({.kind = PipeEvent::Kind::kWritten});
    handler_(message, *this);
    if (reports_late) Push({.kind = PipeEvent::Kind::kWritten});
    return writes_at_once;
  }
  PipeEvent Poll(absl::Time deadline) override {
    absl::MutexLock lock(&mu_);
    ++polls;
    mu_.AwaitWithDeadline(
        absl::Condition(+[](std::deque<PipeEvent>* events) { return !events->empty(); }, &events_), deadline);
    if (events_.empty()) return {};
    PipeEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  void FinishWrites() override {}
  void Cancel() override { End(absl::CancelledError("cancelled")); }

  bool reports_late = false;  // The answers to a message come before the report that it was written.
  bool stalled = false;       // Writes do not complete, because the daemon does not read.
  bool writes_at_once = false;  // Writes end before StartWrite returns, without an event.
  std::atomic<int> polls{0};    // The number of calls of Poll.

  void Push(PipeEvent event) {
    absl::MutexLock lock(&mu_);
    events_.push_back(std::move(event));
  }
  void Answer(v1::ServerMessage message) {
    Push({.kind = PipeEvent::Kind::kRead, .message = std::move(message)});
  }
  void End(absl::Status status) { Push({.kind = PipeEvent::Kind::kEnded, .status = std::move(status)}); }

 private:
  const Handler handler_;
  absl::Mutex mu_;
  std::deque<PipeEvent> events_;
};

// The behaviour of the fake daemon, and the messages that it has received. Its pipes share it, because a
// session may end after the test, on a thread that resumes it or looks at its connection: it connects, and
// says goodbye. A test therefore calls End() before what its functions use is gone, and the functions hold
// what they use by value, or use the fixture's members.
struct FakeDaemon {
  std::vector<v1::Hello> hellos;
  std::vector<v1::ClientMessage> messages;  // All messages except Hello.
  int connections = 0;
  uint64_t epoch = 7, received_through = 0;
  std::map<std::string, int64_t> limits;
  v1::Arena arena;  // Offered to the client when its size is not 0.
  bool may_stall = false;
  bool reports_late = false;  // See FakePipe; then an empty message follows each Welcome.
  std::function<absl::Status()> accept = [] { return absl::OkStatus(); };
  // Called for each command. The default settles it.
  std::function<void(const v1::Command&, FakePipe&)> on_command = Settle;
  // Called for each message that has neither a command nor a cancel.
  std::function<void(const v1::ClientMessage&, FakePipe&)> on_header = [](const auto&, auto&) {};
  std::shared_ptr<FakePipe> pipe;  // The latest pipe.
  std::shared_ptr<BulkChannel> bulk;  // Carries bulk streams; null if the test has none.

  static void Settle(const v1::Command& command, FakePipe& pipe) {
    v1::ServerMessage message;
    message.set_settled_through(command.id());
    pipe.Answer(std::move(message));
    if (command.has_goodbye()) pipe.End(absl::OkStatus());
  }
  static v1::ServerMessage Failure(uint64_t command, const std::string& text) {
    v1::ServerMessage message;
    message.set_settled_through(command);
    v1::Reply& reply = *message.add_replies();
    reply.set_command(command);
    reply.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
    reply.mutable_error()->set_kind(static_cast<int>(ErrorKind::kInvalidProgram));
    reply.mutable_error()->set_text(text);
    return message;
  }

  // Returns once none of the test's functions runs. Further messages are answered by the defaults.
  void End() {
    const absl::MutexLock lock(&mu_);
    over_ = true;
    accept = [] { return absl::OkStatus(); };
    on_command = Settle;
    on_header = [](const auto&, auto&) {};
    pipe.reset();  // Breaks a cycle: the pipe holds the daemon.
  }

  absl::Status Accept(std::shared_ptr<FakePipe> next) {
    const absl::MutexLock lock(&mu_);
    ++connections;
    absl::Status status = accept();
    if (status.ok() && !over_) pipe = std::move(next);
    return status;
  }

  void Handle(const v1::ClientMessage& message, FakePipe& on) {
    const absl::MutexLock lock(&mu_);  // Each session has its own thread.
    if (!message.has_hello()) {
      messages.push_back(message);
      if (message.has_command()) on_command(message.command(), on);
      for (const v1::Command& command : message.commands()) on_command(command, on);
      if (message.commands().empty() && message.message_case() == v1::ClientMessage::MESSAGE_NOT_SET)
        on_header(message, on);
      return;
    }
    hellos.push_back(message.hello());
    v1::ServerMessage answer;
    v1::Welcome& welcome = *answer.mutable_welcome();
    welcome.set_version(1);
    welcome.set_epoch(epoch);
    welcome.set_session(3);
    welcome.set_secret("secret");
    welcome.set_received_through(received_through);
    welcome.add_devices()->set_kind("cpu");
    for (const auto& [name, value] : limits) {
      v1::Limit& limit = *welcome.add_limits();
      limit.set_name(name);
      limit.set_value(value);
    }
    if (arena.bytes() > 0) *welcome.mutable_arena() = arena;
    on.Answer(std::move(answer));
    if (reports_late) on.Answer({});
  }
  std::vector<v1::Command> commands() const {
    std::vector<v1::Command> found;
    for (const v1::ClientMessage& message : messages) {
      if (message.has_command()) found.push_back(message.command());
      found.insert(found.end(), message.commands().begin(), message.commands().end());
    }
    return found;
  }

 private:
  absl::Mutex mu_;
  bool over_ = false;  // Pipes are not stored any more.
};

class FakeConnector : public Connector {
 public:
  explicit FakeConnector(std::shared_ptr<FakeDaemon> daemon) : daemon_(std::move(daemon)) {}
  absl::StatusOr<std::shared_ptr<Pipe>> Connect(absl::Time) override {
    const auto pipe = std::make_shared<FakePipe>(
        [daemon = daemon_](const v1::ClientMessage& message, FakePipe& on) { daemon->Handle(message, on); });
    pipe->reports_late = daemon_->reports_late;
    if (absl::Status status = daemon_->Accept(pipe); !status.ok()) return status;
    return std::shared_ptr<Pipe>(pipe);
  }
  std::shared_ptr<BulkChannel> bulk() override { return daemon_->bulk; }
  const std::string& address() const override { return address_; }
  bool local() const override { return daemon_->arena.bytes() > 0; }
  bool may_stall() const override { return daemon_->may_stall; }

 private:
  const std::shared_ptr<FakeDaemon> daemon_;
  const std::string address_ = "fake";
};

}  // namespace hlod::runtime

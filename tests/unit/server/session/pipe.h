// A client over a pipe in memory. It sends what a test says, and keeps the answers without checking them.
#pragma once

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/errors/error.h"
#include "common/hlo/proto/codec.h"
#include "common/rpc/wire.h"
#include "server/session/connection.h"
#include "server/session/registry.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::session {

// The daemon's side of a stream that ends in the test. Writes complete at once.
class PipeStream : public SessionStream {
 public:
  bool Write(const v1::ServerMessage& message) override {
    {
      MutexLock lock(&mu_);
      if (no_memory_) throw std::bad_alloc();
      messages_.push_back(message);
      ++unconfirmed_;
      changed_.SignalAll();
    }
    return false;
  }
  void Finish(const absl::Status& status) override {
    MutexLock lock(&mu_);
    if (!end_.has_value()) end_ = status;
    changed_.SignalAll();
  }
  // Returns the next message; nullopt when the stream has ended or no message came within `timeout`.
  std::optional<v1::ServerMessage> Next(absl::Duration timeout = absl::Seconds(20)) {
    const absl::Time deadline = absl::Now() + timeout;
    MutexLock lock(&mu_);
    while (messages_.empty() && !end_.has_value() && absl::Now() < deadline) {
      changed_.WaitFor(&mu_, std::chrono::microseconds(
                                 std::max<int64_t>(1, absl::ToInt64Microseconds(deadline - absl::Now()))));
    }
    if (messages_.empty()) return std::nullopt;
    v1::ServerMessage message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  bool TakeUnconfirmed() {
    MutexLock lock(&mu_);
    if (unconfirmed_ == 0) return false;
    --unconfirmed_;
    return true;
  }
  std::optional<absl::Status> end() {
    MutexLock lock(&mu_);
    return end_;
  }
  // Makes sending fail as if memory had run out.
  void SetNoMemory(bool no_memory) {
    MutexLock lock(&mu_);
    no_memory_ = no_memory;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::deque<v1::ServerMessage> messages_ ABSL_GUARDED_BY(mu_);
  int unconfirmed_ ABSL_GUARDED_BY(mu_) = 0;
  bool no_memory_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mu_);
};

class FakeProcesses : public Processes {
 public:
  std::map<int64_t, uint32_t> alive;
  std::set<int64_t> ended;
  bool HasEnded(int64_t pid) const override { return ended.contains(pid); }
  std::optional<uint32_t> UserOf(int64_t pid) const override {
    const auto found = alive.find(pid);
    return found == alive.end() ? std::nullopt : std::optional<uint32_t>(found->second);
  }
};

// A daemon without sockets.
struct Daemon {
  explicit Daemon(const Limits& limits = {}, int64_t device_bytes = 64 << 20, uint32_t count = 1,
                  bool leases = true, int64_t side_bytes = device::Devices::Options{}.side_bytes)
      : Daemon({.count = count,
                .device_bytes = device_bytes,
                .host_bytes = 256 << 20,
                .side_bytes = side_bytes,
                .threads = 1,
                .limits = limits},
               leases) {}
  explicit Daemon(const device::Devices::Options& options, bool leases = true)
      : devices(device::Devices::Create(options, clock).value()),
        registry(std::make_unique<Registry>(
            *devices, processes,
            Registry::Options{
                .epoch = 77, .leases = leases, .arena_socket = "test-arena", .daemon = "test"})) {
    spdlog::set_level(spdlog::level::warn);
  }
  device::FakeClock clock;
  FakeProcesses processes;
  std::unique_ptr<device::Devices> devices;
  std::unique_ptr<Registry> registry;
  int64_t used_bytes() { return devices->device(0).memory.figures().used_bytes; }
};

// Makes commands, which get their ids when they are sent.
struct CommandsOf {
  static hlod::xla::ShapeProto Shape(const hlo::Shape& shape) { return hlo::ToProto(shape); }
  static hlo::Shape F32x4() { return hlo::Shape::Array(hlo::kF32, {4}); }
  static std::string Bytes(const std::vector<float>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  static v1::Command UploadOf(const std::vector<float>& values, uint64_t handle,
                              const hlo::Shape& shape = F32x4()) {
    v1::Command command;
    v1::Upload& upload = *command.mutable_upload();
    upload.set_handle(handle);
    *upload.mutable_shape() = Shape(shape);
    upload.set_bytes(values.size() * sizeof(float));
    upload.set_cause(static_cast<int>(Cause::kUpload));
    upload.set_inline_(Bytes(values));
    return command;
  }
  static v1::Command StreamUploadOf(uint64_t handle, const hlo::Shape& shape = F32x4()) {
    v1::Command command = UploadOf({}, handle, shape);
    command.mutable_upload()->set_bytes(static_cast<uint64_t>(ByteSize(shape).value()));
    command.mutable_upload()->set_stream(true);
    return command;
  }
  static v1::Command PlaceholderOf(uint64_t handle, const hlo::Shape& shape = F32x4()) {
    v1::Command command;
    command.mutable_placeholder()->set_handle(handle);
    *command.mutable_placeholder()->mutable_shape() = Shape(shape);
    return command;
  }
  static v1::Command DownloadOf(uint64_t handle) {
    v1::Command command;
    command.mutable_download()->set_handle(handle);
    command.mutable_download()->set_cause(static_cast<int>(Cause::kDownload));
    command.mutable_download()->set_inline_(true);
    return command;
  }
  static v1::Command CompileOf(uint64_t handle, const std::string& program) {
    v1::Command command;
    command.mutable_compile()->set_executable(handle);
    command.mutable_compile()->set_module(program);
    return command;
  }
  static v1::Command ExecuteOf(uint64_t executable, const std::vector<uint64_t>& arguments,
                               const std::vector<uint64_t>& results) {
    v1::Command command;
    command.mutable_execute()->set_executable(executable);
    for (const uint64_t handle : arguments) command.mutable_execute()->add_arguments(handle);
    for (const uint64_t handle : results) command.mutable_execute()->add_results(handle);
    return command;
  }
  static v1::Command FreeOf(const std::vector<uint64_t>& handles) {
    v1::Command command;
    for (const uint64_t handle : handles) command.mutable_free()->add_handles(handle);
    return command;
  }
  static v1::Command PingOf(bool at_once = false) {
    v1::Command command;
    command.mutable_ping()->set_at_once(at_once);
    return command;
  }
  static v1::Command At(uint32_t origin, v1::Command command) {
    command.set_origin(origin);
    return command;
  }
};

class Client : public CommandsOf {
 public:
  explicit Client(Daemon& daemon, int64_t pid = 0, std::string owner = "user 1", bool separate = false)
      : daemon_(daemon), pid_(pid), owner_(std::move(owner)), separate_(separate) {
    Connect(std::nullopt);
  }
  ~Client() {
    if (connection_ != nullptr) connection_->OnClosed(stream_.get());
  }

  void Connect(std::optional<v1::Resume> resume) {
    stream_ = std::make_shared<PipeStream>();
    connection_ = std::make_unique<Connection>(*daemon_.registry,
                                               Peer{.local = true, .description = "test", .owner = owner_});
    v1::ClientMessage message;
    v1::Hello& hello = *message.mutable_hello();
    hello.set_separate(separate_);
    hello.set_version_min(1);
    hello.set_version_max(1);
    hello.set_client("test");
    hello.set_pid(pid_);
    if (resume.has_value()) *hello.mutable_resume() = *resume;
    SendRaw(message);
    if (std::optional<v1::ServerMessage> first = stream_->Next(); first.has_value()) {
      welcome = first->welcome();
      settled_through = std::max(settled_through, first->settled_through());
    }
    Confirm();
  }
  v1::Resume ResumeOf() const {
    v1::Resume resume;
    resume.set_epoch(welcome.epoch());
    resume.set_session(session());
    resume.set_secret(secret());
    return resume;
  }
  // Breaks the connection.
  void Break() {
    connection_->OnClosed(stream_.get());
    connection_.reset();
    settled_through = 0;
    settled.clear();
  }

  void SendRaw(const v1::ClientMessage& message) {
    connection_->OnMessage(stream_, message);
    Confirm();
  }
  // Sends a command under the next id, or under the id that it has. Returns the id.
  uint64_t Send(v1::Command command) {
    if (command.id() == 0) command.set_id(++last_command);
    v1::ClientMessage message;
    *message.mutable_command() = command;
    message.set_ack_through(ack_through);
    for (const uint64_t id : std::exchange(acknowledge, {})) message.add_acknowledged(id);
    sent.push_back(message);
    SendRaw(message);
    return command.id();
  }

  // Sends commands under the next ids, or under the ids that they have, in one message.
  void SendTogether(const std::vector<v1::Command>& commands) {
    v1::ClientMessage message;
    message.set_ack_through(ack_through);
    message.set_quiet(quiet);
    for (v1::Command command : commands) {
      if (command.id() == 0) command.set_id(++last_command);
      *message.add_commands() = std::move(command);
    }
    SendRaw(message);
  }

  // Reads until the command is answered, or settled without an answer.
  v1::Reply Await(uint64_t command) {
    for (;;) {
      Confirm();
      connection_->Flush();
      if (const auto found = replies.find(command); found != replies.end()) return found->second;
      if (settled_through >= command || settled.contains(command)) return {};
      const std::optional<v1::ServerMessage> message = stream_->Next();
      if (!message.has_value()) {
        ADD_FAILURE() << "Command " << command << " was not answered.";
        return {};
      }
      settled_through = std::max(settled_through, message->settled_through());
      for (const uint64_t id : message->settled())
        EXPECT_TRUE(settled.insert(id).second) << id << " is reported twice.";
      for (const v1::Reply& reply : message->replies()) {
        replies[reply.command()] = reply;
        ++reply_count[reply.command()];
      }
    }
  }
  v1::Reply Do(v1::Command command) { return Await(Send(std::move(command))); }
  ErrorDetails ErrorOfReply(const v1::Reply& reply) {
    return reply.has_error() ? rpc::FromProto(reply.error()) : ErrorDetails{};
  }
  ErrorDetails Fails(v1::Command command) { return ErrorOfReply(Do(std::move(command))); }
  // Returns the status with which the stream ended; waits briefly for it.
  absl::Status Ended() {
    for (int i = 0; i < 2000 && !stream_->end().has_value(); ++i) stream_->Next(absl::Milliseconds(5));
    return stream_->end().value_or(absl::OkStatus());
  }
  bool ended() { return stream_->end().has_value(); }

  // Defines a line. Returns its id.
  uint32_t Line(const std::string& file, int line) {
    v1::Command command;
    command.mutable_define_origin()->set_id(++last_origin_);
    command.mutable_define_origin()->mutable_origin()->set_file(file);
    command.mutable_define_origin()->mutable_origin()->set_line(line);
    Send(command);
    return last_origin_;
  }
  std::vector<float> Read(uint64_t handle) {
    const v1::Reply reply = Do(DownloadOf(handle));
    EXPECT_FALSE(reply.has_error()) << reply.error().text();
    std::vector<float> values(reply.download().inline_().size() / sizeof(float));
    std::memcpy(values.data(), reply.download().inline_().data(), reply.download().inline_().size());
    return values;
  }
  v1::SessionStats Stats() {
    v1::Command command;
    command.mutable_stats();
    return Do(command).stats();
  }
  uint64_t session() const { return welcome.session(); }
  const std::string& secret() const { return welcome.secret(); }
  PipeStream& stream() { return *stream_; }
  std::shared_ptr<Session> machine() { return daemon_.registry->Authenticate(session(), secret()).value(); }

  v1::Welcome welcome;
  uint64_t last_command = 0, settled_through = 0, ack_through = 0;
  bool quiet = false;                 // The value of `quiet` in messages of SendTogether.
  std::set<uint64_t> settled;         // Commands reported on this stream beyond settled_through.
  std::vector<uint64_t> acknowledge;  // Acknowledgements to send with the next command.
  std::map<uint64_t, v1::Reply> replies;
  std::map<uint64_t, int> reply_count;
  std::vector<v1::ClientMessage> sent;

 private:
  void Confirm() {
    while (connection_ != nullptr && stream_->TakeUnconfirmed()) connection_->OnWritten(stream_.get());
  }
  Daemon& daemon_;
  const int64_t pid_;
  const std::string owner_;
  const bool separate_;
  std::shared_ptr<PipeStream> stream_;
  std::unique_ptr<Connection> connection_;
  uint32_t last_origin_ = 0;
};

}  // namespace hlod::session

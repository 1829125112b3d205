// Programs, daemons, and sessions on the wire without the library.
#include "tests/integration/support/harness.h"

#include "absl/time/clock.h"
#include "common/hlo/text/text.h"
#include "common/rpc/grpc/status.h"
#include "common/rpc/wire.h"

namespace hlod {

std::string AddProgram(int64_t n) {
  return absl::StrFormat(R"(HloModule add

ENTRY main {
  x = f32[%d] parameter(0)
  y = f32[%d] parameter(1)
  ROOT sum = f32[%d] add(x, y)
}
)",
                         n, n, n);
}

std::string IncrementProgram(int64_t n) {
  return absl::StrFormat(R"(HloModule increment, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY main {
  x = f32[%d] parameter(0)
  one = f32[] constant(1)
  ones = f32[%d] broadcast(one), dimensions={}
  ROOT sum = f32[%d] add(x, ones)
}
)",
                         n, n, n);
}

Literal Counting(int64_t n) {
  Literal literal(Shape::Array(hlo::kF32, {n}));
  for (int64_t i = 0; i < n; ++i)
    literal.data<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 65536);
  return literal;
}

void DaemonTest::StartDaemon(testing::DaemonOptions options) {
  client_.reset();
  daemon_.reset();
  daemon_ = std::make_unique<testing::Daemon>(Must(testing::Daemon::Start(options)));
  client_ = std::make_unique<Client>(Must(daemon_->Connect()));
}

// ------------------------------------------------------------------------------------------------- raw

v1::Hello RawSession::GoodHello() {
  v1::Hello hello;
  hello.set_version_min(1);
  hello.set_version_max(1);
  hello.set_client("raw");
  return hello;
}

RawSession::RawSession(const std::string& address, const v1::Hello& hello) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  stub_ = v1::Session::NewStub(channel_);
  context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  stream_ = stub_->Connect(&context_);
  v1::ClientMessage message;
  *message.mutable_hello() = hello;
  stream_->Write(message);
  v1::ServerMessage answer;
  open_ = stream_->Read(&answer) && answer.has_welcome();
  welcome_ = answer.welcome();
}

RawSession::~RawSession() {
  context_.TryCancel();
  Finish().IgnoreError();
}

uint64_t RawSession::Send(v1::Command command, uint64_t id) {
  last_command_ = id == 0 ? last_command_ + 1 : id;
  command.set_id(last_command_);
  v1::ClientMessage message;
  *message.mutable_command() = std::move(command);
  stream_->Write(message);
  return last_command_;
}

std::optional<v1::Reply> RawSession::Await(uint64_t command) {
  for (;;) {
    for (const v1::Reply& reply : replies_) {
      if (reply.command() == command) return reply;
    }
    if (settled_ >= command) {
      v1::Reply settled;
      settled.set_command(command);
      return settled;
    }
    v1::ServerMessage message;
    if (!stream_->Read(&message)) return std::nullopt;
    settled_ = std::max<uint64_t>(settled_, message.settled_through());
    replies_.insert(replies_.end(), message.replies().begin(), message.replies().end());
  }
}

absl::Status RawSession::Call(v1::Command command, v1::Reply* reply) {
  const std::optional<v1::Reply> answer = Await(Send(std::move(command)));
  if (!answer.has_value()) return Finish();
  if (reply != nullptr) *reply = *answer;
  return answer->has_error() ? ToStatus(rpc::FromProto(answer->error())) : absl::OkStatus();
}

absl::Status RawSession::Finish() {
  if (!finished_.has_value()) {
    v1::ServerMessage message;
    while (stream_->Read(&message)) {
    }
    finished_ = rpc::FromGrpc(stream_->Finish());
  }
  return *finished_;
}

v1::TransferId RawSession::TransferOf(uint64_t command) const {
  v1::TransferId transfer;
  transfer.set_session(welcome_.session());
  transfer.set_secret(welcome_.secret());
  transfer.set_command(command);
  return transfer;
}

v1::Command UploadOf(uint64_t handle, const Literal& value) {
  v1::Command command;
  v1::Upload& upload = *command.mutable_upload();
  upload.set_handle(handle);
  *upload.mutable_shape() = hlo::ToProto(value.shape());
  upload.set_bytes(value.bytes().size());
  upload.set_cause(static_cast<int>(Cause::kUpload));
  upload.set_inline_(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  return command;
}

v1::Command CompileOf(uint64_t handle, std::string_view text) {
  v1::Command command;
  command.mutable_compile()->set_executable(handle);
  command.mutable_compile()->set_module(hlo::Serialize(*Must(hlo::ParseModule(text))));
  return command;
}

v1::Command ExecuteOf(uint64_t executable, const std::vector<uint64_t>& arguments,
                      const std::vector<uint64_t>& results) {
  v1::Command command;
  v1::Execute& execute = *command.mutable_execute();
  execute.set_executable(executable);
  for (const uint64_t argument : arguments) execute.add_arguments(argument);
  for (const uint64_t result : results) execute.add_results(result);
  return command;
}

v1::Command DownloadOf(uint64_t handle) {
  v1::Command command;
  command.mutable_download()->set_handle(handle);
  command.mutable_download()->set_cause(static_cast<int>(Cause::kDownload));
  command.mutable_download()->set_inline_(true);
  return command;
}

v1::Command FreeOf(uint64_t handle) {
  v1::Command command;
  command.mutable_free()->add_handles(handle);
  return command;
}

v1::Command PlaceholderOf(uint64_t handle, const Shape& shape) {
  v1::Command command;
  command.mutable_placeholder()->set_handle(handle);
  *command.mutable_placeholder()->mutable_shape() = hlo::ToProto(shape);
  return command;
}

}  // namespace hlod

// Plays what two clients send, as frames of any bytes, to a daemon without sockets or threads: each message
// is handled or ends its session, and when all sessions have ended the daemon holds nothing of them.
//
// A frame is a byte that chooses the client and what happens, a length N of two bytes, and N bytes of a
// ClientMessage. libFuzzer changes the fields of messages by the functions of session_mutator.cc, because
// nearly every other change makes bytes that are no message. HLOD_FUZZ_SHOW=1 prints the daemon's messages.
#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/session/connection.h"
#include "server/session/registry.h"
#include "tests/fuzz/session_frames.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

namespace fs = std::filesystem;
using fuzz::Frame;

constexpr int64_t kRunUs = 50'000;  // An endless program ends then.

Limits FuzzLimits() {
  Limits limits;
  limits.execute_us_max = kRunUs;
  limits.channel_wait_us = 1'000;
  limits.handles_per_session_max = 64;
  limits.commands_in_flight_max = 64;
  limits.origins_per_session_max = 16;
  limits.reasons_kept = 8;
  limits.buffer_bytes_max = 1 << 20;
  limits.staging_bytes_max = 1 << 20;
  limits.unacknowledged_bytes_max = 1 << 20;
  limits.program_bytes_max = 1 << 16;
  limits.arena_bytes = 0;
  return limits;
}

// The daemon's side of a client's stream.
struct FuzzStream : SessionStream {
  bool Write(const v1::ServerMessage& message) override {
    if (ended) std::abort();
    static const bool show = std::getenv("HLOD_FUZZ_SHOW") != nullptr;
    if (show) std::fprintf(stderr, "%s\n", message.ShortDebugString().c_str());
    if (message.has_welcome()) welcome = message.welcome();
    settled_through = std::max(settled_through, message.settled_through());
    ++unconfirmed;
    return false;
  }
  void Finish(const absl::Status&) override { ended = true; }
  v1::Welcome welcome;
  uint64_t settled_through = 0;
  int unconfirmed = 0;
  bool ended = false;
};

class FuzzClient {
 public:
  explicit FuzzClient(Registry& registry) : registry_(registry) {}
  ~FuzzClient() { Break(); }

  void Break() {
    if (connection_ != nullptr) connection_->OnClosed(stream_.get());
    connection_.reset();
  }
  void Connect(bool resume) {
    Break();
    v1::ClientMessage message;
    v1::Hello& hello = *message.mutable_hello();
    hello.set_version_min(1);
    hello.set_version_max(1);
    if (resume && stream_ != nullptr) {
      hello.mutable_resume()->set_epoch(stream_->welcome.epoch());
      hello.mutable_resume()->set_session(stream_->welcome.session());
      hello.mutable_resume()->set_secret(stream_->welcome.secret());
    }
    Open();
    connection_->OnMessage(stream_, message);
    last_command_ = stream_->welcome.received_through();
    Confirm();
  }
  // Sends the bytes as they are, also as the first message.
  void SendRaw(std::string_view bytes) {
    if (connection_ == nullptr) Open();
    Send(bytes, [](v1::ClientMessage&) {});
  }
  // Sends the bytes with ids and acknowledgements as the session expects them.
  void SendInOrder(std::string_view bytes) {
    if (connection_ == nullptr) Connect(/*resume=*/true);
    Send(bytes, [&](v1::ClientMessage& message) {
      if (message.has_command()) message.mutable_command()->set_id(++last_command_);
      for (v1::Command& command : *message.mutable_commands()) command.set_id(++last_command_);
      if (message.ack_through() != 0) message.set_ack_through(stream_->settled_through);
    });
  }
  // Moves the bytes of an upload or of a download by Bulk's functions; the first byte chooses the command.
  void MoveBulk(std::string_view bytes) {
    if (stream_ == nullptr || bytes.empty()) return;
    const auto session = registry_.Authenticate(stream_->welcome.session(), stream_->welcome.secret());
    if (!session.ok()) return;
    const uint64_t command = last_command_ - static_cast<uint8_t>(bytes[0]) % 8;
    if (const auto kept = (*session)->transfers().FindDownload(command); kept.ok())
      (*session)->transfers().CountDownload(**kept);
    device::SessionUploads& uploads = (*session)->session_device().uploads();
    const absl::StatusOr<device::UploadPart> part = uploads.Claim(command);
    if (!part.ok()) return;
    bytes.remove_prefix(1);
    const size_t moved = std::min(bytes.size(), part->target.size());
    if (moved > 0) std::memcpy(part->target.data(), bytes.data(), moved);
    uploads.AddReceived(command, part->generation, static_cast<int64_t>(moved));
    if (moved < part->target.size()) uploads.AbortTransfer(command, part->generation);
  }
  void Confirm() {
    if (connection_ == nullptr) return;
    if (connection_->has_session()) {
      connection_->Flush();
      for (; stream_->unconfirmed > 0; --stream_->unconfirmed) connection_->OnWritten(stream_.get());
    }
    if (stream_->ended) Break();
  }

 private:
  void Open() {
    auto stream = std::make_shared<FuzzStream>();
    if (stream_ != nullptr) stream->welcome = stream_->welcome;
    stream_ = std::move(stream);
    connection_ = std::make_unique<Connection>(registry_,
                                               Peer{.local = true, .description = "fuzz", .owner = "user 1"});
  }
  template <typename Change>
  void Send(std::string_view bytes, Change change) {
    if (connection_ == nullptr) return;
    v1::ClientMessage message;
    if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      change(message);
      connection_->OnMessage(stream_, message);
    } else {
      connection_->OnMalformed(*stream_);
    }
    Confirm();
  }

  Registry& registry_;
  std::shared_ptr<FuzzStream> stream_;
  std::unique_ptr<Connection> connection_;
  uint64_t last_command_ = 0;
};

// The daemon and its clients.
class World {
 public:
  World() {
    device::Devices::Options options;
    options.count = 2;
    options.device_bytes = 1 << 20;
    options.host_bytes = 4 << 20;
    options.threads = 1;
    options.manual = true;
    options.limits = FuzzLimits();
    devices_ = device::Devices::Create(options, clock_).value();
    registry_ =
        std::make_unique<Registry>(*devices_, processes_, Registry::Options{.epoch = 77, .daemon = "fuzz"});
    for (std::unique_ptr<FuzzClient>& client : clients_) client = std::make_unique<FuzzClient>(*registry_);
  }

  void Play(const Frame& frame) {
    FuzzClient& client = *clients_[frame.head & Frame::kOther ? 1 : 0];
    switch (frame.head & Frame::kActions) {
      case Frame::kInOrder: client.SendInOrder(frame.bytes); break;
      case Frame::kRaw: client.SendRaw(frame.bytes); break;
      case Frame::kBulk: client.MoveBulk(frame.bytes); break;
      case Frame::kBreak: client.Break(); break;
      case Frame::kResume: client.Connect(/*resume=*/true); break;
      case Frame::kConnect: client.Connect(/*resume=*/false); break;
      case Frame::kRun: Run(); break;
      default: Wait(absl::Seconds(1 + frame.bytes.size() % 40));
    }
    for (const std::unique_ptr<FuzzClient>& one : clients_) one->Confirm();
  }

  void End() {
    for (const std::unique_ptr<FuzzClient>& client : clients_) client->Break();
    Wait(absl::Microseconds(FuzzLimits().grace_us + 1));
    for (int i = 0; i < 3; ++i) {
      Run();
      registry_->Tick();
    }
    const int64_t used =
        devices_->device(0).memory.figures().used_bytes + devices_->device(1).memory.figures().used_bytes;
    if (registry_->size() == 0 && used == 0 && devices_->side_memory().used_bytes() == 0 &&
        devices_->queued() == 0 && devices_->pool().used_bytes() == 0)
      return;
    std::fprintf(stderr, "left: %zu sessions, %lld bytes of devices, %lld of side memory, %lld jobs\n",
                 registry_->size(), static_cast<long long>(used),
                 static_cast<long long>(devices_->side_memory().used_bytes()),
                 static_cast<long long>(devices_->queued()));
    std::abort();
  }

 private:
  void Run() {
    constexpr int kJobsMax = 1000;
    for (int job = 0; job < kJobsMax && devices_->RunNext(0); ++job) {
    }
  }
  void Wait(absl::Duration time) {
    clock_.Advance(time);
    registry_->Tick();
  }

  device::FakeClock clock_;
  FakeProcesses processes_;
  std::unique_ptr<device::Devices> devices_;
  std::unique_ptr<Registry> registry_;
  std::array<std::unique_ptr<FuzzClient>, 2> clients_;
};

}  // namespace
}  // namespace hlod::session

// Writes the seeds into the last folder of the arguments.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  spdlog::set_level(spdlog::level::off);
  google::protobuf::SetLogHandler(nullptr);
  const std::filesystem::path folder = (*argv)[*argc - 1];
  if (!std::filesystem::is_directory(folder)) return 0;
  int number = 0;
  for (const std::vector<hlod::fuzz::Frame>& seed : hlod::fuzz::SessionSeeds()) {
    std::ofstream(folder / ("seed" + std::to_string(number++) + ".session"),
                  std::ios::binary | std::ios::trunc)
        << hlod::fuzz::Joined(seed);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kFramesMax = 200;  // More take long and do the same again.
  const std::vector<hlod::fuzz::Frame> frames =
      hlod::fuzz::Split({reinterpret_cast<const char*>(data), size}, kFramesMax);
  hlod::session::World world;
  for (const hlod::fuzz::Frame& frame : frames) world.Play(frame);
  world.End();
  return 0;
}

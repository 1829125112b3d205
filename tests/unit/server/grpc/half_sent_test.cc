// The memory that gRPC keeps for messages that begin and never end is bounded.
//
// gRPC's client sends a message whole, so this client speaks HTTP/2 itself (RFC 9113, RFC 7541), within the
// windows that the server grants.
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "absl/time/clock.h"
#include "proto/hlod/v1/session.grpc.pb.h"
#include "server/grpc/server.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::grpc_server {
namespace {

// The types of HTTP/2 frames.
enum : uint8_t { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kWindowUpdate = 8 };

std::string BigEndian(uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> 8 * i);
  return text;
}

class HalfSender {
 public:
  explicit HalfSender(const rpc::Endpoint& endpoint)
      : fd_(socket(endpoint.path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (endpoint.path.empty()) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(static_cast<uint16_t>(endpoint.port));
      Connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    } else {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strncpy(address.sun_path, endpoint.path.c_str(), sizeof(address.sun_path) - 1);
      Connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    }
    Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(kSettings, 0, 0, ""));
  }

  // Begins a call with the header of a message of `bytes` bytes.
  void Begin(uint32_t stream, const std::string& method, uint32_t bytes) {
    const auto text = [](const std::string& t) { return static_cast<char>(t.size()) + t; };
    // Method POST, scheme http, and literals under names of the static table.
    Send(Frame(kHeaders, /*end of headers*/ 4, stream,
               "\x83\x86\x04" + text(method) + "\x01" + text("x") + "\x0f\x10" + text("application/grpc") +
                   std::string(1, '\0') + text("te") + text("trailers")));
    windows_[stream] = stream_window_;
    left_[stream] = bytes - 1;  // All bytes except the last one.
    SendData(stream, std::string(1, '\0') + BigEndian(bytes, 4));
  }

  // Sends as much as the windows allow, until all is sent or the server has granted no more for `patience`.
  // With `until_reset` it waits until the server has ended a call, for any time.
  void SendAll(absl::Duration patience, bool until_reset = false) {
    const auto waits = [&] { return Wait(until_reset && reset_.empty() ? absl::Minutes(1) : patience); };
    bool moved = true;
    while (open_ && (moved || waits())) {
      moved = false;
      for (auto& [stream, left] : left_) {
        const int64_t n = std::min<int64_t>({left, 16'384, windows_[stream], window_});
        if (n <= 0 || reset_.contains(stream)) continue;
        left -= n;
        sent_ += n;
        SendData(stream, std::string(n, 'x'));
        moved = true;
        Receive();
        if (!open_) return;
      }
      std::erase_if(left_,
                    [this](const auto& entry) { return entry.second <= 0 || reset_.contains(entry.first); });
    }
  }
  // Returns true when the server ends the connection within `patience`, while this side reads and does not
  // send.
  bool EndsThoughNothingIsAnswered(absl::Duration patience) {
    const absl::Time deadline = absl::Now() + patience;
    while (open_ && absl::Now() < deadline) {
      pollfd polled{fd_.get(), POLLIN, 0};
      if (poll(&polled, 1, static_cast<int>(absl::ToInt64Milliseconds(deadline - absl::Now())) + 1) > 0)
        ReadSome();
    }
    return !open_;
  }
  int64_t sent() const { return sent_; }
  // Returns the number of calls that the server ended.
  size_t reset() const { return reset_.size(); }

 private:
  void Connect(const sockaddr* address, socklen_t size) {
    EXPECT_EQ(connect(fd_.get(), address, size), 0) << std::strerror(errno);
  }
  static std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
    return BigEndian(static_cast<uint32_t>(payload.size()), 3) + static_cast<char>(type) +
           static_cast<char>(flags) + BigEndian(stream, 4) + payload;
  }
  // Sends bytes. When the socket is full, it reads the server's bytes first: the server does not read while
  // it cannot write.
  void Send(const std::string& bytes) {
    size_t sent = 0;
    while (open_ && sent < bytes.size()) {
      pollfd polled{fd_.get(), POLLIN | POLLOUT, 0};
      if (poll(&polled, 1, 20'000) <= 0) open_ = false;
      if ((polled.revents & POLLOUT) != 0) {
        const ssize_t n =
            send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) sent += static_cast<size_t>(n);
        if (n < 0 && errno != EAGAIN) open_ = false;
      } else {
        ReadSome();
      }
    }
  }
  void SendData(uint32_t stream, const std::string& bytes) {
    windows_[stream] -= static_cast<int64_t>(bytes.size());
    window_ -= static_cast<int64_t>(bytes.size());
    Send(Frame(kData, 0, stream, bytes));
  }
  bool Wait(absl::Duration patience) {
    pollfd polled{fd_.get(), POLLIN, 0};
    if (left_.empty() || poll(&polled, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) <= 0)
      return false;
    Receive();
    return open_;
  }
  void ReadSome() {
    char bytes[4096];
    const ssize_t n = recv(fd_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n > 0) received_.append(bytes, static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EAGAIN)) open_ = false;
  }
  void Receive() {
    ReadSome();
    const auto number = [](std::string_view text) {
      uint32_t value = 0;
      for (const char c : text) value = value << 8 | static_cast<uint8_t>(c);
      return value;
    };
    while (received_.size() >= 9) {
      const size_t length = number(std::string_view(received_).substr(0, 3));
      if (received_.size() < 9 + length) return;
      const auto type = static_cast<uint8_t>(received_[3]), flags = static_cast<uint8_t>(received_[4]);
      const uint32_t stream = number(std::string_view(received_).substr(5, 4));
      const std::string payload = received_.substr(9, length);
      received_.erase(0, 9 + length);
      if (type == kWindowUpdate) (stream == 0 ? window_ : windows_[stream]) += number(payload);
      if (type == kReset) reset_.insert(stream);
      if (type == kPing && (flags & 1) == 0) Send(Frame(kPing, 1, 0, payload));
      if (type != kSettings || (flags & 1) != 0) continue;
      for (size_t i = 0; i + 6 <= payload.size(); i += 6) {
        if (number(payload.substr(i, 2)) != 4) continue;  // SETTINGS_INITIAL_WINDOW_SIZE.
        const int64_t now = number(payload.substr(i + 2, 4));
        for (auto& [id, window] : windows_) window += now - stream_window_;
        stream_window_ = now;
      }
      Send(Frame(kSettings, 1, 0, ""));
    }
  }

  const rpc::Descriptor fd_;
  bool open_ = true;
  std::string received_;
  int64_t stream_window_ = 65'535, window_ = 65'535;
  std::map<uint32_t, int64_t> windows_, left_;  // The values by stream.
  std::set<uint32_t> reset_;
  int64_t sent_ = 0;
};

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages, resident;
  file >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// The memory that a daemon kept for messages whose last bytes were never sent.
struct Outcome {
  int64_t sent = 0, kept = 0;
  size_t ended = 0;
};
constexpr uint32_t kStreams = 16, kBytes = 12 << 20;
constexpr int64_t kAll = int64_t{kStreams} * (kBytes - 1);

ReceiveLimits Bound(int64_t bytes) { return {.stranger_bytes_max = bytes, .session_bytes_max = bytes}; }

Outcome SendHalves(const ReceiveLimits& limits, absl::Duration patience, bool until_reset) {
  char folder[] = "/tmp/hlod-half-sent-XXXXXX";
  EXPECT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/hlod.sock";
  const Clock clock;
  const std::unique_ptr<device::Devices> devices = device::MakeDevices(clock);
  ServerOptions options;
  const rpc::Endpoint endpoint = rpc::ParseEndpoint("unix:" + path).value();
  options.listen.push_back(endpoint);
  options.greeting = absl::Minutes(10);
  options.received = limits;
  std::unique_ptr<Server> server = Server::Start(std::move(options), *devices).value();
  Outcome outcome;
  {
    HalfSender sender(endpoint);
    malloc_trim(0);
    const int64_t before = ResidentBytes();
    for (uint32_t i = 0; i < kStreams; ++i) sender.Begin(2 * i + 1, "/hlod.v1.Session/Connect", kBytes);
    sender.SendAll(patience, until_reset);
    outcome = {sender.sent(), ResidentBytes() - before, sender.reset()};
  }
  server.reset();
  std::filesystem::remove_all(folder);
  return outcome;
}

TEST(HalfSent, MessagesOfManyCallsAreKeptWithinABound) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer keeps what is freed: the resident bytes say nothing";
#endif
  spdlog::set_level(spdlog::level::err);
  const Outcome bounded = SendHalves(Bound(32 << 20), absl::Seconds(1), /*until_reset=*/true);
  EXPECT_LT(bounded.kept, kAll / 2) << bounded.sent << " bytes sent, " << bounded.ended << " calls ended";
  // Without the bound, this client can fill the daemon's memory.
  const Outcome unbounded = SendHalves(Bound(int64_t{4} << 30), absl::Minutes(1), /*until_reset=*/false);
  EXPECT_EQ(unbounded.sent, kAll);
  EXPECT_EQ(unbounded.ended, 0u);
  EXPECT_GT(unbounded.kept, kAll / 4 * 3);
}

// Calls that need no token do not read messages, so their clients can send only the initial window of each
// stream.
TEST(HalfSent, WithoutTheTokenNothingIsTaken) {
  spdlog::set_level(spdlog::level::err);
  const Clock clock;
  const std::unique_ptr<device::Devices> devices = device::MakeDevices(clock);
  ServerOptions options;
  options.listen.push_back(rpc::ParseEndpoint("127.0.0.1:0").value());
  options.greeting = absl::Minutes(10);
  options.token = "open sesame";
  const std::unique_ptr<Server> server = Server::Start(std::move(options), *devices).value();
  for (const char* method :
       {"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch", "/hlod.v1.Session/Connect"}) {
    HalfSender sender(server->endpoints()[0]);
    for (uint32_t i = 0; i < kStreams; ++i) sender.Begin(2 * i + 1, method, kBytes);
    sender.SendAll(absl::Seconds(1));
    EXPECT_LE(sender.sent(), int64_t{kStreams} * 65'535) << method;
  }
}

// A connection without a session has little space.
TEST(HalfSent, ByStrangersIsKeptWithinASmallBound) {
  spdlog::set_level(spdlog::level::err);
  const ReceiveLimits limits;
  const auto bounded = SendHalves(limits, absl::Milliseconds(1), /*until_reset=*/true);
  EXPECT_GT(bounded.ended, 0u);
  EXPECT_LT(bounded.sent, kAll / 2);
}

// gRPC ends calls of the connection that exceeds its space, and of no other.
TEST(HalfSent, EndsNoCallsOfOtherConnections) {
  spdlog::set_level(spdlog::level::err);
  char folder[] = "/tmp/hlod-half-sent-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const rpc::Endpoint endpoint = rpc::ParseEndpoint(std::string("unix:") + folder + "/hlod.sock").value();
  const Clock clock;
  const std::unique_ptr<device::Devices> devices = device::MakeDevices(clock);
  ServerOptions options;
  options.listen.push_back(endpoint);
  options.greeting = absl::Minutes(10);
  options.received = Bound(8 << 20);
  std::unique_ptr<Server> server = Server::Start(std::move(options), *devices).value();
  {
    const auto stub = v1::Session::NewStub(
        grpc::CreateChannel(rpc::ToString(endpoint), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const auto stream = stub->Connect(&context);
    v1::ClientMessage message;
    v1::ServerMessage answer;
    message.mutable_hello()->set_version_min(1);
    message.mutable_hello()->set_version_max(1);
    ASSERT_TRUE(stream->Write(message) && stream->Read(&answer));
    size_t ended = 0;
    for (uint64_t command = 1; command <= 5; ++command) {
      HalfSender sender(endpoint);
      for (uint32_t i = 0; i < kStreams; ++i) sender.Begin(2 * i + 1, "/hlod.v1.Session/Connect", kBytes);
      sender.SendAll(absl::Milliseconds(1), /*until_reset=*/true);
      ended += sender.reset();
      message.Clear();
      message.mutable_command()->set_id(command);
      message.mutable_command()->mutable_ping();
      ASSERT_TRUE(stream->Write(message) && stream->Read(&answer)) << stream->Finish().error_message();
    }
    EXPECT_GT(ended, 0u);
    context.TryCancel();
  }
  server.reset();
  std::filesystem::remove_all(folder);
}

// A daemon over TCP, and a call of a peer that reads what it is sent and answers nothing.
struct SilentPeer {
  explicit SilentPeer(absl::Duration patience) {
    spdlog::set_level(spdlog::level::err);
    ServerOptions options;
    options.listen.push_back(rpc::ParseEndpoint("127.0.0.1:0").value());
    options.greeting = absl::Minutes(10);
    options.tcp_question = absl::Seconds(1);
    options.tcp_patience = patience;
    server = Server::Start(std::move(options), *devices).value();
    sender = std::make_unique<HalfSender>(server->endpoints()[0]);
    sender->Begin(1, "/hlod.v1.Session/Connect", 100);
  }
  const Clock clock;
  const std::unique_ptr<device::Devices> devices = device::MakeDevices(clock);
  std::unique_ptr<Server> server;
  std::unique_ptr<HalfSender> sender;
};

// The peer's kernel answers, but its program does not read, as behind a stalled tunnel.
TEST(Silent, ATcpPeerThatAnswersNoQuestionIsGivenUp) {
  EXPECT_TRUE(SilentPeer(absl::Seconds(1)).sender->EndsThoughNothingIsAnswered(absl::Minutes(1)));
}

// The peer behaves like a client that a debugger has stopped.
TEST(Silent, ATcpPeerHasPatienceToAnswer) {
  EXPECT_FALSE(
      SilentPeer(ServerOptions{}.tcp_patience).sender->EndsThoughNothingIsAnswered(absl::Seconds(4)));
}

}  // namespace
}  // namespace hlod::grpc_server

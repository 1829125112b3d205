// A pipe over a ring, against a daemon in the test that follows the protocol: messages keep their order on
// both ways, and an end of the stream comes after what is in the ring.
#include "client/runtime/connection/ring_pipe.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/rpc/ring.h"
#include "common/rpc/shared_memory.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

// The daemon's side: the stream is a FakePipe, the memory comes from a socket.
class RingDaemon {
 public:
  RingDaemon() {
    socket_ = rpc::ListenAbstract(name_).value();
    server_ = std::thread([this] {
      const rpc::Descriptor client(accept(socket_.get(), nullptr, nullptr));
      char key[3];
      if (!client.valid() || recv(client.get(), key, sizeof(key), MSG_WAITALL) != 3) return;
      ASSERT_TRUE(rpc::SendDescriptor(client.get(), memory.fd()).ok());
    });
  }
  ~RingDaemon() {
    shutdown(socket_.get(), SHUT_RDWR);
    server_.join();
  }
  v1::ServerMessage Welcome() const {
    v1::ServerMessage message;
    message.mutable_welcome()->mutable_ring()->set_socket(name_);
    message.mutable_welcome()->mutable_ring()->set_key("key");
    message.mutable_welcome()->mutable_ring()->set_bytes(rpc::RingPair::kBytes);
    return message;
  }
  void WriteToRing(uint64_t settled) {
    v1::ServerMessage message;
    message.set_settled_through(settled);
    const std::string bytes = message.SerializeAsString();
    const absl::Span<const std::byte> part(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    while (!writer.Write({&part, 1}).value()) std::this_thread::yield();
  }

  rpc::SharedMemory memory = rpc::SharedMemory::Create(rpc::RingPair::kBytes).value();
  rpc::RingPair pair{memory.bytes()};
  rpc::RingWriter writer{pair.to_client};
  rpc::RingReader reader{pair.to_daemon};

 private:
  const std::string name_ = absl::StrCat("hlod-ring-pipe-test-", getpid());
  rpc::Descriptor socket_;
  std::thread server_;
};

MessageParts MessageOf(uint64_t ack, size_t padding = 0) {
  v1::ClientMessage message;
  message.set_ack_through(ack);
  message.mutable_hello()->set_client(std::string(padding, 'x'));
  return {std::make_shared<const std::string>(message.SerializeAsString())};
}

// The stream of the test, which keeps what the client writes to it.
struct RingStream {
  std::vector<v1::ClientMessage> written;
  std::shared_ptr<FakePipe> pipe = std::make_shared<FakePipe>(
      [this](const v1::ClientMessage& message, FakePipe&) { written.push_back(message); });
};

// Reads the next message, over everything else.
v1::ServerMessage NextRead(Pipe& pipe) {
  for (;;) {
    PipeEvent event = pipe.Poll(absl::InfiniteFuture());
    if (event.kind == PipeEvent::Kind::kRead) return event.message;
    if (event.kind == PipeEvent::Kind::kEnded) {
      ADD_FAILURE() << event.status;
      return {};
    }
  }
}

TEST(RingPipe, FollowsTheOrderFromTheStreamToTheRingAndBack) {
  RingDaemon daemon;
  RingStream stream;
  RingPipe pipe(stream.pipe, rpc::RingUse::kFirst);
  EXPECT_FALSE(pipe.StartWrite(MessageOf(1)));
  stream.pipe->Answer(daemon.Welcome());
  EXPECT_TRUE(NextRead(pipe).has_welcome());
  // The first message after the Welcome says that the next comes in the ring.
  EXPECT_FALSE(pipe.StartWrite(MessageOf(2)));
  EXPECT_TRUE(pipe.StartWrite(MessageOf(3)));
  ASSERT_EQ(stream.written.size(), 2u);
  EXPECT_FALSE(stream.written[0].ring());
  EXPECT_TRUE(stream.written[1].ring());
  std::string bytes;
  ASSERT_EQ(daemon.reader.Read(bytes).value(), rpc::RingReader::Got::kMessage);
  v1::ClientMessage message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  EXPECT_EQ(message.ack_through(), 3u);
  EXPECT_FALSE(message.ring());
  // A large one goes over the stream, and the ring says so before.
  EXPECT_FALSE(pipe.StartWrite(MessageOf(4, 100'000)));
  ASSERT_EQ(daemon.reader.Read(bytes).value(), rpc::RingReader::Got::kElsewhere);
  ASSERT_EQ(stream.written.size(), 3u);
  EXPECT_TRUE(stream.written[2].ring());
  EXPECT_TRUE(pipe.StartWrite(MessageOf(5)));

  // The other direction. What is in the ring must wait for the message that says so.
  daemon.WriteToRing(12);
  v1::ServerMessage answer;
  answer.set_settled_through(11);
  answer.set_ring(true);
  stream.pipe->Answer(answer);
  EXPECT_EQ(NextRead(pipe).settled_through(), 11u);
  EXPECT_EQ(NextRead(pipe).settled_through(), 12u);
  // A message of the stream waits for those that the daemon wrote into the ring before it.
  daemon.WriteToRing(13);
  ASSERT_TRUE(daemon.writer.WriteElsewhere().ok());
  answer.set_settled_through(14);
  answer.set_ring(false);
  stream.pipe->Answer(answer);
  stream.pipe->End(absl::OkStatus());
  EXPECT_EQ(NextRead(pipe).settled_through(), 13u);
  EXPECT_EQ(NextRead(pipe).settled_through(), 14u);
  PipeEvent end;
  while ((end = pipe.Poll(absl::InfiniteFuture())).kind != PipeEvent::Kind::kEnded) {
  }
  EXPECT_TRUE(end.status.ok());
}

// Opens a pipe whose both directions are in the ring.
void EnterRing(RingDaemon& daemon, RingStream& stream, RingPipe& pipe) {
  stream.pipe->Answer(daemon.Welcome());
  EXPECT_TRUE(NextRead(pipe).has_welcome());
  EXPECT_FALSE(pipe.StartWrite(MessageOf(1)));
  v1::ServerMessage answer;
  answer.set_ring(true);
  stream.pipe->Answer(answer);
  EXPECT_TRUE(NextRead(pipe).ring());
}

TEST(RingPipe, AnEndOfTheStreamComesAfterWhatIsInTheRing) {
  RingDaemon daemon;
  RingStream stream;
  RingPipe pipe(stream.pipe, rpc::RingUse::kFirst);
  EnterRing(daemon, stream, pipe);
  for (uint64_t i = 1; i <= 100; ++i) daemon.WriteToRing(i);
  stream.pipe->End(absl::UnavailableError("broken"));  // As if the daemon had died.
  for (uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(NextRead(pipe).settled_through(), i);
  const PipeEvent end = pipe.Poll(absl::InfiniteFuture());
  ASSERT_EQ(end.kind, PipeEvent::Kind::kEnded);
  EXPECT_EQ(end.status.message(), "broken");
}

TEST(RingPipe, ACancelWakesAThreadThatWaitsInTheRing) {
  RingDaemon daemon;
  RingStream stream;
  RingPipe pipe(stream.pipe, rpc::RingUse::kFirst);
  EnterRing(daemon, stream, pipe);
  std::thread canceller([&] { pipe.Cancel(); });
  EXPECT_EQ(pipe.Poll(absl::InfiniteFuture()).kind, PipeEvent::Kind::kEnded);
  canceller.join();
}

TEST(RingPipe, NonsenseInTheRingEndsTheStreamWithTheReason) {
  RingDaemon daemon;
  RingStream stream;
  RingPipe pipe(stream.pipe, rpc::RingUse::kFirst);
  EnterRing(daemon, stream, pipe);
  daemon.pair.to_client.positions->head = uint64_t{1} << 40;
  PipeEvent end;
  while ((end = pipe.Poll(absl::InfiniteFuture())).kind != PipeEvent::Kind::kEnded) {
  }
  EXPECT_EQ(end.status.code(), absl::StatusCode::kDataLoss);
}

TEST(RingPipe, ADaemonWithoutMemoryForItIsServedOverTheStream) {
  RingDaemon daemon;
  RingStream stream;
  RingPipe pipe(stream.pipe, rpc::RingUse::kFirst);
  v1::ServerMessage welcome = daemon.Welcome();
  welcome.mutable_welcome()->mutable_ring()->set_socket("hlod-nobody-listens-here");
  stream.pipe->Answer(welcome);
  EXPECT_TRUE(NextRead(pipe).has_welcome());
  for (uint64_t i = 1; i <= 3; ++i) EXPECT_FALSE(pipe.StartWrite(MessageOf(i)));
  EXPECT_EQ(stream.written.size(), 3u);
  EXPECT_FALSE(stream.written[0].ring());
}

// A client and a daemon that write messages of all sizes, on both ways, at random.
struct BothWays {
  static constexpr uint64_t kCount = 30'000;
  RingDaemon daemon;
  absl::Mutex mu;
  std::vector<std::pair<uint64_t, bool>> on_stream;  // The acknowledgement and `ring` of each message there.
  int written = 0;                                   // Writes that the stream has reported.
  std::shared_ptr<FakePipe> stream =
      std::make_shared<FakePipe>([this](const v1::ClientMessage& message, FakePipe&) {
        absl::MutexLock lock(&mu);
        on_stream.emplace_back(message.ack_through(), message.ring());
      });
  RingPipe pipe{stream, rpc::RingUse::kFirst};
  // The daemon's state.
  bool reads_ring = false, writes_ring = false;
  size_t streamed = 0;

  void WriteCommands() {
    std::minstd_rand random(3);
    int reported = 0;
    for (uint64_t i = 1; i <= kCount; ++i) {
      const size_t padding = random() % 200 == 0 ? 60'000 : random() % 300;
      if (pipe.StartWrite(MessageOf(i, padding))) continue;
      ++reported;
      absl::MutexLock lock(&mu);
      const auto is_reported = [&] { return written >= reported; };
      mu.Await(absl::Condition(&is_reported));
    }
  }
  // Returns the acknowledgement of the client's next message.
  uint64_t NextCommand() {
    std::string bytes;
    for (;;) {
      if (!reads_ring) {
        absl::MutexLock lock(&mu);
        const auto has_next = [&] { return on_stream.size() > streamed; };
        mu.Await(absl::Condition(&has_next));
        reads_ring = on_stream[streamed].second;
        return on_stream[streamed++].first;
      }
      const rpc::RingReader::Got got = daemon.reader.Read(bytes).value();
      if (got == rpc::RingReader::Got::kNothing) daemon.reader.Wait(std::chrono::seconds(10));
      if (got == rpc::RingReader::Got::kElsewhere) reads_ring = false;
      if (got != rpc::RingReader::Got::kMessage) continue;
      v1::ClientMessage message;
      EXPECT_TRUE(message.ParseFromString(bytes));
      return message.ack_through();
    }
  }
  void AnswerCommands() {
    std::minstd_rand random(4);
    for (uint64_t i = 1; i <= kCount; ++i) {
      ASSERT_EQ(NextCommand(), i);
      if (writes_ring && random() % 100 != 0) {
        daemon.WriteToRing(i);
        continue;
      }
      if (writes_ring) {
        ASSERT_TRUE(daemon.writer.WriteElsewhere().ok());
      }
      v1::ServerMessage answer;
      answer.set_settled_through(i);
      writes_ring = random() % 2 == 0 && daemon.writer.IsHalfFree().value();
      answer.set_ring(writes_ring);
      stream->Answer(answer);
    }
  }
  void ReadAnswers() {
    for (uint64_t i = 1; i <= kCount;) {
      const PipeEvent event = pipe.Poll(absl::InfiniteFuture());
      ASSERT_NE(event.kind, PipeEvent::Kind::kEnded);
      if (event.kind == PipeEvent::Kind::kWritten) {
        absl::MutexLock lock(&mu);
        ++written;
      }
      if (event.kind != PipeEvent::Kind::kRead) continue;
      ASSERT_EQ(event.message.settled_through(), i++);
    }
  }
};

TEST(RingPipe, ManyMessagesOfAllSizesKeepTheirOrder) {
  BothWays both;
  both.stream->Answer(both.daemon.Welcome());
  EXPECT_TRUE(NextRead(both.pipe).has_welcome());
  std::thread writer([&] { both.WriteCommands(); });
  std::thread daemon([&] { both.AnswerCommands(); });
  both.ReadAnswers();
  writer.join();
  daemon.join();
}

}  // namespace
}  // namespace hlod::runtime

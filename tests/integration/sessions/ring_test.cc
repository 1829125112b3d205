// Sessions whose messages come through shared memory: order between the ring and the stream, ends and breaks,
// and clients that write nonsense.
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "absl/time/clock.h"
#include "common/rpc/ring.h"
#include "common/rpc/shared_memory.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/relay.h"

namespace hlod {
namespace {

// The number of rings that the daemon has mapped.
int RingsOf(int pid) {
  int rings = 0;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    char* middle = nullptr;
    const uint64_t first = std::strtoull(line.c_str(), &middle, 16);
    const uint64_t end = std::strtoull(middle + 1, nullptr, 16);
    rings += line.find("memfd:") != line.npos && end - first == rpc::RingPair::kBytes;
  }
  return rings;
}

bool WaitForRings(int pid, int rings) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (RingsOf(pid) != rings && absl::Now() < deadline)
    absl::SleepFor(absl::Milliseconds(5));  // tidy: a poll with a deadline.
  return RingsOf(pid) == rings;
}

class Rings : public DaemonTest {
 protected:
  void SetUp() override { StartDaemon({.flags = {"--ring", "on"}}); }
  const ScopedVariable first_{"HLOD_RING", "first"};
};

TEST_F(Rings, BothSidesMustWantOne) {
  Must(client_->Ping());
  EXPECT_TRUE(WaitForRings(daemon_->pid(), 1));
  {
    const ScopedVariable off("HLOD_RING", "off");
    const Client other = Must(daemon_->Connect());
    Must(other.Ping());
    EXPECT_EQ(RingsOf(daemon_->pid()), 1);
    const Client stream = Must(daemon_->Connect({.shared_memory = false}));
    Must(stream.Ping());
    EXPECT_EQ(RingsOf(daemon_->pid()), 1);
  }
  client_.reset();
  EXPECT_TRUE(WaitForRings(daemon_->pid(), 0));
  StartDaemon({.flags = {"--ring", "off"}});
  Must(client_->Ping());
  EXPECT_EQ(RingsOf(daemon_->pid()), 0);
}

TEST_F(Rings, ListsAndFiguresSayWhichSessionsHaveOne) {
  Must(client_->Ping());
  const ScopedVariable off("HLOD_RING", "off");
  const Client other = Must(daemon_->Connect());
  Must(other.Ping());
  EXPECT_EQ(Must(daemon_->Stats()).rings, 1);
  const Admin admin = Must(Admin::Connect({.address = daemon_->address()}));
  for (const SessionRow& row : Must(admin.Sessions()))
    EXPECT_EQ(row.messages, row.session == client_->session_id() ? "ring" : "stream");
}

TEST_F(Rings, ByDefaultAClientOfFewWordsDoesWithout) {
  const ScopedVariable unset("HLOD_RING", "");
  StartDaemon({});
  const Client client = Must(daemon_->Connect());
  client_.reset();
  ASSERT_TRUE(WaitForRings(daemon_->pid(), 0));
  Must(client.Ping());
  EXPECT_EQ(RingsOf(daemon_->pid()), 0);
  for (int i = 0; i < 20; ++i) Must(client.Ping());
  EXPECT_EQ(RingsOf(daemon_->pid()), 1);
}

TEST_F(Rings, AWrongSettingIsAnErrorOfBoth) {
  const ScopedVariable wrong("HLOD_RING", "yes");
  const absl::Status status = daemon_->Connect().status();
  EXPECT_EQ(status.message(), "$HLOD_RING: \"yes\" is none of off, on, first and all.");
  EXPECT_FALSE(testing::Daemon::Start().ok());
}

TEST_F(Rings, MessagesThatDoNotFitComeInTheirTurn) {
  // Values of 48 and 64 KB are more than a message in the ring may have.
  for (int round = 0; round < 20; ++round) {
    for (const int64_t n : {4, 12'000, 4, 16'000, 3000, 1}) {
      const Executable add = Must(client_->CompileText(AddProgram(n)));
      const Buffer x = Must(client_->device(0).Upload(Counting(n)));
      const Buffer sum = Must(add.Execute({x, x}))[0];
      const Literal value = Must(sum.ToLiteral());
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(value.data<float>()[i], 2 * static_cast<float>(i));
    }
  }
  EXPECT_EQ(RingsOf(daemon_->pid()), 1);
}

TEST_F(Rings, MoreCommandsAndRepliesThanTheRingHoldsAreAllAnswered) {
  const Executable increment = Must(client_->CompileText(IncrementProgram(256)));
  Buffer x = Must(client_->device(0).Upload(Counting(256)));
  std::vector<Buffer> values;
  for (int i = 0; i < 2000; ++i) values.push_back(x = Must(increment.Execute({x}))[0]);
  // 2000 replies of 1 KiB, requested before the first is read.
  std::vector<Future<Literal>> reads;
  for (const Buffer& value : values) reads.push_back(value.ToLiteralAsync());
  for (size_t i = 0; i < reads.size(); ++i)
    ASSERT_EQ(Must(reads[i].Await()).data<float>()[3], 4 + static_cast<float>(i));
}

TEST_F(Rings, SeveralThreadsShareOne) {
  const Executable increment = Must(client_->CompileText(IncrementProgram(4)));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Buffer x = Must(client_->device(0).Upload(Counting(4)));
      for (int i = 0; i < 300; ++i) {
        x = Must(increment.Execute({x}))[0];
        if (i % (t + 1) != 0) continue;
        ASSERT_EQ(Must(x.ToLiteral()).data<float>()[0], static_cast<float>(i + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Rings, ABrokenConnectionGoesOnInANewRing) {
  Must(client_->Ping());
  Relay relay(daemon_->address());
  ConnectOptions options;
  options.address = relay.address();
  const Client client = Must(Client::Connect(options));
  const Executable increment = Must(client.CompileText(IncrementProgram(4)));
  Buffer x = Must(client.device(0).Upload(Counting(4)));
  for (int i = 0; i < 60; ++i) {
    x = Must(increment.Execute({x}))[0];
    if (i % 20 == 10) relay.Break();
    if (i % 7 != 0) continue;
    ASSERT_EQ(Must(x.ToLiteral()).data<float>()[0], static_cast<float>(i + 1));
  }
  EXPECT_EQ(Must(x.ToLiteral()).data<float>()[3], 63.0f);
  // That of client_, too. The ring may carry messages until both sides have noticed the break, so the client
  // goes on until it has the new one.
  const absl::Time deadline = absl::Now() + kPatience;
  while (RingsOf(daemon_->pid()) != 2 && absl::Now() < deadline) Must(client.Ping());
  EXPECT_EQ(RingsOf(daemon_->pid()), 2);
}

TEST_F(Rings, ADaemonThatDiesIsNoticedByAClientThatWaits) {
  const Executable forever = Must(client_->CompileText(kForever));
  const Buffer zero = Must(client_->device(0).Upload(Literal::Scalar<int32_t>(0)));
  const Buffer never = Must(forever.Execute({zero}))[0];
  std::thread killer([&] {
    absl::SleepFor(absl::Milliseconds(50));  // tidy: nothing says that a client waits.
    daemon_->Kill(SIGKILL);
  });
  const absl::Status status = never.ToLiteral().status();
  EXPECT_EQ(KindOf(status), ErrorKind::kLostSession) << status;
  killer.join();
}

TEST_F(Rings, ADrainingDaemonEndsTheSession) {
  Must(client_->Ping());
  daemon_->Kill(SIGTERM);
  EXPECT_EQ(daemon_->WaitForExit(kPatience), 0);
  EXPECT_EQ(KindOf(client_->Ping().status()), ErrorKind::kLostSession);
}

// ------------------------------------------------------------------------------------------------ bad
// clients

// A raw session that has fetched its ring, and said so.
struct RawRing {
  explicit RawRing(const std::string& address)
      : raw(address),
        memory(Must(rpc::FetchSharedMemory(raw.welcome().ring().socket(), raw.welcome().ring().key(),
                                           static_cast<int64_t>(raw.welcome().ring().bytes())))),
        pair(memory.bytes()),
        writer(pair.to_daemon),
        reader(pair.to_client) {
    v1::ClientMessage message;
    message.set_ring(true);
    EXPECT_TRUE(raw.SendMessage(message));
  }
  void Write(const v1::ClientMessage& message) {
    const std::string bytes = message.SerializeAsString();
    const absl::Span<const std::byte> part(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    while (!Must(writer.Write({&part, 1}))) std::this_thread::yield();
  }
  RawSession raw;
  rpc::SharedMemory memory;
  rpc::RingPair pair;
  rpc::RingWriter writer;
  rpc::RingReader reader;
};

TEST_F(Rings, ARingThatWasNotFetchedIsAViolation) {
  RawSession raw(daemon_->address());
  ASSERT_TRUE(raw.open());
  v1::ClientMessage message;
  message.set_ring(true);
  raw.SendMessage(message);
  EXPECT_EQ(KindOf(raw.Finish()), ErrorKind::kViolation);
  Must(client_->Ping());
}

TEST_F(Rings, NonsenseInTheRingEndsTheSessionAndNothingElse) {
  const auto status_after = [&](const std::function<void(RawRing&)>& damage) {
    RawRing ring(daemon_->address());
    damage(ring);
    const absl::Status status = ring.raw.Finish();
    EXPECT_EQ(KindOf(status), ErrorKind::kViolation) << status;
    Must(client_->Ping());
    return std::string(status.message());
  };
  // The position alone wakes nobody: it is seen with the next record's.
  EXPECT_NE(status_after([](RawRing& ring) {
              ring.pair.to_daemon.positions->head = 1 << 20;
              ring.pair.to_daemon.positions->asleep = 1;
              rpc::RingReader(ring.pair.to_daemon).Interrupt();
            }).find("its writer's position is wrong"),
            std::string::npos);
  EXPECT_NE(status_after([](RawRing& ring) {
              const std::string bytes = "\xff\xff\xff not a message";
              const absl::Span<const std::byte> part(reinterpret_cast<const std::byte*>(bytes.data()),
                                                     bytes.size());
              EXPECT_TRUE(Must(ring.writer.Write({&part, 1})));
            }).find("not a hlod.v1.ClientMessage"),
            std::string::npos);
  // The other direction: the daemon finds it when it answers.
  EXPECT_NE(status_after([](RawRing& ring) {
              v1::ClientMessage ping;
              ping.mutable_command()->set_id(1);
              ping.mutable_command()->mutable_ping();
              ring.Write(ping);
              ASSERT_TRUE(ring.raw.Await(1).has_value());
              ring.pair.to_client.positions->tail = 1 << 20;
              for (uint64_t id = 2; id < 40'000; ++id) {
                ping.mutable_command()->set_id(id);
                const std::string bytes = ping.SerializeAsString();
                const absl::Span<const std::byte> part(reinterpret_cast<const std::byte*>(bytes.data()),
                                                       bytes.size());
                // The daemon stops to read when it has found out.
                bool written = false;
                for (int i = 0; i < 1000 && !(written = Must(ring.writer.Write({&part, 1}))); ++i)
                  absl::SleepFor(absl::Milliseconds(1));  // tidy: a poll with a limit.
                if (!written) break;
              }
            }).find("its reader's position is wrong"),
            std::string::npos);
  EXPECT_TRUE(WaitForRings(daemon_->pid(), 1));
}

TEST_F(Rings, AClientThatReadsNothingHoldsUpNobody) {
  RawRing ring(daemon_->address());
  v1::ClientMessage message;
  for (uint64_t id = 1; id <= 20'000; ++id) {
    message.mutable_command()->set_id(id);
    message.mutable_command()->mutable_ping();
    ring.Write(message);
    if (id % 5000 == 0) Must(client_->Ping());
  }
  // The first replies came on the stream and in the ring; the rest waits in the daemon, charged to the
  // session.
  Must(client_->Ping());
  EXPECT_TRUE(ring.reader.HasRecord());
}

TEST_F(Rings, AStrangerGetsNoRing) {
  const std::string socket = RawSession(daemon_->address()).welcome().ring().socket();
  ASSERT_FALSE(socket.empty());
  EXPECT_FALSE(rpc::FetchSharedMemory(socket, std::string(32, 'k'), rpc::RingPair::kBytes).ok());
}

}  // namespace
}  // namespace hlod

// The ledger against two independent counts: a closed formula over random commands, and a relay that counts
// bytes on the socket.
#include <random>
#include <thread>

#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/relay.h"

namespace hlod {
namespace {

// The transfers that the commands should cause, counted as they are sent.
struct Expected {
  testing::Transfers transfers;
  int64_t commands = 0;
  void Up(int64_t bytes) {
    transfers.host_to_device.bytes += bytes;
    transfers.host_to_device.calls += 1;
  }
  void Down(int64_t bytes) {
    transfers.device_to_host.bytes += bytes;
    transfers.device_to_host.calls += 1;
  }
};

// Sends a few hundred commands that all succeed, or are refused without moving a byte.
Expected RandomCommands(const Client& client, uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  Expected expected;
  const Device device = client.device(0);
  std::vector<Buffer> buffers;
  for (int i = 0; i < count; ++i) {
    ++expected.commands;
    const int64_t n = pick(4) == 0 ? 1 + pick(400'000) : 1 + pick(2000);
    switch (buffers.empty() ? 0 : pick(8)) {
      case 0:
      case 1: {
        buffers.push_back(Must(device.Upload(Counting(n))));
        expected.Up(n * 4);
        break;
      }
      case 2:
      case 3: {
        const Buffer& buffer = buffers[static_cast<size_t>(pick(static_cast<int64_t>(buffers.size())))];
        if (buffer.is_placeholder()) {
          EXPECT_FALSE(buffer.ToLiteral().ok());
        } else {
          EXPECT_OK(buffer.ToLiteral().status());
          expected.Down(buffer.byte_size());
        }
        break;
      }
      case 4: {
        buffers.push_back(Must(device.Placeholder(Shape::Array(hlo::kF32, {n}))));
        break;
      }
      case 5: {
        Buffer& buffer = buffers[static_cast<size_t>(pick(static_cast<int64_t>(buffers.size())))];
        if (!buffer.is_placeholder()) break;
        EXPECT_OK(buffer.Fill(Counting(buffer.shape().dims[0])));
        expected.Up(buffer.byte_size());
        break;
      }
      case 6: {
        const size_t i = static_cast<size_t>(pick(static_cast<int64_t>(buffers.size())));
        if (buffers[i].is_placeholder()) break;
        const Executable add = Must(client.CompileText(AddProgram(buffers[i].shape().dims[0])));
        buffers.push_back(Must(add.Execute({buffers[i], buffers[i]}))[0]);
        break;
      }
      default: {
        const size_t i = static_cast<size_t>(pick(static_cast<int64_t>(buffers.size())));
        EXPECT_OK(buffers[i].Delete());
        buffers.erase(buffers.begin() + static_cast<ptrdiff_t>(i));
      }
    }
  }
  EXPECT_OK(client.Sync());
  return expected;
}

TEST(Ledger, EqualsTheClosedFormulaForSeveralClientsAtOnce) {
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  std::vector<std::thread> threads;
  std::vector<Expected> expected(3);
  std::vector<SessionStats> stats(3);
  for (size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      ConnectOptions options;
      options.shared_memory = t != 1;
      const Client client = Must(daemon.Connect(options));
      testing::TransferWatch watch(client);
      expected[t] = RandomCommands(client, 100 + t, 200);
      stats[t] = Must(client.Stats());
      EXPECT_EQ(watch.Check(expected[t].transfers), "");
      EXPECT_EQ(testing::CheckLedger(stats[t]), "");
    });
  }
  for (std::thread& thread : threads) thread.join();
  Amount in, out;
  for (const SessionStats& one : stats) {
    in.bytes += one.host_to_device.bytes;
    in.calls += one.host_to_device.calls;
    out.bytes += one.device_to_host.bytes;
    out.calls += one.device_to_host.calls;
  }
  const DaemonStats totals = Must(daemon.Stats());
  EXPECT_EQ(totals.totals.host_to_device, in);
  EXPECT_EQ(totals.totals.device_to_host, out);
  EXPECT_EQ(testing::CheckLedger(totals.totals), "");
}

TEST(Ledger, ARelayOnTheSocketSeesThePayloadPlusBoundedFraming) {
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  Relay relay(daemon.address());
  {
    ConnectOptions options;
    options.address = relay.address();
    options.shared_memory = false;  // Sends every byte through the socket.
    const Client client = Must(Client::Connect(options));
    const Expected expected = RandomCommands(client, 7, 200);
    const SessionStats stats = Must(client.Stats());
    EXPECT_EQ(stats.host_to_device, expected.transfers.host_to_device);
    EXPECT_EQ(stats.device_to_host, expected.transfers.device_to_host);
    // Programs travel inside commands, and the bytes of a repeated bulk stream are sent in vain: both are
    // counted separately. The bound: 1 % for HTTP/2 and chunks, 1 % of the opposite direction for its
    // acknowledgements and flow control, 400 bytes per command, 64 KiB for the rest.
    const int64_t slack = expected.commands * 400 + 65536;
    const int64_t in = stats.host_to_device.bytes + stats.program_bytes + stats.aborted_bytes,
                  out = stats.device_to_host.bytes;
    EXPECT_GE(relay.to_daemon, in);
    EXPECT_LE(relay.to_daemon, in + (in + out) / 100 + slack);
    EXPECT_GE(relay.to_client, out);
    EXPECT_LE(relay.to_client, out + (in + out) / 100 + slack);
  }
}

TEST(Ledger, ProgramsAndPlaceholdersAreNoTransfers) {
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  const Client client = Must(daemon.Connect());
  testing::TransferWatch watch(client);
  const Executable add = Must(client.CompileText(AddProgram(1000)));
  ASSERT_OK(add.ready().Await());
  const Buffer p = Must(client.device(0).Placeholder(Shape::Array(hlo::kF32, {1000})));
  EXPECT_EQ(watch.Check({}), "");
  EXPECT_GT(Must(client.Stats()).program_bytes, 0);
}

}  // namespace
}  // namespace hlod

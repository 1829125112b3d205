// One client and the devices of three daemons: what it uploads, runs and reads is where it says, the ledgers
// add up, and a daemon that dies takes its own buffers and nothing else.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/integration/support/cluster.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ClusterSession : public ClusterOfDaemons {
 protected:
  void SetUp() override {
    ClusterOfDaemons::SetUp();
    device_memory_ = "64MiB";
    StartThree({}, {"--devices", "2"});
  }
  // A client of the daemon of rank `rank`, over its unix socket.
  Client Connect(size_t rank = 0) { return Must(daemons_[rank]->Connect()); }
};

TEST_F(ClusterSession, SeesTheDevicesOfAllDaemonsItsOwnFirst) {
  for (size_t rank = 0; rank < 3; ++rank) {
    const Client client = Connect(rank);
    ASSERT_EQ(client.device_count(), 6);
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(client.devices()[i].ordinal, i);
      EXPECT_EQ(client.devices()[i].kind, "cpu");
      EXPECT_EQ(client.devices()[i].memory_bytes, int64_t{64} << 20);
    }
  }
  // Nobody has used another daemon, so none has a session of it.
  const Client client = Connect(1);
  EXPECT_EQ(Must(daemons_[0]->Stats()).sessions, 0);
  const Buffer first = Must(client.device(0).Upload(Counting(4)));
  EXPECT_OK(first.ready().Await());
  EXPECT_EQ(daemons_[1]->UsedBytes(), 16) << "device 0 is of the daemon that the client has connected to";
}

TEST_F(ClusterSession, UploadsRunsAndReadsOnEachDevice) {
  const Client client = Connect();
  const Executable increment = Must(client.CompileText(IncrementProgram(1024)));
  std::vector<Buffer> results;
  for (int i = 0; i < 6; ++i) {
    const Buffer x = Must(client.device(i).Upload(Counting(1024)));
    EXPECT_EQ(x.device(), i);
    results.push_back(Must(increment.Execute({x}))[0]);
    EXPECT_EQ(results[i].device(), i);
  }
  for (int i = 0; i < 6; ++i) {
    const Literal value = Must(results[i].ToLiteral());
    for (int n = 0; n < 1024; ++n) ASSERT_EQ(value.data<float>()[n], static_cast<float>(n + 1));
  }
  // Each daemon holds its own two results, and no other bytes.
  for (size_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(daemons_[rank]->WaitForUsedBytes(2 * 4096, kPatience));
  results.clear();
  EXPECT_OK(client.Sync());
  for (size_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(daemons_[rank]->WaitForUsedBytes(0, kPatience));
}

TEST_F(ClusterSession, LargeArraysGoStraightToTheirDaemon) {
  const Client client = Connect();
  const Literal large = Counting(1 << 20);
  const Buffer there = Must(client.device(5).Upload(large));
  EXPECT_EQ(Must(there.ToLiteral()), large);
  EXPECT_LT(Must(daemons_[0]->Stats()).wire_bytes_in, 1 << 20) << "the bytes went through daemon 0";
  EXPECT_GT(Must(daemons_[2]->Stats()).wire_bytes_in, 4 << 20);
}

TEST_F(ClusterSession, HandlesAreOfOneCounter) {
  const Client client = Connect();
  uint64_t last = 0;
  for (const int device : {0, 5, 2, 1, 4, 3, 0}) {
    const Buffer x = Must(client.device(device).Upload(Counting(1)));
    EXPECT_GT(x.handle(), last);
    last = x.handle();
  }
}

TEST_F(ClusterSession, TheLedgersAddUp) {
  const Client client = Connect();
  const Executable increment = Must(client.CompileText(IncrementProgram(256)));
  for (int i = 0; i < 6; ++i) {
    ASSERT_OK(client.StepMark(static_cast<uint64_t>(i)));
    const Buffer x = Must(client.device(i).Upload(Counting(256)));
    EXPECT_OK(Must(increment.Execute({x}))[0].ToLiteral().status());
  }
  const SessionStats stats = Must(client.Stats());
  EXPECT_EQ(stats.host_to_device, (Amount{6 * 1024, 6}));
  EXPECT_EQ(stats.device_to_host, (Amount{6 * 1024, 6}));
  EXPECT_EQ(stats.executes, 6);
  Amount up;
  std::vector<bool> seen(6);
  for (const LedgerRow& row : stats.rows) {
    if (DirectionOf(row.cause) != Direction::kHostToDevice) continue;
    up.bytes += row.amount.bytes;
    up.calls += row.amount.calls;
    ASSERT_LT(row.device, 6);
    EXPECT_EQ(row.step, static_cast<uint64_t>(row.device)) << "each step used another device";
    seen[static_cast<size_t>(row.device)] = true;
  }
  EXPECT_EQ(up, stats.host_to_device);
  EXPECT_EQ(seen, std::vector<bool>(6, true));
  // The same by the daemons' own accounts.
  int64_t bytes = 0;
  for (const auto& daemon : daemons_) bytes += Must(daemon->Stats()).totals.host_to_device.bytes;
  EXPECT_EQ(bytes, stats.host_to_device.bytes);
}

TEST_F(ClusterSession, CopiesGoFromDaemonToDaemon) {
  const Client client = Connect(2);
  const Literal value = Counting(70'000);
  const Buffer here = Must(client.device(1).Upload(value));
  for (const int device : {0, 3, 5}) {
    const Buffer copy = Must(here.CopyTo(client.device(device)));
    EXPECT_EQ(copy.device(), device);
    EXPECT_EQ(Must(copy.ToLiteral()), value);
    EXPECT_EQ(Must(Must(copy.CopyTo(client.device(1))).ToLiteral()), value);
  }
  const Buffer promised = Must(client.device(4).Placeholder(value.shape()));
  EXPECT_TRUE(Must(promised.CopyTo(client.device(0))).is_placeholder());
}

TEST_F(ClusterSession, ErrorsNameTheClientsDevices) {
  const Client client = Connect();
  const Executable increment = Must(client.CompileText(IncrementProgram(4)));
  const Buffer x = Must(client.device(4).Upload(Counting(4)));
  ExecuteOptions options;
  options.device = 5;
  EXPECT_THAT(std::string(increment.Execute({x}, options).status().message()),
              HasSubstr("is on device 4; the program runs on device 5"));
  EXPECT_THAT(std::string(client.device(6).Upload(Counting(4)).status().message()),
              HasSubstr("Device (6) does not exist: the daemon has 6"));
}

TEST_F(ClusterSession, ADaemonThatDiesTakesItsOwnBuffersAndNothingElse) {
  const Client client = Connect();
  const Executable increment = Must(client.CompileText(IncrementProgram(4)));
  std::vector<Buffer> buffers;
  for (int i = 0; i < 6; ++i) {
    const Buffer x = Must(client.device(i).Upload(Counting(4)));
    buffers.push_back(Must(increment.Execute({x}))[0]);
    ASSERT_OK(buffers.back().ready().Await());
  }
  daemons_[1]->Kill(SIGKILL);
  daemons_[1]->WaitForExit(kPatience);
  for (const int lost : {2, 3}) {
    const absl::Status status = buffers[lost].ToLiteral().status();
    EXPECT_EQ(KindOf(status), ErrorKind::kLostDaemon) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("(rank 1) is gone"), HasSubstr("127.0.0.1")));
    EXPECT_EQ(KindOf(increment.Execute({buffers[lost]}).status()), ErrorKind::kLostDaemon);
    EXPECT_EQ(KindOf(client.device(lost).Upload(Counting(4)).status()), ErrorKind::kLostDaemon);
  }
  // Everything else goes on.
  EXPECT_OK(client.status());
  EXPECT_OK(client.Sync());
  EXPECT_OK(client.Stats().status());
  for (const int kept : {0, 1, 4, 5}) {
    EXPECT_EQ(Must(buffers[kept].ToLiteral()).data<float>()[3], 4.0f);
    EXPECT_OK(Must(increment.Execute({buffers[kept]}))[0].ToLiteral().status());
  }
  // It comes back, empty.
  ASSERT_OK(daemons_[1]->Restart());
  for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
  EXPECT_EQ(KindOf(buffers[2].ToLiteral().status()), ErrorKind::kLostDaemon);
  absl::StatusOr<Buffer> again = client.device(2).Upload(Counting(4));
  const absl::Time end = absl::Now() + kPatience;
  while (!again.ok() && absl::Now() < end) again = client.device(2).Upload(Counting(4));
  EXPECT_EQ(Must(Must(increment.Execute({Must(std::move(again))}))[0].ToLiteral()).data<float>()[3], 4.0f);
}

TEST_F(ClusterSession, EndsOnAllDaemons) {
  {
    const Client client = Connect();
    const Buffer kept = Must(client.device(4).Upload(Counting(4)));
    ASSERT_OK(client.Close());
    EXPECT_EQ(KindOf(kept.ToLiteral().status()), ErrorKind::kLostSession);
  }
  const Client client = Connect();
  { const Buffer x = Must(client.device(2).Upload(Counting(4))); }
  EXPECT_OK(client.Sync());
  for (const auto& daemon : daemons_) EXPECT_TRUE(daemon->WaitForUsedBytes(0, kPatience));
}

}  // namespace
}  // namespace hlod

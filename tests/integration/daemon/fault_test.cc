// Processes that die: the client at any moment, and the daemon.
#include <signal.h>

#include <thread>

#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/process.h"
#include "tests/integration/support/relay.h"

namespace hlod {
namespace {

class ClientFault : public ::testing::TestWithParam<std::string> {};

// A lease longer than any test: a test that ends in time did not wait for it.
const std::vector<std::string> kLongLease = {"--grace-us", "600000000"};

TEST_P(ClientFault, AKilledClientsMemoryIsBackBeforeItsLeaseEnds) {
  const testing::Daemon daemon = Must(testing::Daemon::Start({.flags = kLongLease}));
  const Client bystander = Must(daemon.Connect());
  const Buffer kept = Must(bystander.device(0).Upload(Literal::Vector<float>({1, 2})));
  ASSERT_OK(kept.ready().Await());
  Process victim({Beside("crash_client"), daemon.address(), GetParam()});
  ASSERT_TRUE(victim.ReadLine().starts_with("ready"));
  EXPECT_GE(daemon.UsedBytes(), 16'000'008);
  victim.Kill();
  EXPECT_TRUE(daemon.WaitForUsedBytes(8, kPatience)) << daemon.UsedBytes();
  EXPECT_EQ(Must(daemon.Stats()).sessions, 1);
  EXPECT_EQ(Must(kept.ToLiteral()), Literal::Vector<float>({1, 2}));
  const Executable add = Must(bystander.CompileText(AddProgram(2)));
  EXPECT_EQ(Must(Must(add.Execute({kept, kept}))[0].ToLiteral()), Literal::Vector<float>({2, 4}))
      << "the device is free again";
}
INSTANTIATE_TEST_SUITE_P(Mid, ClientFault, ::testing::Values("idle", "upload", "upload_stream", "execute"),
                         [](const auto& info) { return info.param; });

// The connection breaks and both processes live: the session goes on, and each command takes effect once.
class ConnectionFault : public ::testing::TestWithParam<bool> {};

TEST_P(ConnectionFault, NothingIsLostOrDoneTwice) {
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  Relay relay(daemon.address());
  ConnectOptions options;
  options.address = relay.address();
  options.shared_memory = GetParam();
  const Client client = Must(Client::Connect(options));
  const Executable increment = Must(client.CompileText(IncrementProgram(8)));
  Buffer x = Must(client.device(0).Upload(Literal(Shape::Array(hlo::kF32, {8}))));
  std::atomic<bool> stop = false;
  std::thread breaker([&] {
    for (int i = 0; i < 60 && !stop; ++i) {
      absl::SleepFor(absl::Milliseconds(5 + i % 20));  // tidy: faults come when they come.
      relay.Break();
    }
  });
  constexpr int kExecutes = 6000;
  int uploads = 0, reads = 1;
  for (int i = 0; i < kExecutes; ++i) {
    x = Must(increment.Execute({x}, {.donate = {0}}))[0];
    if (i % 400 == 399) {
      ++reads;
      EXPECT_EQ(Must(x.ToLiteral()).data<float>()[3], static_cast<float>(i + 1));
    }
    if (i % 100 == 0) {
      ++uploads;
      const Literal value = Counting(20'000);  // 80,000 bytes: through the arena, or a bulk stream.
      const Buffer large = Must(client.device(0).Upload(value));
      EXPECT_TRUE(Must(large.ToLiteral()) == value);
    }
  }
  stop = true;
  breaker.join();
  EXPECT_EQ(Must(x.ToLiteral()).data<float>()[7], static_cast<float>(kExecutes));
  const SessionStats stats = Must(client.Stats());
  EXPECT_EQ(stats.executes, kExecutes);
  EXPECT_EQ(stats.host_to_device, (Amount{32 + uploads * 80'000, 1 + uploads}));
  EXPECT_EQ(stats.device_to_host, (Amount{reads * 32 + uploads * 80'000, reads + uploads}));
  EXPECT_EQ(Must(daemon.Stats()).sessions, 1);
}
INSTANTIATE_TEST_SUITE_P(Over, ConnectionFault, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Arena" : "Stream"; });

class DaemonFault : public DaemonTest {
 protected:
  void SetUp() override { StartDaemon({.flags = kLongLease}); }
  // Expects the error of a call after the daemon has ended; the client does not seek it for the time of a
  // lease.
  void ExpectLost(const absl::Status& status) {
    EXPECT_EQ(KindOf(status), ErrorKind::kLostSession) << status;
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  }
};

TEST_F(DaemonFault, AKilledDaemonIsATypedErrorAtOnceAndLaterConnectWorks) {
  const Buffer x = Must(client_->device(0).Upload(Literal::Vector<float>({1, 2})));
  const Executable add = Must(client_->CompileText(AddProgram(2)));
  ASSERT_OK(client_->Sync());
  daemon_->Kill(SIGKILL);
  ASSERT_TRUE(daemon_->WaitForExit(kPatience).has_value());
  ExpectLost(x.ToLiteral().status());
  ExpectLost(client_->device(0).Upload(Literal::Scalar<float>(1)).status());
  ExpectLost(client_->device(0).Upload(Counting(1'000'000)).status());
  ExpectLost(client_->device(0).Placeholder(Shape::Scalar(hlo::kF32)).status());
  ExpectLost(add.Execute({x, x}).status());
  ExpectLost(client_->CompileText(AddProgram(3)).status());
  ExpectLost(client_->Stats().status());
  ExpectLost(client_->Ping().status());
  ExpectLost(x.state());
  EXPECT_NE(Client::Connect(daemon_->address()).status().code(), absl::StatusCode::kOk);

  ASSERT_OK(daemon_->Restart());
  ExpectLost(x.ToLiteral().status());
  const Client again = Must(daemon_->Connect());
  EXPECT_NE(again.epoch(), client_->epoch());
  const Buffer y = Must(again.device(0).Upload(Literal::Vector<float>({3, 4})));
  EXPECT_EQ(Must(y.ToLiteral()), Literal::Vector<float>({3, 4}));
}

// Acceptance row LT9.
TEST_F(DaemonFault, KilledDuringAnExecuteTheWaitEnds) {
  const Executable forever = Must(client_->CompileText(kForever));
  const Buffer x = Must(client_->device(0).Upload(Literal::Scalar<int32_t>(0)));
  const Buffer result = Must(forever.Execute({x}))[0];
  EXPECT_EQ(result.ready().Await(absl::Milliseconds(100)).code(), absl::StatusCode::kDeadlineExceeded);
  daemon_->Kill(SIGKILL);
  ExpectLost(result.ToLiteral().status());
}

TEST_F(DaemonFault, KilledDuringAnUploadTheUploadEnds) {
  for (const bool shared_memory : {true, false}) {
    ConnectOptions options;
    options.shared_memory = shared_memory;
    const Client client = Must(daemon_->Connect(options));
    const Literal value = Counting(25'000'000);
    ASSERT_OK(client.device(0).Upload(value).status());
    daemon_->Kill(SIGKILL);
    absl::Status status;
    for (int i = 0; i < 100 && status.ok(); ++i) status = client.device(0).Upload(value).status();
    ExpectLost(status);
    ASSERT_TRUE(daemon_->WaitForExit(kPatience).has_value());
    ASSERT_OK(daemon_->Restart());
  }
}

TEST_F(DaemonFault, TerminatedItDrainsAndEnds) {
  const Buffer x = Must(client_->device(0).Upload(Literal::Vector<float>({1, 2})));
  ASSERT_OK(x.ready().Await());
  daemon_->Kill(SIGTERM);
  absl::SleepFor(absl::Milliseconds(50));  // tidy: two signals at once would be one.
  daemon_->Kill(SIGTERM);
  const std::optional<int> code = daemon_->WaitForExit(kPatience);
  ASSERT_TRUE(code.has_value());
  EXPECT_LT(*code, 128) << daemon_->log();
  EXPECT_FALSE(x.ToLiteral().ok());
}

// Executes that do not end, copies behind them, and programs to be compiled: work that has not started is
// dropped, running work is cancelled.
TEST_F(DaemonFault, TerminatedItEndsWhateverIsQueued) {
  StartDaemon({.flags = {"--drain-us", "1000"}});
  std::vector<Client> clients;
  std::vector<Buffer> results;
  std::vector<Executable> programs;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(Must(daemon_->Connect()));
    const Client& client = clients.back();
    const Executable forever = Must(client.CompileText(kForever));
    const Buffer x = Must(client.device(0).Upload(Literal::Scalar<int32_t>(0)));
    for (int j = 0; j < 100; ++j) results.push_back(Must(forever.Execute({x}))[0]);
    for (int j = 0; j < 100; ++j) programs.push_back(Must(client.CompileText(AddProgram(1000 * i + j + 1))));
    Must(client.device(0).Upload(Counting(1'000'000)));
  }
  EXPECT_EQ(results.front().ready().Await(absl::Milliseconds(100)).code(),
            absl::StatusCode::kDeadlineExceeded);
  daemon_->Kill(SIGTERM);
  const std::optional<int> code = daemon_->WaitForExit(kPatience);
  ASSERT_TRUE(code.has_value()) << daemon_->log();
  EXPECT_LT(*code, 128) << daemon_->log();
  EXPECT_FALSE(results.back().ToLiteral().ok());
}

// A routine of LAPACK cannot be stopped: the daemon exits in order while it runs, and says so.
TEST_F(DaemonFault, TerminatedItEndsBesideALibraryCallThatGoesOn) {
  StartDaemon({.flags = {"--drain-us", "1000"}});
  const Executable fill = Must(client_->CompileText(R"(HloModule fill
ENTRY main {
  i = f32[4000,4000] iota(), iota_dimension=0
  j = f32[4000,4000] iota(), iota_dimension=1
  k = f32[4000,4000] multiply(i, j)
  ROOT a = f32[4000,4000] sine(k)
})"));
  // Takes minutes of one core.
  const Executable svd = Must(client_->CompileText(R"(HloModule svd
ENTRY main {
  a = f32[4000,4000] parameter(0)
  ROOT r = (f32[4000,4000], f32[4000], f32[4000,4000], f32[4000,4000], s32[]) custom-call(a), custom_call_target="lapack_sgesdd_ffi", backend_config={mode = 65 : ui8}, api_version=API_VERSION_TYPED_FFI
})"));
  const Buffer matrix = Must(fill.Execute({}))[0];
  ASSERT_OK(matrix.ready().Await());
  const std::vector<Buffer> results = Must(svd.Execute({matrix}));
  // When its temporaries are allocated it runs; the routine is its only step.
  const Admin admin = Must(Admin::Connect({.address = daemon_->address()}));
  while (Must(admin.Devices())[0].temporary_bytes == 0 &&
         results[0].ready().Await(absl::Milliseconds(5)).code() == absl::StatusCode::kDeadlineExceeded) {
  }
  daemon_->Kill(SIGTERM);
  const std::optional<int> code = daemon_->WaitForExit(absl::Seconds(60));
  ASSERT_TRUE(code.has_value()) << daemon_->log();
  EXPECT_EQ(*code, 0) << daemon_->log();
  EXPECT_NE(daemon_->log().find("an execute on device 0 (session "), std::string::npos) << daemon_->log();
}

}  // namespace
}  // namespace hlod

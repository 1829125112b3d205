// Sessions over networks as they are: TCP with TLS between two namespaces of this machine, and packets that
// are late, lost, reordered, held back, refused or never seen again.
//
// HLOD_TEST_NETWORK=long adds tests with the times of a client and a daemon without flags, which take
// minutes.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/time/clock.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/session/session.h"
#include "common/base/system/temporary_folder.h"
#include "common/rpc/endpoint.h"
#include "tests/integration/network/link.h"
#include "tests/integration/network/namespaces.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/process.h"

namespace hlod {
namespace {

using network::Conditions;
using network::Direction;
using ::testing::HasSubstr;

// A client's patience with a silent daemon. Without options a client asks after 10 s, and waits 30 s for the
// answer.
struct Patience {
  absl::Duration question, silence, timeout;
};
constexpr char kToken[] = "secret";
constexpr Patience kShort = {absl::Seconds(1), absl::Seconds(2), absl::Seconds(2)};

// Commands whose effects can be counted afterwards: executes in the one buffer that each takes and gives, and
// bytes on bulk streams.
class Work {
 public:
  // Without `transfers` it does not move bytes on bulk streams.
  explicit Work(Client client, bool transfers = true)
      : client_(std::move(client)),
        with_transfers_(transfers),
        increment_(Must(client_.CompileText(IncrementProgram(8)))),
        buffer_(Must(client_.device(0).Upload(Literal(Shape::Array(hlo::kF32, {8}))))) {}
  ~Work() { Stop(); }

  void Step() {
    buffer_ = Must(increment_.Execute({buffer_}, {.donate = {0}}))[0];
    if (++executes_ % 16 != 0 || !with_transfers_) return;
    const Literal value = Counting(20'000);
    EXPECT_TRUE(Must(Must(client_.device(0).Upload(value)).ToLiteral()) == value);
    ++transfers_;
  }
  void StartThread() {
    thread_ = std::thread([this] {
      for (; !stop_; absl::SleepFor(absl::Milliseconds(1))) Step();  // tidy: leaves the machine to others.
    });
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // Waits until steps that were begun after this call have ended.
  void AwaitProgress(const char* after) {
    const int begin = executes_;
    const absl::Time deadline = absl::Now() + 2 * kPatience;
    while (executes_ < begin + 50 && absl::Now() < deadline)
      absl::SleepFor(absl::Milliseconds(5));  // tidy: polls with a deadline.
    EXPECT_GE(executes_, begin + 50) << "the session does not go on after " << after;
  }
  // Every execute happened once, and each byte that this side moved was counted once by the daemon.
  void ExpectExact() {
    Stop();
    EXPECT_EQ(Must(buffer_.ToLiteral()).data<float>()[7], static_cast<float>(executes_));
    const SessionStats stats = Must(client_.Stats());
    EXPECT_EQ(stats.executes, executes_);
    EXPECT_EQ(stats.host_to_device, (Amount{32 + transfers_ * 80'000, 1 + transfers_}));
    EXPECT_EQ(stats.device_to_host, (Amount{32 + transfers_ * 80'000, 1 + transfers_}));
    EXPECT_EQ(testing::CheckLedger(stats), "");
  }
  int executes() const { return executes_; }
  const Client& client() const { return client_; }

 private:
  Client client_;
  const bool with_transfers_;
  Executable increment_;
  Buffer buffer_;
  std::atomic<int> executes_ = 0;
  int64_t transfers_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class RealNetwork : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string certificate = folder_.path() + "/c.pem", key = folder_.path() + "/c.key";
    const std::string command =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=hlod -addext "
        "subjectAltName=IP:10.217.1.1,IP:10.217.2.1 -keyout " +
        key + " -out " + certificate + " 2>/dev/null";
    ASSERT_EQ(system(command.c_str()), 0) << command;
    std::ifstream file(certificate);
    tls_.root_certificates = {std::istreambuf_iterator<char>(file), {}};
    const std::string wrapper = folder_.path() + "/hlod";
    std::ofstream(wrapper) << "#!/bin/sh\nexec " << Beside("network_test") << " --enter " << there_.path()
                           << " " << Must(runtime::FindDaemonBinary()) << " \"$@\"\n";
    std::filesystem::permissions(wrapper, std::filesystem::perms::owner_all);
    options_.binary = wrapper;
    const std::string token = folder_.path() + "/token";
    std::ofstream(token) << kToken;
    std::filesystem::permissions(token, std::filesystem::perms(0600));
    options_.flags = {"--listen",  "tcp:10.217.1.1:9517", "--listen", "tcp:10.217.2.1:9517", "--tls-cert",
                      certificate, "--tls-key",           key,        "--token-file",        token};
  }
  void StartDaemon(const std::vector<std::string>& flags = {}) {
    options_.flags.insert(options_.flags.end(), flags.begin(), flags.end());
    daemon_ = std::make_unique<testing::Daemon>(Must(testing::Daemon::Start(options_)));
    // The third party has a network of its own.
    others_ = std::make_unique<Work>(
        Must(Client::Connect({.address = "10.217.2.1:9517", .tls = tls_, .token = kToken})));
    others_->StartThread();
  }
  // Connects as a program does that has no say in the library's times.
  Client Connect() {
    return Must(Client::Connect({.address = "10.217.1.1:9517", .tls = tls_, .token = kToken}));
  }
  Client Connect(const Patience& patience) {
    runtime::SessionOptions options;
    options.timeout = patience.timeout;
    options.question = patience.question;
    options.silence = patience.silence;
    return Client(Must(runtime::Session::Open(
        runtime::MakeConnector(Must(rpc::ParseEndpoint("tcp:10.217.1.1:9517")), tls_, kToken), options)));
  }
  // Resets a client's connections while it works: nothing is lost or done twice.
  void ExpectExactThroughResets(int resets) {
    StartDaemon();
    Work work(Connect());
    work.StartThread();
    for (int i = 0; i < resets; ++i) {
      work.AwaitProgress("a reset");
      link_.Forget(/*reset=*/true);
    }
    work.AwaitProgress("the last reset");
    work.ExpectExact();
    ExpectOthersUndisturbed();
  }
  // The third party's session worked all the time, and lost nothing either.
  void ExpectOthersUndisturbed() {
    others_->ExpectExact();
    EXPECT_EQ(Must(others_->client().Stats()).replayed_commands, 0);
  }
  int Descriptors() const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(daemon_->pid()) + "/fd"), end;
    return static_cast<int>(std::distance(all, end));
  }
  // Waits until `holds`, and fails with `what` when that takes too long.
  template <typename F>
  void Await(const char* what, const F& holds) {
    const absl::Time deadline = absl::Now() + 2 * kPatience;
    while (!holds() && absl::Now() < deadline)
      absl::SleepFor(absl::Milliseconds(20));  // tidy: polls with a deadline.
    EXPECT_TRUE(holds()) << what;
  }

  const TemporaryFolder folder_ = Must(TemporaryFolder::Make("hlod-network"));
  const network::Namespace there_;
  network::Link link_{there_, "bad", "10.217.1.2", "10.217.1.1"};
  network::Link other_link_{there_, "good", "10.217.2.2", "10.217.2.1"};
  TlsOptions tls_;
  testing::DaemonOptions options_;
  std::unique_ptr<testing::Daemon> daemon_;
  std::unique_ptr<Work> others_;
};

TEST_F(RealNetwork, CutsOfSecondsLoseNothing) {
  StartDaemon();
  Work patient(Connect()), impatient(Connect(kShort));
  for (Work* work : {&patient, &impatient}) {
    work->StartThread();
    work->AwaitProgress("the start");
  }
  link_.DropAll(true);
  absl::SleepFor(absl::Seconds(1));  // tidy: the length of the cut is what is tested.
  link_.DropAll(false);
  for (Work* work : {&patient, &impatient}) work->AwaitProgress("a cut of 1 s");
  link_.SetUp(false);
  others_->AwaitProgress("another's cable was pulled");
  absl::SleepFor(absl::Seconds(10));  // tidy: likewise.
  link_.SetUp(true);
  for (Work* work : {&patient, &impatient}) {
    work->AwaitProgress("a cable that was pulled for 10 s");
    work->ExpectExact();
  }
  ExpectOthersUndisturbed();
  EXPECT_GT(link_.vanished(), 0);
}

TEST_F(RealNetwork, ResetsLoseNothing) { ExpectExactThroughResets(5); }

// Packets of the old connection vanish in both directions. The client opens another; the daemon closes its
// end of the old one.
TEST_F(RealNetwork, ANatThatForgetsCostsTimeAndNothingElse) {
  StartDaemon({"--tcp-silence-us", "4000000"});
  others_->Stop();
  Work work(Connect(kShort), /*transfers=*/false);
  work.StartThread();
  work.AwaitProgress("the start");
  const int descriptors = Descriptors();
  link_.Forget(/*reset=*/false);
  work.AwaitProgress("its connection was forgotten");
  Await("the daemon keeps a connection that was forgotten", [&] { return Descriptors() <= descriptors; });
  work.ExpectExact();
  ExpectOthersUndisturbed();
}

class RealNetworkHalfOpen : public RealNetwork, public ::testing::WithParamInterface<Direction> {};

TEST_P(RealNetworkHalfOpen, ADirectionThatIsSilentLosesNothing) {
  StartDaemon({"--tcp-silence-us", "4000000"});
  Work work(Connect(kShort));
  work.StartThread();
  work.AwaitProgress("the start");
  link_.Drop(GetParam(), true);
  absl::SleepFor(absl::Seconds(5));  // tidy: longer than the client waits for an answer.
  link_.Drop(GetParam(), false);
  work.AwaitProgress("one direction was silent");
  work.ExpectExact();
  ExpectOthersUndisturbed();
}
std::string NameOf(const ::testing::TestParamInfo<Direction>& info) {
  return info.param == Direction::kToDaemon ? "ToDaemon" : "ToClient";
}
INSTANTIATE_TEST_SUITE_P(Silent, RealNetworkHalfOpen,
                         ::testing::Values(Direction::kToDaemon, Direction::kToClient), NameOf);

// A network that is slow, loses and reorders packets, and holds them back for seconds.
TEST_F(RealNetwork, ABadLineLosesNothingAndRepeatsNothing) {
  StartDaemon();
  link_.Set({.delay = absl::Milliseconds(10),
             .jitter = absl::Milliseconds(10),
             .loss = 0.01,
             .bytes_per_second = 4'000'000});
  Work work(Connect());
  const Literal large = Counting(500'000);
  EXPECT_TRUE(Must(Must(work.client().device(0).Upload(large)).ToLiteral()) == large);
  testing::TransferWatch watch(work.client());
  EXPECT_TRUE(Must(Must(work.client().device(0).Upload(large)).ToLiteral()) == large);
  EXPECT_EQ(watch.Check({.host_to_device = {2'000'000, 1}, .device_to_host = {2'000'000, 1}}), "");
  EXPECT_GT(link_.vanished(), 0);
  Work held(Connect());
  held.StartThread();
  held.AwaitProgress("the start");
  link_.Hold(true);
  absl::SleepFor(absl::Seconds(2));  // tidy: the time for which packets are held back.
  link_.Hold(false);
  held.AwaitProgress("packets were held back");
  held.ExpectExact();
  EXPECT_EQ(Must(held.client().Stats()).replayed_commands, 0) << "no connection broke";
  EXPECT_EQ(Must(work.client().Stats()).replayed_commands, 0) << "no connection broke";
  ExpectOthersUndisturbed();
}

// The daemon notices the silence, gives all back after the grace period, and the clients get one error each.
TEST_F(RealNetwork, ASilenceLongerThanTheGracePeriodIsOneErrorAndGivesEverythingBack) {
  StartDaemon({"--tcp-silence-us", "4000000", "--grace-us", "2000000"});
  others_->Stop();
  const int descriptors = Descriptors();
  const int64_t bytes = daemon_->UsedBytes();
  const Client waits = Connect(kShort), idle = Connect();
  const Buffer x = Must(waits.device(0).Upload(Counting(1'000'000))),
               y = Must(idle.device(0).Upload(Counting(1'000'000)));
  ASSERT_OK(x.ready().Await());
  ASSERT_OK(y.ready().Await());
  EXPECT_EQ(daemon_->UsedBytes(), bytes + 8'000'000);
  link_.DropAll(true);
  const absl::Status first = x.ToLiteral().status();
  EXPECT_EQ(KindOf(first), ErrorKind::kLostSession) << first;
  EXPECT_EQ(first.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      std::string(first.message()),
      HasSubstr("The session with the daemon at 10.217.1.1:9517 is lost, and its buffers with it: the "
                "connection broke ("));
  EXPECT_EQ(waits.Ping().status().message(), first.message());
  EXPECT_EQ(waits.device(0).Upload(Counting(4)).status().message(), first.message());
  EXPECT_TRUE(daemon_->WaitForUsedBytes(bytes, 2 * kPatience)) << daemon_->UsedBytes();
  EXPECT_EQ(Must(daemon_->Stats()).sessions, 1) << "that of the third party";
  Await("descriptors of vanished clients stay open", [&] { return Descriptors() <= descriptors; });
  link_.DropAll(false);
  const absl::Status late = y.ToLiteral().status();
  EXPECT_EQ(KindOf(late), ErrorKind::kLostSession) << late;
  EXPECT_EQ(idle.Ping().status().message(), late.message());
  Work again(Connect());
  again.Step();
  again.ExpectExact();
  ExpectOthersUndisturbed();
}

class LongNetwork : public RealNetwork {
 protected:
  void SetUp() override {
    const char* const length = std::getenv("HLOD_TEST_NETWORK");
    if (length == nullptr || std::strcmp(length, "long") != 0)
      GTEST_SKIP() << "HLOD_TEST_NETWORK is not long";
    RealNetwork::SetUp();
  }
};

// The client notices the cut after 30 s, and seeks the daemon for as long as that keeps the session.
TEST_F(LongNetwork, ACutOfAMinuteLosesNothing) {
  StartDaemon({"--grace-us", "90000000"});
  Work work(Connect());
  work.StartThread();
  work.AwaitProgress("the start");
  link_.DropAll(true);
  absl::SleepFor(absl::Seconds(60));  // tidy: the length of the cut is what is tested.
  link_.DropAll(false);
  work.AwaitProgress("a cut of 60 s");
  work.ExpectExact();
  ExpectOthersUndisturbed();
}

TEST_F(LongNetwork, ManyResetsLoseNothing) { ExpectExactThroughResets(100); }

TEST_F(LongNetwork, ANatThatForgetsAlsoLosesNoTransfer) {
  StartDaemon();
  Work work(Connect());
  work.StartThread();
  for (int i = 0; i < 2; ++i) {
    work.AwaitProgress("its connection was forgotten");
    link_.Forget(/*reset=*/false);
  }
  work.AwaitProgress("its connection was forgotten");
  work.ExpectExact();
  ExpectOthersUndisturbed();
}

// client.h: a call that has waited for 10 s asks, and gives the connection up after further 30 s; the daemon
// does likewise with a client that is silent for a minute. Without a network the session is then sought for
// 30 s.
TEST_F(LongNetwork, ASilentPeerIsNoticedInTheTimesThatAreDocumented) {
  StartDaemon();
  others_->Stop();
  const int descriptors = Descriptors();
  const Client client = Connect();
  const Buffer x = Must(client.device(0).Upload(Counting(1'000'000)));
  ASSERT_OK(x.ready().Await());
  link_.DropAll(true);
  const absl::Time begin = absl::Now();
  const absl::Status status = x.ToLiteral().status();
  EXPECT_EQ(KindOf(status), ErrorKind::kLostSession) << status;
  std::printf("The client gave up after %.1f s.\n", absl::ToDoubleSeconds(absl::Now() - begin));
  Await("the daemon does not notice that its client is gone", [&] { return Descriptors() <= descriptors; });
  std::printf("The daemon closed the connection after %.1f s.\n", absl::ToDoubleSeconds(absl::Now() - begin));
  EXPECT_TRUE(daemon_->WaitForUsedBytes(32, 2 * kPatience)) << daemon_->UsedBytes();
  std::printf("The daemon gave the memory back after %.1f s.\n", absl::ToDoubleSeconds(absl::Now() - begin));
}

}  // namespace
}  // namespace hlod

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "--enter") == 0) hlod::network::RunInNamespace(argv[2], argv + 3);
  ::testing::InitGoogleTest(&argc, argv);
  if (const std::string reason = hlod::network::EnterOwnNamespace(); !reason.empty()) {
    std::printf("SKIPPED: %s; the test needs to be root, with network namespaces and TUN devices\n",
                reason.c_str());
    return 0;
  }
  return RUN_ALL_TESTS();
}

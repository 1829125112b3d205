// Clusters of real daemons on the loopback interface: they find one another, see at once who ends and in time
// who is silent, refuse those that do not belong, and survive whatever another daemon sends.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/hlod/v1/peer.grpc.pb.h"
#include "tests/integration/support/cluster.h"
#include "tests/integration/support/hloctl.h"
#include "tests/integration/support/process.h"
#include "tests/support/loopback.h"
#include "tests/support/shell.h"

namespace hlod {
namespace {

TEST_F(ClusterOfDaemons, FindOneAnotherAndRunLaunchesTogether) {
  StartThree();
  const Cluster cluster = Describe(1);
  EXPECT_EQ(cluster.name, "ci");
  EXPECT_EQ(cluster.size, 3);
  EXPECT_EQ(cluster.missing, "");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Describe(i).epoch, cluster.epoch) << "all know the same membership";
    EXPECT_EQ(cluster.members[i].address, daemons_[i]->tcp_address());
    const TriedLaunches tried = Must(Must(daemons_[i]->Administration()).TryLaunches(20));
    EXPECT_EQ(tried.daemons, 3);
    EXPECT_EQ(tried.launch_us.size(), 20u);
  }
  // The coordinator knows the round trips that its members measured.
  Await(0, [](const Cluster& c) { return c.members[1].round_trip_us > 0 && c.members[2].round_trip_us > 0; });
}

TEST_F(ClusterOfDaemons, AMemberThatIsKilledIsGoneAtOnce) {
  StartThree({"--peer-silence-us", "600000000"});
  const int64_t epoch = Describe(0).epoch;
  daemons_[2]->Kill(SIGKILL);
  daemons_[2]->WaitForExit(kPatience);
  // Long before it would count as silent.
  for (size_t i = 0; i < 2; ++i) {
    const Cluster cluster = ExpectMembers(i, {0, 1});
    EXPECT_GT(cluster.epoch, epoch);
    ASSERT_FALSE(cluster.departed.empty());
    EXPECT_EQ(cluster.departed.back().rank, 2u);
    EXPECT_NE(cluster.departed.back().why.find("its connection ended"), std::string::npos)
        << cluster.departed.back().why;
  }
  EXPECT_EQ(Describe(0).missing, "rank 2");
  // A launch over those that are left works, and the next daemon with the rank takes the place.
  EXPECT_OK(Must(daemons_[1]->Administration()).TryLaunches(3).status());
  ASSERT_OK(daemons_[2]->Restart());
  for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
}

TEST_F(ClusterOfDaemons, AMemberThatIsStoppedIsGoneAfterItsSilenceAndComesBack) {
  StartThree({"--peer-silence-us", "1000000"});
  daemons_[1]->Kill(SIGSTOP);
  for (const size_t i : {0, 2}) {
    const Cluster cluster = ExpectMembers(i, {0, 2});
    // On a busy machine others may have been silent for a second, too, and have come back.
    const bool silent = std::ranges::any_of(cluster.departed, [](const DepartedMember& row) {
      return row.rank == 1 && row.why.find("it was silent for ") != std::string::npos;
    });
    EXPECT_TRUE(silent) << "daemon " << i << ": " << daemons_[i]->log();
  }
  daemons_[1]->Kill(SIGCONT);
  for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
}

// Although its silence would count only much later: its connections have ended.
TEST_F(ClusterOfDaemons, ACoordinatorThatIsKilledIsGoneAtOnce) {
  StartThree({"--peer-silence-us", "3600000000"});
  const std::string name = Describe(0).members[0].name;
  daemons_[0]->Kill(SIGKILL);
  for (const size_t i : {1, 2}) {
    const Cluster cluster = ExpectMembers(i, {1, 2});
    ASSERT_FALSE(cluster.departed.empty());
    EXPECT_EQ(cluster.departed.back().rank, 0u);
    EXPECT_EQ(cluster.departed.back().why.substr(0, 20), "its connection ended");
    const std::string log = daemons_[i]->log();
    EXPECT_NE(log.find("Daemon " + name + " (rank 0) is gone: its connection ended"), std::string::npos)
        << log;
    for (const char* own : {"(rank 1) is gone", "(rank 2) is gone"})
      EXPECT_EQ(log.find(own), std::string::npos) << log;
  }
}

TEST_F(ClusterOfDaemons, MembersFindTheirCoordinatorAgain) {
  StartThree();
  const std::string address = daemons_[0]->tcp_address();
  daemons_[0]->Kill(SIGKILL);
  daemons_[0]->WaitForExit(kPatience);
  for (size_t i = 1; i < 3; ++i) {
    const Cluster cluster = Await(i, [](const Cluster& c) { return !c.problem.empty(); });
    EXPECT_NE(cluster.problem.find("The coordinator at " + address), std::string::npos) << cluster.problem;
    // They still serve their own clients.
    EXPECT_OK(Must(daemons_[i]->Connect()).Ping().status());
  }
  ASSERT_OK(daemons_[0]->Restart());
  if (daemons_[0]->tcp_address() != address) GTEST_SKIP() << "another program took the port";
  for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
}

// gRPC reports nothing while it asks for the name, or waits for the other side: for 20 s and more.
TEST_F(ClusterOfDaemons, AMemberWhoseCoordinatorDoesNotAnswerSaysSoInSeconds) {
  const testing::LoopbackListener silent;
  const std::string coordinator = "localhost:" + std::to_string(silent.port());
  const absl::Time begin = absl::Now();
  const testing::Daemon& member = Start({"--cluster", "ci", "--join", coordinator});
  const Cluster cluster = Await(0, [](const Cluster& c) { return !c.problem.empty(); });
  const std::string sentence =
      "The coordinator at " + coordinator +
      " has not been reached for 3.0 s: the name \"localhost\" is still being resolved, or its host does not "
      "answer; it is tried further.";
  EXPECT_EQ(cluster.problem, sentence);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(15));
  EXPECT_NE(member.log().find(sentence), std::string::npos) << member.log();
}

TEST_F(ClusterOfDaemons, ThoseThatDoNotBelongAreRefusedInASentence) {
  StartThree();
  const std::string coordinator = daemons_[0]->tcp_address(), member = daemons_[1]->tcp_address();
  ExpectRefused({"--cluster", "other", "--join", coordinator},
                "The daemon at " + coordinator + " belongs to cluster \"ci\", not to \"other\".");
  ExpectRefused(Join() + Flags{"--rank", "2"}, "Rank 2 of cluster \"ci\" is taken by ");
  ExpectRefused(Join() + Flags{"--rank", "7"},
                "Rank 7 is too large for cluster \"ci\": it has 3 members, with ranks from 0.", 2);
  ExpectRefused(Join(), "Cluster \"ci\" is complete: it has its 3 members.");
  ExpectRefused({"--cluster", "ci", "--join", member}, "Daemon ");
  ExpectRefused({"--cluster", "ci", "--join", member + " --rank 2"}, "Daemon ");
  ExpectRefused({"--join", coordinator}, "join, rank and cluster_size need cluster", 2);
  ExpectRefused({"--cluster", "'a b'"}, "--cluster: \"a b\" is not a name", 2);
  ExpectRefused({"--cluster", "ci", "--join", "192.0.2.1:9517"},
                "join: 192.0.2.1:9517 is beyond the loopback interface", 2);
  testing::Daemon& alone = Start({});
  ExpectRefused({"--cluster", "ci", "--join", alone.tcp_address()},
                "The daemon that was called is in no cluster: it was started without --cluster.");
  for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
}

// A program that calls a daemon as another daemon would.
class RawLink {
 public:
  explicit RawLink(const std::string& address)
      : stub_(v1::Peer::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    stream_ = stub_->Link(&context_);
  }
  static v1::PeerMessage Hello(const std::string& name, const std::string& version) {
    v1::PeerMessage message;
    v1::PeerHello& hello = *message.mutable_hello();
    hello.set_protocol(1);
    hello.set_version(version);
    hello.set_cluster("ci");
    hello.mutable_member()->set_name(name);
    hello.mutable_member()->set_address("127.0.0.1:1");
    hello.mutable_member()->set_incarnation(77);
    hello.mutable_member()->set_devices(1);
    hello.set_joins(true);
    return message;
  }
  void Send(const v1::PeerMessage& message) { stream_->Write(message); }
  std::optional<v1::PeerMessage> Receive() {
    v1::PeerMessage message;
    if (!stream_->Read(&message)) return std::nullopt;
    return message;
  }
  // Reads to the end, and returns its text.
  std::string End() {
    while (Receive().has_value()) {
    }
    return stream_->Finish().error_message();
  }

 private:
  std::unique_ptr<v1::Peer::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::PeerMessage, v1::PeerMessage>> stream_;
};

TEST_F(ClusterOfDaemons, AnotherVersionIsRefusedByName) {
  const std::string address = Start({"--cluster", "ci"}).tcp_address();
  v1::PeerMessage hello = RawLink::Hello("n9", Version());
  hello.mutable_hello()->set_version("hlod 0.0.1");
  RawLink other(address);
  other.Send(hello);
  EXPECT_EQ(other.End(),
            "Daemon n9 is \"hlod 0.0.1\"; the daemons of cluster \"ci\" are \"" + Version() + "\".");
  hello = RawLink::Hello("n9", Version());
  hello.mutable_hello()->set_protocol(2);
  RawLink later(address);
  later.Send(hello);
  EXPECT_EQ(later.End(),
            "Daemon n9 speaks version 2 of the protocol between daemons; cluster \"ci\" speaks version 1.");
}

// Each way of breaking the protocol, and a part of the sentence that ends the link.
std::vector<std::pair<std::string, std::function<void(v1::PeerMessage&)>>> Violations() {
  const auto step = [](v1::PeerMessage& m, v1::LaunchStep::Kind kind, uint32_t leader) {
    m.mutable_step()->set_kind(kind);
    m.mutable_step()->mutable_launch()->set_leader(leader);
    m.mutable_step()->mutable_launch()->set_number(5);
  };
  return {
      {"greets twice", [](v1::PeerMessage& m) { m = RawLink::Hello("again", ""); }},
      {"has or lacks a number", [](v1::PeerMessage& m) { m.set_sequence(0), m.mutable_ticket_request(); }},
      {"has or lacks a number", [](v1::PeerMessage& m) { m.mutable_ping(); }},
      {"acknowledges message 900",
       [](v1::PeerMessage& m) { m.set_received(900), m.mutable_ticket_request(); }},
      {"does not coordinate", [](v1::PeerMessage& m) { m.mutable_change()->set_epoch(99); }},
      {"does not coordinate", [](v1::PeerMessage& m) { m.mutable_ticket(); }},
      {"prepares a launch of rank 3",
       [](v1::PeerMessage& m) { m.mutable_prepare()->mutable_launch()->set_leader(3); }},
      {"digest has 0 bytes",
       [](v1::PeerMessage& m) { m.mutable_prepare()->mutable_launch()->set_leader(1); }},
      {"START does not fit", [&](v1::PeerMessage& m) { step(m, v1::LaunchStep::START, 1); }},
      {"YIELD does not fit", [&](v1::PeerMessage& m) { step(m, v1::LaunchStep::YIELD, 1); }},
      {"steps launch 5 of rank 0", [&](v1::PeerMessage& m) { step(m, v1::LaunchStep::CANCEL, 0); }},
      {"answers launch 5 of rank 1 here", [&](v1::PeerMessage& m) { step(m, v1::LaunchStep::READY, 1); }},
      {"digest has 0 bytes", [](v1::PeerMessage& m) { m.mutable_offer(); }},
  };
}

TEST_F(ClusterOfDaemons, WhatAPeerDoesWrongEndsItsLinkAndNothingElse) {
  const std::string address = Start({"--cluster", "ci"}).tcp_address();
  {
    RawLink rude(address);
    v1::PeerMessage ping;
    ping.mutable_ping();
    rude.Send(ping);
    EXPECT_EQ(rude.End(), "The first message of a link between daemons is not a hello.");
    RawLink large(address);
    v1::PeerMessage hello = RawLink::Hello(std::string(2 << 20, 'x'), Version());
    large.Send(hello);
    EXPECT_NE(large.End(), "") << "the connection's memory ends it, or the limit of a message";
    RawLink longer(address);
    longer.Send(RawLink::Hello(std::string(300, 'x'), Version()));
    EXPECT_EQ(longer.End(), "The name of a daemon has 300 bytes; the limit is 253.");
    // All members know one another's incarnations.
    RawLink member(address), thief(address);
    member.Send(RawLink::Hello("n9", Version()));
    EXPECT_TRUE(member.Receive().has_value());
    thief.Send(RawLink::Hello("n8", Version()));
    EXPECT_EQ(thief.End(),
              "Daemon \"n8\" states the incarnation of n9 (rank 1) at 127.0.0.1:1, which is a member.");
    ExpectMembers(0, {0, 1});
  }
  ExpectMembers(0, {0});
  for (const auto& [sentence, spoil] : Violations()) {
    RawLink link(address);
    link.Send(RawLink::Hello("n9", Version()));
    const std::optional<v1::PeerMessage> welcome = link.Receive();
    ASSERT_TRUE(welcome.has_value() && welcome->has_welcome()) << sentence;
    EXPECT_EQ(welcome->welcome().you().rank(), 1u);
    v1::PeerMessage message;
    message.set_sequence(1);
    spoil(message);
    link.Send(message);
    const std::string end = link.End();
    EXPECT_NE(end.find("n9 (rank 1) broke the protocol between daemons: "), std::string::npos) << end;
    EXPECT_NE(end.find(sentence), std::string::npos) << end << "\nexpected: " << sentence;
    ExpectMembers(0, {0});
  }
  EXPECT_OK(Must(daemons_[0]->Connect()).Ping().status());
  EXPECT_OK(Must(daemons_[0]->Administration()).TryLaunches(1).status());
}

TEST_F(ClusterOfDaemons, HloctlListsWaitsAndTimes) {
  Start({"--cluster", "ci", "--cluster-size", "3"});
  Start(Join());
  for (size_t i = 0; i < 2; ++i) ExpectMembers(i, {0, 1});
  const auto run = [&](size_t i, const std::string& arguments) {
    return RunShell(Beside("../bin/hloctl") + " --address " + daemons_[i]->address() + " " + arguments +
                    " 2>&1");
  };
  Output output = run(0, "cluster");
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_NE(output.text.find(
                "cluster \"ci\", epoch 2, 2 of 3 members; this daemon is the coordinator\nmissing: rank 2\n"),
            std::string::npos)
      << output.text;
  output = run(1, "cluster wait --seconds 0.2");
  EXPECT_EQ(output.code, 1) << output.text;
  EXPECT_EQ(output.text, "hloctl: Cluster \"ci\" has 2 of 3 members; missing: rank 2 (waited 0.2 s).\n");
  EXPECT_EQ(run(1, "cluster wait --size 2").code, 0);
  output = run(1, "cluster try --count 10");
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_NE(output.text.find("10 launches over 2 daemons: min "), std::string::npos) << output.text;
  const nlohmann::json json = nlohmann::json::parse(run(1, "--json cluster").text);
  EXPECT_EQ(json["members"].size(), 2u);
  EXPECT_EQ(json["missing"], "rank 2");
  Start(Join());
  EXPECT_EQ(run(1, "cluster wait").code, 0);
  // A daemon by itself says so.
  Start({});
  output = run(3, "cluster");
  EXPECT_EQ(output.code, 1);
  EXPECT_EQ(output.text, "hloctl: This daemon is in no cluster: it was started without --cluster.\n");
}

// Certificates: an authority, and what it or another one signs.
class ClusterWithCertificates : public ClusterOfDaemons {
 protected:
  void SetUp() override {
    ClusterOfDaemons::SetUp();
    MakeAuthority("ca");
    MakeAuthority("other");
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Shell(const std::string& command) {
    ASSERT_EQ(system((command + " 2>" + Path("log")).c_str()), 0) << command;
  }
  void MakeAuthority(const std::string& name) {
    Shell("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=" + name + " -keyout " +
          Path(name + ".key") + " -out " + Path(name + ".pem"));
  }
  // Makes a certificate for 127.0.0.1 with this URI, and returns the flags that use it.
  Flags Certificate(const std::string& name, const std::string& uri, const std::string& authority = "ca") {
    std::ofstream(folder_ / (name + ".ext"))
        << "subjectAltName=IP:127.0.0.1" << (uri.empty() ? "" : ",URI:" + uri);
    Shell("openssl req -newkey rsa:2048 -nodes -subj /CN=" + name + " -keyout " + Path(name + ".key") +
          " -out " + Path(name + ".csr"));
    Shell("openssl x509 -req -days 2 -in " + Path(name + ".csr") + " -CA " + Path(authority + ".pem") +
          " -CAkey " + Path(authority + ".key") + " -CAcreateserial -extfile " + Path(name + ".ext") +
          " -out " + Path(name + ".pem"));
    return {"--tls-cert",        Path(name + ".pem"), "--tls-key",
            Path(name + ".key"), "--tls-client-ca",   Path(authority + ".pem")};
  }
};

TEST_F(ClusterWithCertificates, OnlyDaemonsOfTheClusterAreMembers) {
  Start(Flags{"--cluster", "ci"} + Certificate("n0", "hlod://ci/daemon/n0"));
  Start(Join() + Certificate("n1", "hlod://ci/daemon/n1"));
  Start(Join() + Certificate("n2", "hlod://ci/daemon/n2"));
  for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
  std::vector<std::string> names;
  for (const ClusterMember& row : Describe(2).members) names.push_back(row.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, std::vector<std::string>({"n0", "n1", "n2"}));
  EXPECT_OK(Must(daemons_[2]->Administration()).TryLaunches(5).status());
  // A certificate of a client of the same authority, and one of another cluster.
  ExpectRefused(Join() + Certificate("client", ""),
                "--tls-cert: " + Path("client.pem") +
                    " does not name a daemon of cluster \"ci\": it needs the URI "
                    "hlod://ci/daemon/NAME",
                2);
  ExpectRefused(
      Flags{"--cluster", "ci2", "--join", daemons_[0]->tcp_address()} +
          Certificate("n3", "hlod://ci2/daemon/n3"),
      "The certificate of daemon \"n3\" does not name it as one of cluster \"ci\": it needs the URI "
      "hlod://ci/daemon/n3, and has hlod://ci2/daemon/n3.");
  // An authority that the others do not know, and a daemon without TLS, get no answer that they could trust.
  for (const Flags& flags : {Certificate("n4", "hlod://ci/daemon/n4", "other"), Flags{}}) {
    Start(Join() + flags);
    const Cluster cluster = Await(daemons_.size() - 1, [](const Cluster& c) { return !c.problem.empty(); });
    EXPECT_FALSE(cluster.member);
    EXPECT_NE(
        cluster.problem.find("The coordinator at " + daemons_[0]->tcp_address() + " cannot be reached: "),
        std::string::npos)
        << cluster.problem;
  }
  ExpectMembers(0, {0, 1, 2});
  // A client of the authority runs a program whose parts meet.
  ConnectOptions options;
  options.tls = {
      .root_certificates = Text("ca.pem"), .certificate = Text("client.pem"), .key = Text("client.key")};
  options.address = daemons_[1]->tcp_address();
  const Client client = Must(Client::Connect(options));
  const Executable sum = Must(client.CompileText(R"(HloModule sum, replica_count=3
add { p = s32[] parameter(0) q = s32[] parameter(1) ROOT r = s32[] add(p, q) }
ENTRY e { x = s32[] parameter(0) ROOT y = s32[] all-reduce(x), replica_groups={}, to_apply=add })"));
  std::vector<Argument> arguments;
  for (const int device : {0, 1, 2})
    arguments.emplace_back(Must(client.device(device).Upload(Literal::Scalar<int32_t>(1 << device))));
  const Execution run = Must(sum.Start(arguments, {.devices = {0, 1, 2}}));
  for (const Buffer& result : run.results) EXPECT_EQ(Must(result.ToLiteral()), Literal::Scalar<int32_t>(7));
  EXPECT_OK(run.done.Await(kPatience));
}

TEST_F(ClusterWithCertificates, KeysOfHloctlServeDaemonsAndAClientOfTheEnvironment) {
  const auto make = [&](const std::string& words) {
    return RunShell(Beside("../bin/hloctl") + " cluster keys --out " + Path("keys") + " " + words + " 2>&1");
  };
  ASSERT_EQ(make("n0 n1 --cluster ci").code, 0);
  const auto flags = [&](const std::string& name) {
    return Flags{"--tls-cert",      Path("keys/" + name + ".pem"),
                 "--tls-key",       Path("keys/" + name + ".key"),
                 "--tls-client-ca", Path("keys/ca.pem")};
  };
  Start(Flags{"--cluster", "ci"} + flags("n0"));
  Start(Join() + flags("n1"));
  for (size_t i = 0; i < 2; ++i) ExpectMembers(i, {0, 1});

  // The environment names the daemon and the credentials, over TCP for both members.
  setenv("HLOD_ADDRESS", daemons_[1]->tcp_address().c_str(), 1);
  const absl::Status without = Client::Connect(ConnectOptions()).status();
  EXPECT_NE(std::string(without.message()).find("TLS"), std::string::npos) << without;
  setenv("HLOD_TLS_CA", Path("keys/ca.pem").c_str(), 1);
  setenv("HLOD_TLS_CERT", Path("keys/client.pem").c_str(), 1);
  setenv("HLOD_TLS_KEY", Path("keys/none.key").c_str(), 1);
  const absl::Status unreadable = Client::Connect(ConnectOptions()).status();
  EXPECT_NE(std::string(unreadable.message()).find("$HLOD_TLS_KEY"), std::string::npos) << unreadable;
  setenv("HLOD_TLS_KEY", Path("keys/client.key").c_str(), 1);
  // Over the unix socket of the first member the credentials serve for the second one alone.
  for (const std::string& address : {daemons_[1]->tcp_address(), daemons_[0]->address()}) {
    setenv("HLOD_ADDRESS", address.c_str(), 1);
    const Client client = Must(Client::Connect(ConnectOptions()));
    for (const int device : {0, 1}) {
      const Buffer buffer = Must(client.device(device).Upload(Literal::Scalar<int32_t>(device)));
      EXPECT_EQ(Must(buffer.ToLiteral()), Literal::Scalar<int32_t>(device)) << address;
    }
  }
  for (const char* name : {"HLOD_ADDRESS", "HLOD_TLS_CA", "HLOD_TLS_CERT", "HLOD_TLS_KEY"}) unsetenv(name);

  // The owner alone may read a key. Nothing is written over, and the authority goes on.
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder_ / "keys/ca.key").permissions(),
            perms::owner_read | perms::owner_write);
  EXPECT_EQ(make("n2 n1 --cluster ci").code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "keys/n2.pem"));
  EXPECT_EQ(make("n2 --cluster ci").code, 0);
  EXPECT_EQ(
      RunShell("openssl verify -x509_strict -CAfile " + Path("keys/ca.pem") + " " + Path("keys/n2.pem")).code,
      0);
  EXPECT_EQ(make("a,b --cluster ci").code, 2);
  EXPECT_EQ(make("n3 n3 --cluster ci").code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "keys/n3.pem"));
  std::filesystem::remove(folder_ / "keys/n1.key");
  EXPECT_EQ(make("n1 --cluster ci").code, 2);
  EXPECT_EQ(make("n3 --cluster ci --days 9000").code, 1) << "The authority ends before.";
  std::filesystem::copy_file(folder_ / "other.key", folder_ / "keys/ca.key",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(make("n3 --cluster ci").code, 1) << "The authority's key is another's.";
}

// Daemons of one user on one machine, whose addresses are names without files.
class AbstractAddress : public ClusterOfDaemons {
 protected:
  testing::Daemon& StartAt(const std::string& address, const Flags& flags) {
    testing::DaemonOptions options;
    options.flags = Flags{"--device-memory", "1MiB", "--listen", address, "--cluster", "here"} + flags;
    daemons_.push_back(std::make_unique<testing::Daemon>(Must(testing::Daemon::Start(options))));
    return *daemons_.back();
  }
  static std::string Name(const std::string& what) {
    return "unix:@hlod-test-" + std::to_string(getpid()) + "-" + what;
  }
};

TEST_F(AbstractAddress, DaemonsFormAClusterThere) {
  StartAt(Name("a"), {"--cluster-size", "3"});
  for (const char* const name : {"b", "c"}) StartAt(Name(name), {"--join", Name("a")});
  for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
  EXPECT_EQ(Describe(2).members[0].address, Name("a"));
  EXPECT_EQ(Must(Must(daemons_[1]->Administration()).TryLaunches(3)).daemons, 3);
  // The name of a daemon that has been killed is free.
  daemons_[2]->Kill(SIGKILL);
  daemons_[2]->WaitForExit(kPatience);
  ExpectMembers(0, {0, 1});
  StartAt(Name("c"), {"--join", Name("a"), "--rank", "2"});
  ExpectMembers(0, {0, 1, 2});
}

TEST_F(AbstractAddress, IsForItsUserAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "Only root can be another user.";
  StartAt(Name("a"), {});
  EXPECT_OK(Client::Connect(Name("a")).status());
  ASSERT_EQ(seteuid(65534), 0);
  const absl::Status refused = Client::Connect(Name("a")).status();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(KindOf(refused), ErrorKind::kAuth) << refused;
  EXPECT_NE(refused.message().find("is for user 0, whose daemon this is"), std::string::npos) << refused;
}

TEST_F(AbstractAddress, ThatAnotherUserHasTakenIsNotCalled) {
  if (geteuid() != 0) GTEST_SKIP() << "Only root can be another user.";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = Name("taken").substr(std::string("unix:@").size());
  name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ASSERT_EQ(seteuid(65534), 0);
  const bool listens =
      bind(listening, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listening, 4096) == 0;
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_TRUE(listens);
  StartAt(Name("a"), {"--join", Name("taken")});
  const Cluster cluster = Await(0, [](const Cluster& c) { return !c.problem.empty(); });
  EXPECT_NE(cluster.problem.find("User 65534 listens at " + Name("taken")), std::string::npos)
      << cluster.problem;
  const absl::Status distrusted = Client::Connect(Name("taken")).status();
  EXPECT_EQ(KindOf(distrusted), ErrorKind::kAuth) << distrusted;
  // Nothing was sent to it.
  const int called = accept(listening, nullptr, nullptr);
  char byte = 0;
  EXPECT_LE(recv(called, &byte, 1, MSG_DONTWAIT), 0);
  close(called);
  close(listening);
}

}  // namespace
}  // namespace hlod

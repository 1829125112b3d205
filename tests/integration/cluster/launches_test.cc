// Programs whose participants are on several daemons: all parts start, or none does.
#include <gmock/gmock.h>
#include <signal.h>

#include <thread>

#include "proto/hlod/v1/peer.pb.h"
#include "tests/integration/support/cluster.h"
#include "tests/integration/support/forever.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// s32[2] x -> x plus the participant's number.
std::string NumberedProgram(int participants) {
  return "HloModule numbered, replica_count=" + std::to_string(participants) +
         ", input_output_alias={ {}: (0, {}, may-alias) }\nENTRY e {\n x = s32[2] parameter(0)\n"
         " r = u32[] replica-id()\n s = s32[] convert(r)\n b = s32[2] broadcast(s), dimensions={}\n"
         " ROOT y = s32[2] add(x, b)\n}\n";
}

// The endless loop of kForever, for each of several participants.
std::string ForeverProgram(int participants) {
  return "HloModule forever, replica_count=" + std::to_string(participants) +
         std::string(kForever.substr(kForever.find('\n')));
}

class Launches : public ClusterOfDaemons {
 protected:
  void SetUp() override {
    ClusterOfDaemons::SetUp();
    device_memory_ = "64MiB";
  }
  void StartThreeOfTwo(const Flags& flags = {}) { StartThree({}, Flags{"--devices", "2"} + flags); }
  Client Connect(size_t rank = 0) { return Must(daemons_[rank]->Connect()); }
  static std::string Text(const absl::Status& status) { return std::string(status.message()); }
  static std::vector<Argument> Numbers(const Client& client, const std::vector<int>& devices) {
    std::vector<Argument> arguments;
    for (const int device : devices)
      arguments.emplace_back(Must(client.device(device).Upload(Literal::Vector<int32_t>({device, 100}))));
    return arguments;
  }
  static std::vector<Argument> Scalars(const Client& client, const std::vector<int>& devices) {
    std::vector<Argument> arguments;
    for (const int device : devices)
      arguments.emplace_back(Must(client.device(device).Upload(Literal::Scalar<int32_t>(device))));
    return arguments;
  }
  void ExpectNoMemoryUsed() {
    for (const auto& daemon : daemons_) {
      if (!daemon->running()) continue;
      EXPECT_TRUE(daemon->WaitForUsedBytes(0, kPatience)) << daemon->log();
    }
  }
};

TEST_F(Launches, ParticipantsRunOnTheDevicesOfAllDaemonsInTheOrderThatIsGiven) {
  StartThreeOfTwo();
  for (const size_t rank : {0u, 2u}) {
    const Client client = Connect(rank);
    for (const std::vector<int>& devices :
         {std::vector<int>{0, 1, 2, 3, 4, 5}, std::vector<int>{5, 0, 3}, std::vector<int>{2, 4}}) {
      const int count = static_cast<int>(devices.size());
      const Executable numbered = Must(client.CompileText(NumberedProgram(count)));
      const std::vector<Argument> arguments = Numbers(client, devices);
      const Execution run = Must(numbered.Start(arguments, {.devices = devices}));
      ASSERT_EQ(run.results.size(), devices.size());
      for (int m = 0; m < count; ++m) {
        EXPECT_EQ(run.results[m].device(), devices[m]);
        EXPECT_EQ(Must(run.results[m].ToLiteral()), Literal::Vector<int32_t>({devices[m] + m, 100 + m}));
      }
      EXPECT_OK(run.done.Await());
    }
  }
  ExpectNoMemoryUsed();
}

TEST_F(Launches, AChainOfLaunchesRunsInOrder) {
  StartThreeOfTwo();
  const Client client = Connect();
  const std::vector<int> devices = {0, 2, 4};
  const Executable numbered = Must(client.CompileText(NumberedProgram(3)));
  std::vector<Argument> values = Numbers(client, devices);
  for (int i = 0; i < 50; ++i) {
    ExecuteOptions options;
    options.devices = devices;
    options.donate = {0, 1, 2};
    const std::vector<Buffer> results = Must(numbered.Execute(values, options));
    values.assign(results.begin(), results.end());
  }
  for (int m = 0; m < 3; ++m) {
    EXPECT_EQ(Must(values[m].buffer()->ToLiteral()),
              Literal::Vector<int32_t>({devices[m] + 50 * m, 100 + 50 * m}));
  }
  values.clear();
  EXPECT_OK(client.Sync());
  ExpectNoMemoryUsed();
}

// A function of a collective that is called twice: the calls are laid out under one name, and the cache keeps
// programs with unique names.
TEST_F(Launches, ADaemonThatLoadsAProgramMeetsOneThatCompiledIt) {
  const std::string twice = R"(HloModule twice, replica_count=2
add { p = s32[] parameter(0) q = s32[] parameter(1) ROOT r = s32[] add(p, q) }
psum { x = s32[2] parameter(0) ROOT s = s32[2] all-reduce(x), replica_groups={{0,1}}, to_apply=add }
ENTRY e {
  x = s32[2] parameter(0)
  y = s32[2] call(x), to_apply=psum
  z = s32[2] add(y, x)
  ROOT w = s32[2] call(z), to_apply=psum
})";
  const Flags cached = {"--compile-cache", (folder_ / "cache").string(), "--devices", "2"};
  {
    const Client client = Must(Start(cached).Connect());
    EXPECT_OK(client.CompileText(twice).status());
    EXPECT_OK(client.Sync());
  }
  daemons_.clear();
  Start({"--cluster", "ci", "--cluster-size", "2"});
  Start(Join() + Flags{"--rank", "1"} + cached);
  for (const size_t i : {0, 1}) ExpectMembers(i, {0, 1});
  const Client client = Connect();
  const std::vector<int> devices = {0, 1};
  const Execution run =
      Must(Must(client.CompileText(twice)).Start(Numbers(client, devices), {.devices = devices}));
  // x is {0, 100} and {1, 100}, y {1, 200}, z {1, 300} and {2, 300}.
  for (const Buffer& result : run.results)
    EXPECT_EQ(Must(result.ToLiteral()), Literal::Vector<int32_t>({3, 600}));
  EXPECT_OK(run.done.Await(kPatience));
}

// One daemon has no memory for its part. Nothing has happened anywhere: all arguments can be read, although
// they were donated, and the error says where and why.
TEST_F(Launches, OneDaemonThatRefusesRefusesAllAndArgumentsSurvive) {
  StartThreeOfTwo();
  const Client client = Connect();
  const std::vector<int> devices = {0, 2, 5};
  const Executable grow = Must(client.CompileText(
      "HloModule grow, replica_count=3, input_output_alias={ {0}: (0, {}, may-alias) }\nENTRY e {\n"
      " x = s32[2] parameter(0)\n b = s32[4194304,2] broadcast(x), dimensions={1}\n"
      " ROOT t = (s32[2], s32[4194304,2]) tuple(x, b)\n}\n"));
  const std::vector<Argument> arguments = Numbers(client, devices);
  // The device has 64 MiB.
  std::optional<Buffer> large = Must(client.device(5).Upload(Literal(Shape::Array(hlo::kS8, {40 << 20}))));
  ExecuteOptions options;
  options.devices = devices;
  options.donate = {0, 1, 2};
  const Execution refused = Must(grow.Start(arguments, options));
  EXPECT_EQ(KindOf(refused.done.Await(kPatience)), ErrorKind::kNoMemory);
  for (size_t m = 0; m < 3; ++m) {
    const absl::Status status = refused.results[2 * m].ToLiteral().status();
    EXPECT_EQ(KindOf(status), ErrorKind::kNoMemory) << status;
    EXPECT_THAT(Text(status), HasSubstr("execute of \"grow\" failed"));
    if (m == 2) continue;
    EXPECT_THAT(Text(status), HasSubstr("(rank 2)")) << "the others learn where";
  }
  // The client's own handles count as donated, so the daemons are asked: each still has its argument.
  large.reset();
  EXPECT_OK(client.Sync());
  for (size_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(daemons_[rank]->WaitForUsedBytes(8, kPatience));
}

// The part of one daemon fails before it can be offered; the others do not wait for it.
TEST_F(Launches, AFailedArgumentRefusesAllAtOnce) {
  StartThreeOfTwo();
  const Client client = Connect();
  const std::vector<int> devices = {0, 2};
  const Executable forever = Must(client.CompileText(kForever));
  const Executable numbered = Must(client.CompileText(ForeverProgram(2)));
  std::vector<Argument> arguments = Scalars(client, devices);
  const Execution running = Must(forever.Start({arguments[1]}));
  arguments[1] = running.results[0];
  const Execution waits = Must(numbered.Start(arguments, {.devices = devices}));
  EXPECT_EQ(waits.done.Await(absl::Milliseconds(200)).code(), absl::StatusCode::kDeadlineExceeded);
  running.Cancel();
  const absl::Status first = waits.results[0].ToLiteral().status();
  EXPECT_THAT(Text(first), HasSubstr("(rank 1)"));
  EXPECT_FALSE(waits.results[1].ToLiteral().ok());
  EXPECT_EQ(Must(arguments[0].buffer()->ToLiteral()), Literal::Scalar<int32_t>(0));
}

TEST_F(Launches, ACancelEndsAllParts) {
  StartThreeOfTwo();
  const Client client = Connect();
  const std::vector<int> devices = {0, 1, 3, 4};
  const Executable forever = Must(client.CompileText(ForeverProgram(4)));
  for (int i = 0; i < 10; ++i) {  // At different moments: while it is offered, prepared, or runs.
    const std::vector<Argument> arguments = Scalars(client, devices);
    const Execution running = Must(forever.Start(arguments, {.devices = devices}));
    EXPECT_FALSE(i >= 5 && running.done.Await(absl::Milliseconds(30 * (i - 4))).ok());
    running.Cancel();
    EXPECT_EQ(KindOf(running.done.Await(kPatience)), ErrorKind::kCancelled);
    for (const Buffer& result : running.results) EXPECT_FALSE(result.ToLiteral().ok());
  }
  EXPECT_OK(client.Sync());
  ExpectNoMemoryUsed();
}

// The daemon of such a part offers it only when its arguments are there.
TEST_F(Launches, ACancelEndsAPartThatWaitsForItsArguments) {
  StartThreeOfTwo();
  const Client client = Connect();
  const std::vector<int> devices = {0, 2, 4};
  const Executable forever = Must(client.CompileText(kForever));
  const Executable numbered = Must(client.CompileText(NumberedProgram(3)));
  for (const size_t waiting : {0u, 1u, 2u}) {
    std::vector<Argument> arguments = Numbers(client, devices);
    const Argument own = Must(client.device(devices[waiting]).Upload(Literal::Scalar<int32_t>(0)));
    const Execution endless = Must(forever.Start({{own}}, {.device = devices[waiting]}));
    const Executable widen = Must(client.CompileText(
        "HloModule widen\nENTRY e {\n x = s32[] parameter(0)\n ROOT y = s32[2] broadcast(x), dimensions={}\n}\n"));
    arguments[waiting] = Must(widen.Execute({endless.results[0]}))[0];
    const Execution run = Must(numbered.Start(arguments, {.devices = devices}));
    EXPECT_FALSE(run.done.Await(absl::Milliseconds(50)).ok());
    run.Cancel();
    EXPECT_EQ(KindOf(run.done.Await(kPatience)), ErrorKind::kCancelled);
    for (const Buffer& result : run.results)
      EXPECT_EQ(KindOf(result.ToLiteral().status()), ErrorKind::kCancelled);
    EXPECT_FALSE(endless.done.Ready());
    endless.Cancel();
    EXPECT_EQ(KindOf(endless.done.Await(kPatience)), ErrorKind::kCancelled);
  }
  EXPECT_OK(client.Sync());
  ExpectNoMemoryUsed();
}

TEST_F(Launches, TheDeadlineOfALaunchEndsAllParts) {
  StartThreeOfTwo();
  const Client client = Connect();
  const std::vector<int> devices = {1, 2, 4};
  const Executable forever = Must(client.CompileText(ForeverProgram(3)));
  const Execution running = Must(
      forever.Start(Scalars(client, devices), {.deadline = absl::Milliseconds(200), .devices = devices}));
  for (const Buffer& result : running.results)
    EXPECT_EQ(KindOf(result.ToLiteral().status()), ErrorKind::kDeadline);
}

// A killed process is noticed at once, a stopped one after peer_silence_us.
TEST_F(Launches, SignalsEndTheLaunchAndNothingElse) {
  StartThreeOfTwo({"--peer-silence-us", "2000000"});
  const Client client = Connect();
  const std::vector<int> devices = {0, 2, 4};
  const Executable forever = Must(client.CompileText(ForeverProgram(3)));
  const Executable numbered = Must(client.CompileText(NumberedProgram(2)));
  for (const int signal : {SIGKILL, SIGSTOP}) {
    const Execution running = Must(forever.Start(Scalars(client, devices), {.devices = devices}));
    EXPECT_EQ(running.done.Await(absl::Milliseconds(300)).code(), absl::StatusCode::kDeadlineExceeded);
    daemons_[2]->Kill(signal);
    for (const size_t kept : {0u, 1u}) {
      const absl::Status status = running.results[kept].ToLiteral().status();
      EXPECT_EQ(KindOf(status), ErrorKind::kLostDaemon) << status << daemons_[kept]->log();
      EXPECT_THAT(Text(status), AllOf(HasSubstr("(rank 2)"), HasSubstr("is gone")));
    }
    EXPECT_EQ(KindOf(running.results[2].ToLiteral().status()), ErrorKind::kLostDaemon);
    // The other two go on, on the same devices.
    const std::vector<Buffer> results = Must(numbered.Execute(Numbers(client, {0, 2}), {.devices = {0, 2}}));
    EXPECT_EQ(Must(results[1].ToLiteral()), Literal::Vector<int32_t>({3, 101}));
    if (signal == SIGKILL) {
      daemons_[2]->WaitForExit(kPatience);
      ASSERT_OK(daemons_[2]->Restart());
      for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
      const absl::Time end = absl::Now() + kPatience;
      while (!client.device(4).Upload(Counting(1)).ok() && absl::Now() < end) {
      }
    } else {
      daemons_[2]->Kill(SIGCONT);
    }
  }
}

// Two clients, whose launches want the same devices in different orders.
TEST_F(Launches, OverlappingSetsOfDevicesDoNotBlockEachOther) {
  StartThreeOfTwo();
  const auto work = [this](size_t rank, const std::vector<std::vector<int>>& sets) {
    const Client client = Connect(rank);
    const absl::Time end = absl::Now() + absl::Seconds(4);
    int launches = 0;
    const Executable numbered = Must(client.CompileText(NumberedProgram(3)));
    for (; absl::Now() < end; ++launches) {
      const std::vector<int>& devices = sets[static_cast<size_t>(launches) % sets.size()];
      const std::vector<Buffer> results =
          Must(numbered.Execute(Numbers(client, devices), {.devices = devices}));
      for (int m = 0; m < 3; ++m) {
        ASSERT_EQ(Must(results[m].ToLiteral()), Literal::Vector<int32_t>({devices[m] + m, 100 + m}));
      }
    }
    EXPECT_GT(launches, 3);
  };
  {
    std::jthread first(work, 0, std::vector<std::vector<int>>{{0, 2, 4}, {4, 1, 2}, {5, 3, 0}});
    std::jthread second(work, 1, std::vector<std::vector<int>>{{2, 0, 4}, {3, 5, 1}, {0, 2, 5}});
    std::jthread third(work, 2, std::vector<std::vector<int>>{{0, 3, 4}, {1, 2, 5}});
  }
  ExpectNoMemoryUsed();
}

v1::Hello HelloWith(const std::string& pass) {
  v1::Hello hello = RawSession::GoodHello();
  hello.set_pass(pass);
  return hello;
}

std::string PassFor(const RawSession& session, uint32_t rank) {
  for (const v1::ClusterDaemon& daemon : session.welcome().cluster().daemons()) {
    if (daemon.rank() == rank) return daemon.pass();
  }
  return "";
}

// A session of one daemon, with a program and an argument, which sends parts of launches. `pass` is that of
// another session of the same client.
struct RawPart {
  RawPart(const testing::Daemon& daemon, const std::string& program, const std::string& pass = "")
      : session(daemon.address(), HelloWith(pass)), group(session.welcome().cluster().group()) {
    executable = session.NewHandle();
    EXPECT_OK(session.Call(CompileOf(executable, program)));
    argument = session.NewHandle();
    EXPECT_OK(session.Call(UploadOf(argument, Literal::Vector<int32_t>({1, 2}))));
  }
  // Returns an execute on device `own`, donating its argument.
  v1::Command Part(uint64_t sequence, const std::vector<uint32_t>& ranks,
                   const std::vector<uint32_t>& devices, uint32_t own) {
    v1::Command command = ExecuteOf(executable, {argument}, {session.NewHandle()});
    v1::Execute& execute = *command.mutable_execute();
    execute.set_device(own);
    execute.add_donated(0);
    execute.mutable_launch()->set_group(group);
    execute.mutable_launch()->set_sequence(sequence);
    execute.mutable_launch()->mutable_ranks()->Assign(ranks.begin(), ranks.end());
    execute.mutable_launch()->mutable_devices()->Assign(devices.begin(), devices.end());
    return command;
  }
  std::string Answer(uint64_t command) {
    const std::optional<v1::Reply> reply = session.Await(command);
    return reply.has_value() && reply->has_error() ? reply->error().text() : "no error";
  }
  // True if the argument was not consumed.
  bool HasArgument() { return session.Call(DownloadOf(argument)).ok(); }
  // Returns the pass for the daemon of a rank; empty if there is none.
  std::string Pass(uint32_t rank) const { return PassFor(session, rank); }

  RawSession session;
  uint64_t group = 0;
  uint64_t executable = 0, argument = 0;
};

// The daemons compare what they are to run before anything starts.
TEST_F(Launches, OtherProgramsOrDevicesAreRefusedBeforeAnythingStarts) {
  StartThreeOfTwo();
  std::string twice = NumberedProgram(2);
  twice.replace(twice.find("add(x, b)"), 9, "add(b, x)");
  RawPart first(*daemons_[0], NumberedProgram(2)), second(*daemons_[1], NumberedProgram(2), first.Pass(1)),
      other(*daemons_[1], twice, first.Pass(1));
  const uint64_t a = first.session.Send(first.Part(1, {0, 1}, {0, 0}, 0));
  const uint64_t b = second.session.Send(second.Part(1, {0, 1}, {1, 0}, 0));
  EXPECT_THAT(first.Answer(a),
              AllOf(HasSubstr("Launch 1 of the group differs"), HasSubstr("on other devices")));
  EXPECT_THAT(second.Answer(b), HasSubstr("Nothing has started"));
  const uint64_t h = first.session.Send(first.Part(2, {0, 1}, {0, 0}, 0));
  const uint64_t i = other.session.Send(other.Part(2, {0, 1}, {0, 0}, 0));
  EXPECT_THAT(first.Answer(h), AllOf(HasSubstr("differs"), HasSubstr("program"), HasSubstr("(rank 1)")));
  EXPECT_THAT(other.Answer(i), HasSubstr("Nothing has started"));
  // An execute that does not fit its launch.
  const uint64_t c = first.session.Send(first.Part(3, {0, 1}, {0, 1}, 1));
  EXPECT_THAT(first.Answer(c), HasSubstr("participant 0 on device 0 of this daemon (rank 0)"));
  const uint64_t d = first.session.Send(first.Part(4, {0, 7}, {0, 1}, 0));
  EXPECT_THAT(first.Answer(d), HasSubstr("has no member with rank 7"));
  const uint64_t e = first.session.Send(first.Part(5, {0, 1, 2}, {0, 1, 0}, 0));
  EXPECT_THAT(first.Answer(e), HasSubstr("needs 2 devices"));
  EXPECT_TRUE(first.HasArgument());
  EXPECT_TRUE(second.HasArgument());
  // The links between the daemons are as before.
  for (size_t rank = 0; rank < 3; ++rank) ExpectMembers(rank, {0, 1, 2});
  const uint64_t f = first.session.Send(first.Part(6, {0, 1}, {0, 0}, 0));
  const uint64_t g = second.session.Send(second.Part(6, {0, 1}, {0, 0}, 0));
  EXPECT_EQ(first.Answer(f), "no error");
  EXPECT_EQ(second.Answer(g), "no error");
}

// A session that guesses the group of another one can neither take part in its launches nor end them.
TEST_F(Launches, APartOfAnotherSessionsLaunchIsRefused) {
  StartThreeOfTwo();
  RawPart first(*daemons_[0], NumberedProgram(2)), stranger(*daemons_[1], NumberedProgram(2)),
      near(*daemons_[0], NumberedProgram(2));
  EXPECT_NE(first.group, stranger.group);
  EXPECT_NE(first.group, near.group);
  const uint64_t a = first.session.Send(first.Part(1, {0, 1}, {0, 0}, 0));
  for (RawPart* const part : {&stranger, &near}) {
    part->group = first.group;
    const uint32_t rank = part == &stranger ? 1 : 0;
    const std::string sentence = "it is a part of another session's launch";
    EXPECT_THAT(part->Answer(part->session.Send(part->Part(1, {0, 1}, {0, 0}, 0))), HasSubstr(sentence));
    // One that could not run anyway: its refusal must not refuse the others.
    EXPECT_THAT(part->Answer(part->session.Send(part->Part(1, {rank, 7}, {0, 0}, 0))), HasSubstr(sentence));
    EXPECT_TRUE(part->HasArgument());
  }
  // The launch goes on with the client's own session.
  RawPart second(*daemons_[1], NumberedProgram(2), first.Pass(1));
  EXPECT_EQ(second.group, first.group);
  EXPECT_NE(first.Pass(1), "");
  EXPECT_EQ(second.Pass(0), "") << "a pass does not give a further one";
  EXPECT_EQ(second.Pass(2), "");
  const uint64_t b = second.session.Send(second.Part(1, {0, 1}, {0, 0}, 0));
  EXPECT_EQ(first.Answer(a), "no error");
  EXPECT_EQ(second.Answer(b), "no error");
}

TEST_F(Launches, APassThatNoMemberGaveOpensNoSession) {
  StartThreeOfTwo();
  const RawSession first(daemons_[0]->address());
  v1::SessionPass pass;
  ASSERT_TRUE(pass.ParseFromString(PassFor(first, 1)));
  const auto refusal = [this](const std::string& bytes, size_t rank = 1) {
    RawSession session(daemons_[rank]->address(), HelloWith(bytes));
    return std::string(session.Finish().message());
  };
  v1::SessionPass other = pass;
  other.set_client(pass.client() + 1);
  EXPECT_THAT(refusal(other.SerializeAsString()), HasSubstr("was not given by the daemon that it names"));
  other = pass;
  other.set_user("root");
  EXPECT_THAT(refusal(other.SerializeAsString()), HasSubstr("was not given by the daemon that it names"));
  other = pass;
  other.mutable_signature()->back() ^= 1;
  EXPECT_THAT(refusal(other.SerializeAsString()), HasSubstr("was not given by the daemon that it names"));
  other = pass;
  other.set_incarnation(pass.incarnation() + 1);
  EXPECT_THAT(refusal(other.SerializeAsString()), HasSubstr("is not a member of the cluster now"));
  EXPECT_THAT(refusal("nonsense"), HasSubstr("is not a pass"));
  // A daemon to which a pass is shown cannot use it at the others.
  EXPECT_THAT(refusal(pass.SerializeAsString(), 2), HasSubstr("(rank 1)"));
  EXPECT_THAT(refusal(pass.SerializeAsString(), 0), HasSubstr("(rank 1)"));
  other = pass;
  other.set_for_rank(2);
  EXPECT_THAT(refusal(other.SerializeAsString(), 2), HasSubstr("was not given by the daemon that it names"));
  other = pass;
  other.set_cluster("other");
  EXPECT_THAT(refusal(other.SerializeAsString()), HasSubstr("was not given by the daemon that it names"));
  EXPECT_EQ(
      RawSession(daemons_[1]->address(), HelloWith(pass.SerializeAsString())).welcome().cluster().group(),
      first.welcome().cluster().group());
}

// A client that sends one daemon the parts of launches whose other parts never come takes no other client's
// room.
TEST_F(Launches, HalfOfManyLaunchesLeavesRoomForOthers) {
  constexpr uint64_t kLimit = 1024;  // Limits::offers_per_client_max of the group machine.
  StartThreeOfTwo();
  RawPart greedy(*daemons_[0], NumberedProgram(2));
  const auto part = [&](RawPart& from, uint64_t sequence) {
    v1::Command command = from.Part(sequence, {0, 1}, {0, 0}, 0);
    command.mutable_execute()->clear_donated();
    return from.session.Send(command);
  };
  for (uint64_t sequence = 1; sequence <= kLimit; ++sequence) part(greedy, sequence);
  const std::string sentence = "the limit is 1024. Launch 1025 is refused";
  EXPECT_THAT(greedy.Answer(part(greedy, kLimit + 1)), HasSubstr(sentence));
  RawPart second(*daemons_[1], NumberedProgram(2), greedy.Pass(1));
  EXPECT_THAT(second.Answer(part(second, kLimit + 1)), HasSubstr(sentence)) << "with the same reason";
  const Client client = Connect();
  const Executable numbered = Must(client.CompileText(NumberedProgram(2)));
  EXPECT_OK(Must(numbered.Start(Numbers(client, {0, 2}), {.devices = {0, 2}})).done.Await(kPatience));
  // The end of the session gives all of them back.
  v1::Command goodbye;
  goodbye.mutable_goodbye();
  greedy.session.Send(goodbye);
  EXPECT_OK(greedy.session.Finish());
  RawPart third(*daemons_[1], NumberedProgram(2), greedy.Pass(1));
  EXPECT_THAT(third.Answer(part(third, 1)), HasSubstr("The session has ended"));
}

// The launch of an execute that was cancelled must not begin a later one of the same number, whose program is
// being compiled.
TEST_F(Launches, ANumberIsNotGivenTwiceWhileTheFirstLaunchIsPrepared) {
  StartThreeOfTwo();
  const int rounds = 20;
  RawPart first(*daemons_[0], NumberedProgram(2)), second(*daemons_[1], NumberedProgram(2), first.Pass(1));
  for (int round = 0; round < rounds; ++round) {
    const auto sequence = static_cast<uint64_t>(round) + 1;
    const auto part = [&](RawPart& from) {
      v1::Command command = from.Part(sequence, {0, 1}, {0, 0}, 0);
      command.mutable_execute()->clear_donated();
      return command;
    };
    const uint64_t cancelled = second.session.Send(part(second));
    first.session.Send(part(first));
    v1::ClientMessage cancel;
    cancel.mutable_cancel()->set_command(cancelled);
    second.session.SendMessage(cancel);
    // A program that takes a while to compile, and is another one each time.
    std::string slow = "HloModule slow" + std::to_string(round) +
                       ", replica_count=2\nENTRY e {\n x0 = s32[2] parameter(0)\n";
    for (int i = 1; i < 3000; ++i) {
      slow += " x" + std::to_string(i) + " = s32[2] " + (i % 2 == 0 ? "add" : "multiply") + "(x" +
              std::to_string(i - 1) + ", x" + std::to_string(i / 2) + ")\n";
    }
    slow += " ROOT y = s32[2] add(x2999, x1)\n}\n";
    const uint64_t compiled = second.executable, late = second.session.NewHandle();
    second.session.Send(CompileOf(late, slow));
    second.executable = late;
    const uint64_t again = second.session.Send(part(second));
    second.executable = compiled;
    const std::string last = std::to_string(sequence);
    EXPECT_THAT(second.Answer(again),
                HasSubstr("Launch " + last + " of the group comes after launch " + last));
  }
  // The launch goes on, and so do the daemons.
  for (size_t rank = 0; rank < 3; ++rank) ExpectMembers(rank, {0, 1, 2});
}

// Errors name the program's instructions, and names may have any length.
TEST_F(Launches, ALongNameInAnErrorLeavesTheLinksAsTheyWere) {
  StartThreeOfTwo();
  const Client client = Connect();
  // Participant 0 leaves before the sum of participant 2, which is the only one of its group that comes.
  const std::string name(1'100'000, 'n');
  const Executable waits = Must(client.CompileText(
      "HloModule waits, replica_count=3\n"
      "add { p = s32[] parameter(0)\n q = s32[] parameter(1)\n ROOT r = s32[] add(p, q) }\n"
      "none { ROOT x = s32[2] parameter(0) }\n"
      "sum { x = s32[2] parameter(0)\n ROOT " +
      name +
      " = s32[2] all-reduce(x), replica_groups={{0,1,2}}, to_apply=add }\n"
      "ENTRY e {\n x = s32[2] parameter(0)\n r = u32[] replica-id()\n one = u32[] constant(1)\n"
      " here = pred[] compare(r, one), direction=GE\n"
      " ROOT y = s32[2] conditional(here, x, x), true_computation=sum, false_computation=none\n}\n"));
  // Participants 0 and 1 are of rank 2, which tells the leader, rank 1, that its part has failed. The
  // coordinator, rank 0, would drop a member whose link ends, and the member would begin anew.
  const std::vector<int> devices = {4, 5, 2};
  const Execution run = Must(waits.Start(Numbers(client, devices), {.devices = devices}));
  EXPECT_THAT(Text(run.done.Await(kPatience)), HasSubstr("all-reduce (nnn"));
  for (size_t rank = 0; rank < 3; ++rank) ExpectMembers(rank, {0, 1, 2});
  const Executable numbered = Must(client.CompileText(NumberedProgram(2)));
  EXPECT_OK(Must(numbered.Start(Numbers(client, {2, 4}), {.devices = {2, 4}})).done.Await(kPatience));
}

// A client that has used much waits behind one that has used little, although it has more launches in flight.
TEST_F(Launches, LongLaunchesOfOneClientDoNotKeepThoseOfAnotherOut) {
  StartThreeOfTwo();
  const Client modest = Connect(1), greedy = Connect(0);
  const std::vector<int> of_modest = {2, 0}, of_greedy = {0, 2};  // Device 0 of ranks 0 and 1.
  const Executable numbered = Must(modest.CompileText(NumberedProgram(2)));
  const auto run = [&] {
    return Must(numbered.Start(Numbers(modest, of_modest), {.devices = of_modest})).done.Await(kPatience);
  };
  for (int i = 0; i < 10; ++i) EXPECT_OK(run());
  const Executable forever = Must(greedy.CompileText(ForeverProgram(2)));
  std::vector<Execution> launches;
  for (int i = 0; i < 6; ++i) {
    launches.push_back(Must(
        forever.Start(Scalars(greedy, of_greedy), {.deadline = absl::Seconds(2), .devices = of_greedy})));
  }
  EXPECT_EQ(KindOf(launches[0].done.Await(kPatience)), ErrorKind::kDeadline);
  EXPECT_OK(run());
  EXPECT_FALSE(launches[4].done.Ready()) << "one may have been running, and another have been ready";
  for (const Execution& launch : launches) launch.Cancel();
  for (const Execution& launch : launches) EXPECT_FALSE(launch.done.Await(kPatience).ok());
}

TEST_F(Launches, WhatDoesNotRunOverSeveralDaemonsIsRefusedWithASentence) {
  StartThreeOfTwo();
  const Client client = Connect();
  const Executable numbered = Must(client.CompileText(NumberedProgram(2)));
  const Buffer promised = Must(client.device(2).Placeholder(Shape::Array(hlo::kS32, {2})));
  std::vector<Argument> arguments = Numbers(client, {0, 2});
  arguments[1] = promised;
  EXPECT_THAT(Text(numbered.Execute(arguments, {.abstract = true, .devices = {0, 2}}).status()),
              HasSubstr("over placeholders it must run on devices of one daemon"));
  const Executable fed = Must(client.CompileText(
      "HloModule fed, replica_count=2\nENTRY e {\n t = token[] after-all()\n"
      " i = (s32[2], token[]) infeed(t)\n ROOT x = s32[2] get-tuple-element(i), index=0\n}\n"));
  const std::vector<Buffer> results = Must(fed.Execute({}, {.devices = {0, 2}}));
  for (const Buffer& result : results) {
    EXPECT_EQ(KindOf(result.ToLiteral().status()), ErrorKind::kUnimplemented);
    EXPECT_THAT(Text(result.ToLiteral().status()),
                HasSubstr("its participants must be on devices of one daemon"));
  }
}

}  // namespace
}  // namespace hlod

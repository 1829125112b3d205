// Processes, one per daemon, that run programs together. Threads play the processes here, each with its own
// client; tests/python/jax/distributed_test.py has real ones.
#include <gmock/gmock.h>

#include <signal.h>

#include <atomic>
#include <latch>
#include <thread>

#include "hlod/runtime/group.h"
#include "tests/integration/support/cluster.h"
#include "tests/integration/support/relay.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// s32[2] x -> the sum, or another fold, over all participants.
std::string SumProgram(int participants, const std::string& fold = "add") {
  return "HloModule sum, replica_count=" + std::to_string(participants) +
         "\nadd { p = s32[] parameter(0) q = s32[] parameter(1) ROOT r = s32[] " + fold +
         "(p, q) }\n"
         "ENTRY e { x = s32[2] parameter(0) ROOT s = s32[2] all-reduce(x), replica_groups={}, to_apply=add }\n";
}

class Groups : public ClusterOfDaemons {
 protected:
  void SetUp() override {
    ClusterOfDaemons::SetUp();
    device_memory_ = "64MiB";
  }
  // Runs `body` as each of `processes` processes, with the client of process i on daemon i.
  void Run(int processes, const std::function<void(const Client&, int process)>& body) {
    Run(processes, /*of_process_1=*/"", body);
  }
  // Process 1 has another address of its daemon.
  void Run(int processes, const std::string& of_process_1,
           const std::function<void(const Client&, int process)>& body) {
    ++groups_;
    std::vector<std::thread> threads;
    for (int process = 0; process < processes; ++process) {
      threads.emplace_back([this, processes, process, of_process_1, &body] {
        const absl::StatusOr<Client> client =
            Join(process, processes, absl::Seconds(30), process == 1 ? of_process_1 : "");
        ASSERT_TRUE(client.ok()) << client.status();
        body(*client, process);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  absl::StatusOr<Client> Join(int process, int processes, absl::Duration timeout = absl::Seconds(30),
                              std::string address = "") {
    if (address.empty()) address = daemons_[static_cast<size_t>(process)]->address();
    FolderStore store(folder_.string());
    return JoinGroup(store, {.process = process,
                             .processes = processes,
                             .name = "group " + std::to_string(groups_),
                             .timeout = timeout,
                             .connect = {.address = address}});
  }
  static Argument Pair(const Client& client, int device) {
    return Must(client.device(device).Upload(Literal::Vector<int32_t>({device, 100})));
  }

  int groups_ = 0;
};

TEST_F(Groups, EachProcessRunsItsParticipants) {
  StartThree({}, {"--devices", "2"});
  Run(3, [](const Client& client, int process) {
    EXPECT_EQ(client.device_count(), 6);
    const GroupPlace place = PlaceInGroup(client);
    EXPECT_EQ(place.process, process);
    EXPECT_EQ(place.processes, 3);
    EXPECT_EQ(place.first_device, 2 * process);
    EXPECT_EQ(place.devices, 2);
    EXPECT_EQ(ProcessOf(client, 3), 1);
    const int a = place.first_device, b = a + 1;
    const Executable sum = Must(client.CompileText(SumProgram(6)));
    for (int i = 0; i < 20; ++i) {
      const std::vector<std::vector<Argument>> arguments = {{Pair(client, a)}, {Pair(client, b)}};
      const std::vector<std::vector<Buffer>> results = Must(sum.ExecuteParticipants(arguments));
      ASSERT_EQ(results.size(), 2u);
      for (const std::vector<Buffer>& of_one : results)
        EXPECT_EQ(Must(of_one[0].ToLiteral()), Literal::Vector<int32_t>({0 + 1 + 2 + 3 + 4 + 5, 600}));
    }
    // A program of this process alone.
    const Executable own = Must(client.CompileText(SumProgram(2)));
    const std::vector<Buffer> pair =
        Must(own.Execute({Pair(client, a), Pair(client, b)}, {.devices = {a, b}}));
    EXPECT_EQ(Must(pair[1].ToLiteral()), Literal::Vector<int32_t>({a + b, 200}));
  });
}

TEST_F(Groups, ProcessesThatHaveNoPartInALaunchDoNotCountIt) {
  StartThree();
  Run(3, [](const Client& client, int process) {
    const Executable pair = Must(client.CompileText(SumProgram(2))),
                     all = Must(client.CompileText(SumProgram(3)));
    for (int i = 0; i < 5; ++i) {
      for (const std::vector<int>& devices : {std::vector<int>{0, 1}, {0, 1, 2}, {2, 1}, {0, 2}}) {
        if (std::ranges::count(devices, process) == 0) continue;
        const Executable& program = devices.size() == 3 ? all : pair;
        const int sum = devices.size() == 3 ? 3 : devices[0] + devices[1];
        const std::vector<Buffer> result =
            Must(program.Execute({Pair(client, process)}, {.devices = devices}));
        EXPECT_EQ(Must(result[0].ToLiteral()),
                  Literal::Vector<int32_t>({sum, 100 * static_cast<int>(devices.size())}));
      }
    }
  });
}

TEST_F(Groups, DifferentProgramsAreRefusedAndTheProcessesGoOn) {
  StartThree();
  Run(3, [](const Client& client, int process) {
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    const Executable other = Must(client.CompileText(SumProgram(3, process == 2 ? "maximum" : "add")));
    const std::vector<Buffer> results = Must(other.Execute({Pair(client, process)}));
    EXPECT_THAT(std::string(results[0].ToLiteral().status().message()),
                AllOf(HasSubstr("rank 0"), HasSubstr("rank 2"), HasSubstr("program")));
    const std::vector<Buffer> after = Must(sum.Execute({Pair(client, process)}));
    EXPECT_EQ(Must(after[0].ToLiteral()), Literal::Vector<int32_t>({3, 300}));
  });
}

TEST_F(Groups, WrongArgumentsInOneProcessFailTheLaunchInAllAndTheNextOneMeets) {
  StartThree();
  Run(3, [](const Client& client, int process) {
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    std::vector<Argument> arguments = {Pair(client, process)};
    if (process == 1) arguments = {Must(client.device(1).Upload(Literal::Vector<int32_t>({1, 2, 3})))};
    const absl::StatusOr<std::vector<Buffer>> results = sum.Execute(arguments);
    EXPECT_EQ(results.ok(), process != 1);
    if (process == 1) {
      EXPECT_THAT(std::string(results.status().message()), HasSubstr("the program takes s32[2]"));
    } else {
      EXPECT_THAT(std::string((*results)[0].ToLiteral().status().message()),
                  AllOf(HasSubstr("rank 1"), HasSubstr("The process does not run its part of the launch: "),
                        HasSubstr("the program takes s32[2]")));
    }
    const std::vector<Buffer> after = Must(sum.Execute({Pair(client, process)}));
    EXPECT_EQ(Must(after[0].ToLiteral()), Literal::Vector<int32_t>({3, 300}));
  });
}

TEST_F(Groups, AProgramWithoutArgumentsThatOneProcessCallsWronglyFailsInAll) {
  StartThree();
  Run(3, [](const Client& client, int process) {
    const Executable count = Must(client.CompileText(
        "HloModule count, replica_count=3\n"
        "add { p = u32[] parameter(0) q = u32[] parameter(1) ROOT r = u32[] add(p, q) }\n"
        "ENTRY e { x = u32[] replica-id() ROOT s = u32[] all-reduce(x), replica_groups={}, to_apply=add }\n"));
    std::vector<Argument> arguments;
    if (process == 1) arguments.push_back(Pair(client, process));
    const absl::StatusOr<std::vector<Buffer>> results = count.Execute(arguments);
    EXPECT_EQ(results.ok(), process != 1) << results.status();
    if (process != 1) {
      EXPECT_THAT(std::string((*results)[0].ToLiteral().status().message()),
                  AllOf(HasSubstr("rank 1"), HasSubstr("takes 0 arguments; 1 were given")));
    }
    const std::vector<Buffer> after = Must(count.Execute({}));
    EXPECT_EQ(Must(after[0].ToLiteral()), Literal::Scalar<uint32_t>(3));
  });
}

TEST_F(Groups, AnArgumentThatHasFailedInOneProcessFailsTheLaunchInAllAndTheNextOneMeets) {
  StartThree();
  Run(3, [](const Client& client, int process) {
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    Argument argument = Pair(client, process);
    if (process == 1) {
      // The results do not fit into the device (64 MiB).
      const Executable large = Must(client.CompileText(
          "HloModule large\nENTRY e { c = s32[] constant(1) a = s32[2] broadcast(c), dimensions={} "
          "b = s32[33554432] broadcast(c), dimensions={} ROOT t = (s32[2], s32[33554432]) tuple(a, b) }\n"));
      argument = Must(large.Execute({}, {.device = 1}))[0];
    }
    const std::vector<Buffer> results = Must(sum.Execute({argument}));
    const std::string why(results[0].ToLiteral().status().message());
    EXPECT_THAT(why, HasSubstr(process == 1 ? "large" : "rank 1"));
    const std::vector<Buffer> after = Must(sum.Execute({Pair(client, process)}));
    EXPECT_EQ(Must(after[0].ToLiteral()), Literal::Vector<int32_t>({3, 300}));
  });
}

TEST_F(Groups, AProcessThatIsFarAheadWaits) {
  StartThree();
  constexpr int kLaunches = 600, kAhead = 512;
  std::atomic<int> launched = 0;
  Run(2, [&](const Client& client, int process) {
    const Executable sum = Must(client.CompileText(SumProgram(2)));
    const Argument pair = Pair(client, process);
    if (process == 1) {
      for (int n = 0; (n = launched) < kAhead;) launched.wait(n);
      for (int i = 0; i < 200; ++i) Must(client.Ping());  // Meanwhile some of the other 88 would begin.
      EXPECT_LE(launched, kAhead + 1);
    }
    for (int i = 0; i < kLaunches; ++i) {
      const std::vector<Buffer> results = Must(sum.Execute({pair}));
      if (process == 0) ++launched;
      launched.notify_all();
      if (i + 1 == kLaunches) {
        EXPECT_EQ(Must(results[0].ToLiteral()), Literal::Vector<int32_t>({1, 200}));
      }
    }
  });
}

TEST_F(Groups, AConnectionThatBreaksIsResumedAndTheProcessesGoOn) {
  StartThree({}, {"--group-return-us", "600000000"});
  Relay relay(daemons_[1]->address());
  Run(3, relay.address(), [&](const Client& client, int process) {
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    const Argument pair = Pair(client, process);
    for (int i = 0; i < 20; ++i) {
      const std::vector<Buffer> results = Must(sum.Execute({pair}));
      if (process == 1 && i % 4 == 0) relay.Break();
      EXPECT_EQ(Must(results[0].ToLiteral()), Literal::Vector<int32_t>({3, 300}));
    }
  });
}

// The other processes do not wait for grace_us.
TEST_F(Groups, AConnectionThatBreaksForGoodFailsWhatWaitsForItsProcess) {
  StartThree({}, {"--grace-us", "3600000000"});
  auto relay = std::make_unique<Relay>(daemons_[1]->address());
  Run(3, relay->address(), [&](const Client& client, int process) {
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    const std::vector<Buffer> first = Must(sum.Execute({Pair(client, process)}));
    EXPECT_EQ(Must(first[0].ToLiteral()), Literal::Vector<int32_t>({3, 300}));
    if (process == 1) {
      relay.reset();
      return;
    }
    const std::vector<Buffer> results = Must(sum.Execute({Pair(client, process)}));
    const absl::Status lost = results[0].ToLiteral().status();
    EXPECT_EQ(KindOf(lost), ErrorKind::kLostDaemon);
    EXPECT_THAT(std::string(lost.message()), HasSubstr("(rank 1) has ended, or has lost its session"));
    // The two that are left go on.
    const Executable pair = Must(client.CompileText(SumProgram(2)));
    const std::vector<Buffer> after = Must(pair.Execute({Pair(client, process)}, {.devices = {0, 2}}));
    EXPECT_EQ(Must(after[0].ToLiteral()), Literal::Vector<int32_t>({2, 200}));
  });
}

TEST_F(Groups, AConnectionThatBreaksBeforeTheFirstLaunchFailsIt) {
  StartThree({}, {"--grace-us", "3600000000"});
  auto relay = std::make_unique<Relay>(daemons_[1]->address());
  Run(3, relay->address(), [&](const Client& client, int process) {
    if (process == 1) {
      relay.reset();
      return;
    }
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    const std::vector<Buffer> results = Must(sum.Execute({Pair(client, process)}));
    const absl::Status lost = results[0].ToLiteral().status();
    EXPECT_EQ(KindOf(lost), ErrorKind::kLostDaemon);
    EXPECT_THAT(std::string(lost.message()), HasSubstr("(rank 1) has ended, or has lost its session"));
  });
}

// Nobody waits for it, so its connection may break for longer.
TEST_F(Groups, AClientWithoutOtherProcessesIsKeptForGraceUs) {
  StartThree({}, {"--grace-us", "3600000000"});
  for (const bool group : {false, true}) {
    const testing::Daemon& daemon = *daemons_[group ? 1 : 0];
    auto relay = std::make_unique<Relay>(daemon.address());
    const Client client = Must(group ? Join(0, 1, absl::Seconds(30), relay->address())
                                     : Client::Connect({.address = relay->address()}));
    relay.reset();
    const absl::Time end = absl::Now() + kPatience;
    std::string log;
    while (log.find("lost its connection") == log.npos && absl::Now() < end) log = daemon.log();
    EXPECT_THAT(log, HasSubstr("lost its connection; it is kept for 1h"));
    EXPECT_THAT(log, Not(HasSubstr("kept for 800ms")));
  }
}

TEST_F(Groups, ADaemonThatIsStartedAgainIsOfTheNextGroup) {
  StartThree();
  std::latch read(2);
  Run(3, [&](const Client& client, int process) {
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    const std::vector<Buffer> first = Must(sum.Execute({Pair(client, process)}));
    EXPECT_EQ(Must(first[0].ToLiteral()), Literal::Vector<int32_t>({3, 300}));
    if (process == 2) {
      read.wait();  // The daemon may still be sending to the others when its own part is done.
      daemons_[2]->Kill(SIGKILL);
      return;
    }
    read.count_down();
    const std::vector<Buffer> results = Must(sum.Execute({Pair(client, process)}));
    EXPECT_EQ(KindOf(results[0].ToLiteral().status()), ErrorKind::kLostDaemon);
  });
  daemons_.pop_back();
  Start(ClusterOfDaemons::Join() + Flags{"--rank", "2"});
  for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
  Run(3, [](const Client& client, int process) {
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    const std::vector<Buffer> results = Must(sum.Execute({Pair(client, process)}));
    EXPECT_EQ(Must(results[0].ToLiteral()), Literal::Vector<int32_t>({3, 300}));
  });
}

TEST_F(Groups, AProcessUsesOnlyItsOwnDevices) {
  StartThree();
  Run(3, [](const Client& client, int process) {
    const int next = (process + 1) % 3;
    const absl::Status refused = client.device(next).Upload(Literal::Vector<int32_t>({1, 2})).status();
    EXPECT_EQ(KindOf(refused), ErrorKind::kArgument);
    EXPECT_THAT(std::string(refused.message()),
                AllOf(HasSubstr("Device " + std::to_string(next) + " is of process " + std::to_string(next)),
                      HasSubstr("This is process " + std::to_string(process) + ", with devices " +
                                std::to_string(process) + " to " + std::to_string(process))));
    const Executable sum = Must(client.CompileText(SumProgram(3)));
    const std::vector<Argument> all(3, Pair(client, process));
    EXPECT_THAT(std::string(sum.Execute(all).status().message()),
                HasSubstr("takes 1 arguments; 3 were given"));
    const std::vector<int> others = process == 0 ? std::vector<int>{1, 2} : std::vector<int>{0, 3 - process};
    EXPECT_THAT(
        std::string(
            Must(client.CompileText(SumProgram(2))).Execute({}, {.devices = others}).status().message()),
        HasSubstr("sum has no participant on this process's devices"));
  });
}

TEST_F(Groups, PrivateDaemonsOfOneMachineMeetWithoutSettings) {
  std::vector<std::thread> threads;
  for (int process = 0; process < 3; ++process) {
    threads.emplace_back([this, process] {
      FolderStore store(folder_.string());
      // The second group of the same processes has daemons of its own.
      for (const char* const name : {"first", "second"}) {
        const absl::StatusOr<Client> client =
            JoinGroup(store, {.process = process,
                              .processes = 3,
                              .name = name,
                              .timeout = absl::Seconds(60),
                              .connect = {.address = "private", .daemon_flags = {"--devices", "2"}}});
        ASSERT_TRUE(client.ok()) << client.status();
        EXPECT_EQ(client->device_count(), 6);
        EXPECT_EQ(PlaceInGroup(*client).first_device, 2 * process);
        const Executable sum = Must(client->CompileText(SumProgram(6)));
        const std::vector<std::vector<Buffer>> results =
            Must(sum.ExecuteParticipants({{Pair(*client, 2 * process)}, {Pair(*client, 2 * process + 1)}}));
        for (const std::vector<Buffer>& of_one : results)
          EXPECT_EQ(Must(of_one[0].ToLiteral()), Literal::Vector<int32_t>({15, 600}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Groups, APrivateDaemonThatCannotStartIsAReasonForAllProcesses) {
  std::thread second([this] {
    FolderStore store(folder_.string());
    const absl::Status status =
        JoinGroup(store, {.process = 1, .processes = 2, .connect = {.address = "private"}}).status();
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("Process 0 has not joined"), HasSubstr("cannot start")));
  });
  FolderStore store(folder_.string());
  const absl::Status status =
      JoinGroup(store,
                {.processes = 2, .connect = {.address = "private", .daemon_flags = {"--devices", "0"}}})
          .status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("devices"));
  second.join();
}

TEST_F(Groups, ReasonsNotToJoin) {
  StartThree();
  const auto text = [](const absl::StatusOr<Client>& client) {
    return std::string(client.status().message());
  };
  EXPECT_THAT(text(Join(0, 5000)), HasSubstr("A group of 5000 processes; it has 1 to 4096."));
  EXPECT_THAT(text(Join(2, 2)), HasSubstr("Process 2 of a group of 2; they count from 0."));
  EXPECT_THAT(text(Join(0, 2, absl::Milliseconds(300))),
              HasSubstr("Process 1 of 2 has not joined the group \"group 0\" in 300ms."));
  EXPECT_THAT(text(Join(0, 2, absl::Milliseconds(300))), HasSubstr("has a value"));  // The name is used.
  daemons_.push_back(std::make_unique<testing::Daemon>(Must(testing::Daemon::Start())));
  EXPECT_THAT(text(Join(3, 4)), HasSubstr("is not in a cluster. Processes run programs together when each"));
  daemons_[1] = std::move(daemons_[0]);
  ++groups_;
  std::thread second(
      [&] { EXPECT_THAT(text(Join(1, 2)), HasSubstr("Processes 0 and 1 both use the daemon")); });
  FolderStore store(folder_.string());
  EXPECT_THAT(text(JoinGroup(store, {.processes = 2,
                                     .name = "group " + std::to_string(groups_),
                                     .connect = {.address = daemons_[1]->address()}})),
              HasSubstr("(rank 0); each process of a group needs one of its own"));
  second.join();
}

TEST_F(Groups, AStoreThatCannotBeWrittenIsSaid) {
  StartThree();
  FolderStore store((folder_ / "missing").string());
  const absl::Status status =
      JoinGroup(store, {.processes = 2, .connect = {.address = daemons_[0]->address()}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot be written to the folder " + (folder_ / "missing").string()));
}

// A store that does something when the process has got its pass.
class StoreWithPause : public FolderStore {
 public:
  StoreWithPause(const std::string& folder, std::function<void()> at_pass)
      : FolderStore(folder), at_pass_(std::move(at_pass)) {}
  absl::StatusOr<std::string> Get(const std::string& key, absl::Duration timeout) override {
    absl::StatusOr<std::string> value = FolderStore::Get(key, timeout);
    if (key.find("/pass/") != std::string::npos) at_pass_();
    return value;
  }

 private:
  const std::function<void()> at_pass_;
};

TEST_F(Groups, ADaemonThatChangesWhileTheProcessesJoinIsSaid) {
  Start({"--cluster", "ci", "--cluster-size", "2"});
  const std::string address = "unix:" + (folder_ / "fixed.sock").string();
  const Flags second = ClusterOfDaemons::Join() + Flags{"--rank", "1", "--listen", address};
  Start(second);
  for (size_t i = 0; i < 2; ++i) ExpectMembers(i, {0, 1});
  std::thread first([this] {
    FolderStore store(folder_.string());
    EXPECT_OK(JoinGroup(store, {.processes = 2, .connect = {.address = daemons_[0]->address()}}).status());
  });
  StoreWithPause store(folder_.string(), [&] {
    daemons_[1]->Kill(SIGKILL);
    daemons_[1]->WaitForExit(kPatience);
    Start(second + Flags{"--devices", "3"});
    ExpectMembers(2, {0, 1});
  });
  const absl::Status status =
      JoinGroup(store, {.process = 1, .processes = 2, .connect = {.address = address}}).status();
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("The daemon of process 1 has changed: it was rank 1 with 1 devices, and is rank 1 with 3"));
  first.join();
}

}  // namespace
}  // namespace hlod

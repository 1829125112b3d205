// Processes, one per daemon, that run programs together. Threads play the processes here, each with its own
// client; tests/python/jax/distributed_test.py has real ones.
#include <gmock/gmock.h>

#include <thread>

#include "hlod/runtime/group.h"
#include "tests/integration/support/cluster.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
    ++groups_;
    std::vector<std::thread> threads;
    for (int process = 0; process < processes; ++process) {
      threads.emplace_back([this, processes, process, &body] {
        const absl::StatusOr<Client> client = Join(process, processes);
        ASSERT_TRUE(client.ok()) << client.status();
        body(*client, process);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  absl::StatusOr<Client> Join(int process, int processes, absl::Duration timeout = absl::Seconds(30)) {
    FolderStore store(folder_.string());
    return JoinGroup(store, {.process = process,
                             .processes = processes,
                             .name = "group " + std::to_string(groups_),
                             .timeout = timeout,
                             .connect = {.address = daemons_[static_cast<size_t>(process)]->address()}});
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
                  AllOf(HasSubstr("rank 1"), HasSubstr("takes 1 arguments")));
    }
    const std::vector<Buffer> after = Must(sum.Execute({Pair(client, process)}));
    EXPECT_EQ(Must(after[0].ToLiteral()), Literal::Vector<int32_t>({3, 300}));
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

}  // namespace
}  // namespace hlod

// Each allocation of a session's life fails once: the client gets an error of kind no_memory, or what was
// asked for; another session goes on; afterwards the daemon holds nothing of either.
//
// A scenario is played in a process of its own, which begins anew with the next point when it dies. So a
// crash or a hang is a finding with its number, as is a wrong answer:
//
//   allocations_test --gtest_filter='*collective*' --point=217     plays one point, and shows whose
//   allocation
//                                                                  failed
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "server/engine/assemble/assembler.h"
#include "tests/faults/scenarios.h"

namespace hlod::faults {
namespace {

int64_t only_point = 0;
// Points beyond this many are spread evenly over all allocations.
int64_t points_max = 1500;
// Smaller allocations do not count.
size_t bytes_min = 0;

constexpr absl::Duration kPatience = absl::Seconds(3);
constexpr unsigned kHangSeconds = 40;

device::Devices::Options OptionsOf(const Scenario& scenario) {
  device::Devices::Options options;
  options.count = 2;
  options.device_bytes = 8 << 20;
  options.host_bytes = 32 << 20;
  options.threads = 1;
  // A program waits no longer for a value whose infeed has failed.
  options.limits.channel_wait_us = 300'000;
  if (scenario.assembled) options.assembler = engine::MakeAssembler(engine::Assembling::kFirst);
  return options;
}

std::string Judge(Driver& client, const std::vector<Expected>& expected) {
  for (const auto& [command, reply] : client.replies()) {
    if (!reply.has_error()) continue;
    const ErrorDetails error = rpc::FromProto(reply.error());
    // A program that got no value, because its infeed had no memory, says that none came.
    const bool follows = error.kind == ErrorKind::kCancelled || error.kind == ErrorKind::kPending;
    if (error.kind != ErrorKind::kNoMemory && !follows)
      return absl::StrFormat("command %d: %s: %s", command, Name(error.kind), error.text);
  }
  for (const Expected& read : expected) {
    const v1::Reply* const reply = client.ReplyTo(read.command);
    if (reply == nullptr || reply->has_error()) continue;
    if (reply->download().inline_() != client.Bytes(read.values))
      return absl::StrFormat("command %d: read other values", read.command);
  }
  const ErrorKind end = client.ended() ? KindOf(client.end()) : ErrorKind::kNone;
  const bool lost = client.resumes() && end == ErrorKind::kLostSession;
  if (end != ErrorKind::kNone && end != ErrorKind::kNoMemory && !lost)
    return absl::StrFormat("the session ended with %s: %s", Name(end), std::string(client.end().message()));
  return "";
}

// Returns true when another session, whose memory does not fail, computes what it should.
bool OtherComputes(session::Daemon& daemon) {
  session::Client other(daemon, 0, "user 2");
  other.Send(other.UploadOf({1, 2, 3, 4}, 1));
  other.Send(other.CompileOf(2, device::AddProgram()));
  other.Send(other.ExecuteOf(2, {1, 1}, {3}));
  const bool right = other.Read(3) == std::vector<float>{2, 4, 6, 8};
  other.Send(other.FreeOf({1, 2, 3}));
  return right;
}

std::string Bystand(session::Daemon& daemon) {
  // A compile that finds no memory is refused to all who wait for it: the first attempt may have waited for
  // one that the scenario left behind.
  if (OtherComputes(daemon) || OtherComputes(daemon)) return "";
  return "another session read other values";
}

// Waits for the end of all work, and looks for what is left.
std::string Remains(session::Daemon& daemon) {
  daemon.registry->EndAll(absl::OkStatus());
  const absl::Time until = absl::Now() + kPatience;
  while (absl::Now() < until) {
    daemon.registry->Tick();
    if (daemon.devices->queued() == 0 && daemon.devices->side_memory().used_bytes() == 0 &&
        daemon.used_bytes() == 0)
      return "";
    std::this_thread::yield();
  }
  return absl::StrFormat("left: %d jobs, %d bytes of side memory, %d of the device", daemon.devices->queued(),
                         daemon.devices->side_memory().used_bytes(), daemon.used_bytes());
}

// Plays the scenario with the allocation `point` failing; 0: none. Returns what was wrong.
std::string Play(const Scenario& scenario, int64_t point, int64_t* counted) {
  session::Daemon daemon(OptionsOf(scenario));
  std::string wrong;
  {
    Driver client(daemon);
    if (scenario.connected) client.Connect();
    scenario.prepare(client);
    ArmMemory(point, bytes_min);
    const std::vector<Expected> expected = scenario.act(client);
    const bool answered = client.AwaitAll(kPatience);
    *counted = DisarmMemory();
    if (!answered) wrong = "a command is not answered";
    if (wrong.empty()) wrong = Judge(client, expected);
  }
  if (wrong.empty()) wrong = Bystand(daemon);
  const std::string remains = Remains(daemon);
  return wrong.empty() ? remains : wrong;
}

std::string PlayWithoutLeak(const Scenario& scenario, int64_t point, int64_t usual) {
  int64_t counted;
  std::string wrong = Play(scenario, point, &counted);
  // A library may keep memory for ever, but once, so a leak shows in each of several repetitions.
  int64_t more = LiveBytes() - usual;
  for (int again = 0; wrong.empty() && more > 0 && again < 3; ++again) {
    const int64_t before = LiveBytes();
    wrong = Play(scenario, point, &counted);
    more = LiveBytes() - before;
  }
  if (wrong.empty() && more > 0) wrong = absl::StrFormat("%d bytes are never deleted", more);
  return wrong;
}

// The process of a scenario: writes "point\n" before each point, and "!text\n" for each finding.
void PlayAll(const Scenario& scenario, int64_t first, int to) {
  SpareThisThread(true);
  if (only_point == 0) spdlog::set_level(spdlog::level::off);
  int64_t all = 0;
  for (int i = 0; i < 3; ++i) {
    if (const std::string wrong = Play(scenario, 0, &all); !wrong.empty()) {
      dprintf(to, "0\n!%s\n", wrong.c_str());
      _exit(0);
    }
  }
  dprintf(to, "=%lld\n", static_cast<long long>(all));
  const int64_t step = std::max<int64_t>(1, all / points_max);
  for (int64_t point = first; point <= all; point += step) {
    if (only_point != 0 && point != only_point) continue;
    if (only_point != 0) {
      spdlog::set_level(spdlog::level::info);
      ShowFailingAllocation(true);
    }
    dprintf(to, "%lld\n", static_cast<long long>(point));
    alarm(kHangSeconds);
    const int64_t usual = LiveBytes();
    const std::string wrong = PlayWithoutLeak(scenario, point, usual);
    alarm(0);
    if (!wrong.empty()) dprintf(to, "!%s\n", wrong.c_str());
  }
  _exit(0);
}

struct Report {
  int64_t allocations = 0, points = 0;
  std::vector<std::string> findings;
};

// Plays all points, in as many processes as it takes.
Report PlayScenario(const Scenario& scenario) {
  Report report;
  int64_t point = 1;
  for (bool over = false; !over;) {
    int ends[2];
    if (pipe(ends) != 0) return report;
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      PlayAll(scenario, point, ends[1]);
    }
    close(ends[1]);
    FILE* const from = fdopen(ends[0], "r");
    char line[4096];
    while (fgets(line, sizeof(line), from) != nullptr) {
      const std::string text(line, strcspn(line, "\n"));
      if (text[0] == '=') {
        report.allocations = std::atoll(text.c_str() + 1);
      } else if (text[0] == '!') {
        report.findings.push_back(absl::StrFormat("%s %d: %s", scenario.name, point, text.substr(1)));
      } else {
        point = std::atoll(text.c_str());
        ++report.points;
      }
    }
    fclose(from);
    int status = 0;
    waitpid(child, &status, 0);
    over = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!over) {
      report.findings.push_back(absl::StrFormat(
          "%s %d: %s", scenario.name, point,
          WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "it hangs" : "the process died"));
      point += std::max<int64_t>(1, report.allocations / points_max);
    }
  }
  return report;
}

class Allocations : public ::testing::TestWithParam<Scenario> {};

TEST_P(Allocations, EachFailsOnceAndIsAnsweredAndNothingIsLeft) {
  const Report report = PlayScenario(GetParam());
  std::printf("%s: %lld allocations, %lld of them failed once, %zu findings\n", GetParam().name.c_str(),
              static_cast<long long>(report.allocations), static_cast<long long>(report.points),
              report.findings.size());
  std::fflush(stdout);
  EXPECT_GT(report.points, 0);
  for (const std::string& finding : report.findings) ADD_FAILURE() << finding;
}

INSTANTIATE_TEST_SUITE_P(Of, Allocations, ::testing::ValuesIn(Scenarios()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hlod::faults

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--point=")) hlod::faults::only_point = std::atoll(argv[i] + 8);
    if (argument.starts_with("--bytes=")) hlod::faults::bytes_min = std::strtoull(argv[i] + 8, nullptr, 10);
    if (argument.starts_with("--points=")) hlod::faults::points_max = std::atoll(argv[i] + 9);
  }
  return RUN_ALL_TESTS();
}

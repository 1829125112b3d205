// A program is recorded and replayed: the account of the replay is the program's.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "common/base/system/file.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/process.h"
#include "tests/support/shell.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

class CommandLogs : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    folder_ = std::filesystem::temp_directory_path() / ("command-log-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string File(const char* name) const { return (folder_ / name).string(); }
  std::string Record(const std::string& program, const std::string& arguments = "") {
    const Output output =
        RunShell("cd " + SourceDir().string() + " && HLOD_COMMAND_LOG=" + File("commands.log") +
                 " HLOD_ADDRESS=" + daemon_->address() + " " + Beside("../bin/" + program) + " " + arguments +
                 " 2>&1");
    EXPECT_EQ(output.code, 0) << output.text;
    return File("commands.log");
  }
  // Replays a log; expects the exit code.
  static std::string Replay(const testing::Daemon& daemon, const std::string& arguments, int code = 0) {
    const Output output = RunShell(Beside("../bin/hloctl") + " --address " + daemon.address() + " replay " +
                                   arguments + " 2>&1");
    EXPECT_EQ(output.code, code) << output.text;
    return output.text;
  }

  std::filesystem::path folder_;
};

// Returns the rows by cause, line and step; handles and sessions differ between runs.
std::map<std::tuple<Cause, std::string, int, uint64_t>, std::pair<int64_t, int64_t>> RowsOf(
    const std::vector<LedgerRow>& rows) {
  std::map<std::tuple<Cause, std::string, int, uint64_t>, std::pair<int64_t, int64_t>> sums;
  for (const LedgerRow& row : rows) {
    auto& [bytes, calls] = sums[{row.cause, row.origin.file, row.origin.line, row.step}];
    bytes += row.amount.bytes;
    calls += row.amount.calls;
  }
  return sums;
}

TEST_F(CommandLogs, AReplayOfATrainingProgramHasItsAccount) {
  const SessionStats before = Must(daemon_->Stats()).totals;
  const std::string log = Record("example_digits", "--epochs 1");
  const SessionStats after = Must(daemon_->Stats()).totals;
  EXPECT_GT(after.executes, 10);

  const testing::Daemon other = Must(testing::Daemon::Start());
  Replay(other, log);
  const SessionStats replayed = Must(other.Stats()).totals;
  EXPECT_EQ(replayed.executes, after.executes - before.executes);
  EXPECT_EQ(replayed.compiles, after.compiles - before.compiles);
  EXPECT_EQ(replayed.compile_cache_hits, after.compile_cache_hits - before.compile_cache_hits);
  EXPECT_EQ(replayed.program_bytes, after.program_bytes - before.program_bytes);
  EXPECT_EQ(replayed.inline_argument_bytes, after.inline_argument_bytes - before.inline_argument_bytes);
  EXPECT_EQ(replayed.host_to_device, after.host_to_device);
  EXPECT_EQ(replayed.device_to_host, after.device_to_host);
  EXPECT_EQ(replayed.device_to_device, after.device_to_device);
  EXPECT_EQ(replayed.failed_commands, after.failed_commands);

  // The daemon has the programs in its cache, so none is compiled, and the replay says why.
  const auto first = nlohmann::json::parse(Replay(other, "--json " + log), nullptr, false);
  EXPECT_EQ(first["programs"],
            replayed.compiles + replayed.compile_cache_hits + replayed.persistent_cache_hits);
  EXPECT_EQ(first["stats"]["compiles"], 0);
  const std::string again = Replay(other, log), programs = std::to_string(first["programs"].get<int>());
  EXPECT_NE(again.find("programs " + programs + " (0 compiled, " + programs + " from the daemon's caches), "),
            std::string::npos)
      << again;
  EXPECT_NE(again.find(" bytes; it differs from run to run, by how far the device is behind the commands\n"),
            std::string::npos)
      << again;

  // With placeholders no bytes cross, and the number of executes is the same.
  const testing::Daemon third = Must(testing::Daemon::Start());
  Replay(third, log + " --data placeholder");
  const SessionStats shapes = Must(third.Stats()).totals;
  EXPECT_EQ(shapes.executes, replayed.executes);
  EXPECT_EQ(shapes.host_to_device.bytes, 0);
}

// Covers uploads of both sizes, inline literals, donation, fills, steps, reads in pieces, origins.
TEST_F(CommandLogs, HaveLinesAndStepsAndNoContents) {
  setenv("HLOD_COMMAND_LOG", File("client.rec").c_str(), 1);
  Client client = Must(daemon_->Connect());
  unsetenv("HLOD_COMMAND_LOG");
  EXPECT_OK(client.StepMark(7));
  const Buffer x = Must(client.device(0).Upload(Counting(300'000)));
  const Buffer small = Must(client.device(0).Upload(Counting(4)));
  const Executable add = Must(client.CompileText(AddProgram(300'000)));
  EXPECT_OK(Must(add.Execute({x, x}))[0].ToLiteral().status());
  const Executable add_four = Must(client.CompileText(AddProgram(4)));
  EXPECT_OK(Must(add_four.Execute({small, Counting(4)}))[0].ToLiteral().status());
  EXPECT_OK(client.StepMark(8));
  const Executable increment = Must(client.CompileText(IncrementProgram(4)));
  ExecuteOptions donate;
  donate.donate = {0};
  const Buffer result = Must(increment.Execute({small}, donate))[0];
  const Buffer hole = Must(client.device(0).Placeholder(Shape::Array(hlo::kF32, {4})));
  EXPECT_OK(hole.Fill(Counting(4)));
  EXPECT_OK(hole.ToLiteral(Cause::kPrint).status());
  const std::vector<LedgerRow> recorded = Must(client.Stats()).rows;
  EXPECT_OK(client.Close());

  EXPECT_EQ(Must(ReadFile(File("client.rec"))).find(std::string("\0\0\x80\x3f\0\0\0\x40", 8)),
            std::string::npos)
      << "1.0f, 2.0f: contents of a tensor";
  const testing::Daemon other = Must(testing::Daemon::Start());
  for (const char* const data : {"zeros", "random"}) {
    const std::string text = Replay(other, "--json " + File("client.rec") + " --data " + data);
    const nlohmann::json json = nlohmann::json::parse(text);
    EXPECT_EQ(json["failed"], 0);
    std::vector<LedgerRow> rows;
    for (const nlohmann::json& row : json["stats"]["rows"]) {
      LedgerRow& one = rows.emplace_back();
      for (const Cause cause : {Cause::kUpload, Cause::kDownload, Cause::kPlaceholderFill, Cause::kPrint}) {
        if (row["cause"] == std::string(Name(cause))) one.cause = cause;
      }
      one.origin.file = row["origin"]["file"];
      one.origin.line = row["origin"]["line"];
      one.step = row["step"];
      one.amount = {row["bytes"], row["calls"]};
    }
    EXPECT_EQ(RowsOf(rows), RowsOf(recorded)) << text;
  }
}

TEST_F(CommandLogs, BadOnesAreRefusedInASentence) {
  const std::string path = File("bad.rec");
  const auto expect = [&](const std::string& bytes, const std::string& words) {
    std::ofstream(path, std::ios::binary) << bytes;
    const std::string text = Replay(*daemon_, path, 1);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect("hlod command log 9\n", "version 9; this program reads version 1");
  expect("HloModule x", "is not a command log");
  std::string good;
  {
    setenv("HLOD_COMMAND_LOG", File("good.rec").c_str(), 1);
    const Client client = Must(daemon_->Connect());
    unsetenv("HLOD_COMMAND_LOG");
    EXPECT_OK(client.device(0).Upload(Counting(4)).status());
    EXPECT_OK(client.Close());
    good = Must(ReadFile(File("good.rec")));
  }
  // Without its last byte the file ends within an entry, whatever the length of the paths in it.
  expect(good.substr(0, good.size() - 1), "it was cut");
  const std::string text = Replay(*daemon_, path + " --incomplete");
  EXPECT_NE(text.find("the beginning of the session"), std::string::npos) << text;
  // A file that cannot be written fails the connection.
  setenv("HLOD_COMMAND_LOG", "/proc/none/commands.log", 1);
  const absl::StatusOr<Client> refused = daemon_->Connect();
  unsetenv("HLOD_COMMAND_LOG");
  EXPECT_NE(std::string(refused.status().message()).find("/proc/none/commands.log cannot be written"),
            std::string::npos)
      << refused.status();
}

}  // namespace
}  // namespace hlod

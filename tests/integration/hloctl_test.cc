// hloctl as typed.
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/integration/harness.h"

namespace hlod {
namespace {

struct Output {
  int code = -1;
  std::string text;
};

class Hloctl : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    program_ = (self / "../bin/hloctl").string();
    folder_ = std::filesystem::temp_directory_path() / ("hloctl-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "two.hlo") << kTwoResults;
    std::ofstream(folder_ / "add.hlo") << AddProgram(2);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Runs it against the daemon; stdout and stderr together.
  Output Run(const std::string& arguments, const std::string& redirect = "2>&1") {
    const std::string command =
        program_ + " --address " + daemon_->address() + " " + arguments + " " + redirect;
    Output output;
    FILE* const pipe = popen(command.c_str(), "r");
    char buffer[4096];
    while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) output.text.append(buffer, n);
    output.code = WEXITSTATUS(pclose(pipe));
    return output;
  }
  nlohmann::json RunJson(const std::string& arguments) {
    const Output output = Run("--json " + arguments, "2>/dev/null");
    nlohmann::json json = nlohmann::json::parse(output.text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << output.text;
    return json;
  }
  std::string File(const char* name) const { return (folder_ / name).string(); }

  std::string program_;
  std::filesystem::path folder_;
};

TEST_F(Hloctl, RunsTextAndPrintsResults) {
  const Output output = Run("run " + File("two.hlo"));
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_NE(output.text.find("result 0: f32[4] {1, 1, 1, 1}"), std::string::npos) << output.text;
}

TEST_F(Hloctl, RunsAProtoOnNpyArgumentsAndWritesNpyResults) {
  const std::string module = std::string(HLOD_SOURCE_DIR) + "/tests/conformance/jax/cases/layer_norm_bf16";
  std::string arguments = "run " + module + "/module.pb --output " + File("out");
  for (int i = 0; i < 3; ++i) arguments += " --arg " + module + "/arg" + std::to_string(i) + ".npy";
  const nlohmann::json json = RunJson(arguments);
  ASSERT_TRUE(json.contains("results")) << json;
  EXPECT_TRUE(std::filesystem::exists(json["results"][0]["file"].get<std::string>())) << json;
  EXPECT_GT(json["stats"]["host_to_device"]["bytes"].get<int64_t>(), 0);
}

TEST_F(Hloctl, PlaceholdersAreRefusedUnlessAbstract) {
  const Output refused = Run("run " + File("two.hlo") + " --placeholder 0");
  EXPECT_EQ(refused.code, 1) << refused.text;
  EXPECT_NE(refused.text.find("placeholder"), std::string::npos) << refused.text;
  const nlohmann::json json = RunJson("run " + File("two.hlo") + " --placeholder 0 --abstract");
  EXPECT_TRUE(json["results"][0]["placeholder"].get<bool>()) << json;
  EXPECT_FALSE(json["results"][1]["placeholder"].get<bool>()) << json;
}

TEST_F(Hloctl, RepeatsAndPrintsNoProgressInAPipe) {
  const Output output = Run("run --repeat 20 --random 3 " + File("add.hlo"));
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_EQ(output.text.find('\r'), std::string::npos);
  EXPECT_EQ(RunJson("run --repeat 20 " + File("add.hlo"))["run"]["count"], 20);
}

TEST_F(Hloctl, ListsWhatTheDaemonHolds) {
  const Buffer x = Must(client_->device(0).Upload(Counting(1000)));
  const Executable add = Must(client_->CompileText(AddProgram(1000)));
  const Buffer sum = Must(add.Execute({x, x}))[0];
  ASSERT_OK(sum.ready().Await());
  ASSERT_OK(client_->Sync());
  EXPECT_EQ(RunJson("devices")["devices"][0]["used_bytes"], 8000);
  const nlohmann::json buffers = RunJson("buffers");
  EXPECT_EQ(buffers["total"], 2);
  EXPECT_EQ(buffers["buffers"][0]["shape"], "f32[1000]");
  EXPECT_TRUE(buffers["buffers"][0]["origin"]["file"].get<std::string>().ends_with("hloctl_test.cc"));
  EXPECT_EQ(RunJson("executables")["executables"][0]["name"], "add");
  EXPECT_EQ(RunJson("sessions")["sessions"][0]["session"], client_->session_id());
  EXPECT_EQ(RunJson("transfers")["transfers"][0]["cause"], "upload");
  EXPECT_EQ(RunJson("stats")["totals"]["executes"], 1);
  EXPECT_GT(RunJson("ping")["median_us"].get<double>(), 0);
  for (const char* command :
       {"devices", "buffers", "executables", "sessions", "transfers", "stats", "ping"}) {
    const Output output = Run(command);
    EXPECT_EQ(output.code, 0) << command << output.text;
    EXPECT_FALSE(output.text.empty());
  }
}

TEST_F(Hloctl, ExitCodesTellUsageFromRefusalFromNoDaemon) {
  EXPECT_EQ(Run("run").code, 2);
  EXPECT_EQ(Run("frobnicate").code, 2);
  EXPECT_EQ(Run("--help").code, 0);
  EXPECT_EQ(Run("run /nowhere.hlo").code, 1);
  EXPECT_EQ(RunJson("run /nowhere.hlo")["error"]["code"], "NOT_FOUND");
  daemon_->Kill(SIGKILL);
  ASSERT_TRUE(daemon_->WaitForExit(absl::Seconds(5)).has_value());
  EXPECT_EQ(Run("stats").code, 3);
  client_.reset();
}

}  // namespace
}  // namespace hlod

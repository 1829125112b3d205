// Acceptance row GB11: HLOD_DEBUG prints analyses of compilations and executions while a program runs.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_split.h"
#include "common/base/system/file.h"
#include "hlod/observe/debug_analysis.h"
#include "tests/support/shell.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class DebugRows : public TensorTest {
 protected:
  // Returns what a program of two equal steps prints at `level`.
  std::string Analysed(DebugAnalysis::Level level) {
    std::string text;
    DebugAnalysis analysis(level, [&](std::string_view part) { text += part; });
    const Observation observation(analysis);
    // Each level uses another shape, so that its program has not been compiled before.
    const Tensor x = OnDevice(std::vector<float>(static_cast<size_t>(level) + 2, 1), {level + 2});
    for (int step = 0; step < 2; ++step) {
      line_ = __LINE__ + 1;
      (x + x).ToHost();
    }
    return text;
  }
  static int Count(const std::string& text, const std::string& part) {
    int count = 0;
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
  }
  int line_ = 0;
};

// Acceptance row GB11.
TEST_F(DebugRows, LevelsSayWhatWasCompiledAndWhatRan) {
  EXPECT_EQ(Analysed(DebugAnalysis::kNothing), "");

  const std::string compilations = Analysed(DebugAnalysis::kCompilations);
  EXPECT_EQ(Count(compilations, "Compilation Cause"), 1) << "the second step was found";
  EXPECT_EQ(Count(compilations, "Execution"), 1) << "Source Line Triggered Execution";
  for (const absl::string_view line : absl::StrSplit(compilations, '\n', absl::SkipEmpty()))
    EXPECT_TRUE(absl::StartsWith(line, "Compilation Analysis: ")) << line;
  EXPECT_THAT(compilations, HasSubstr("  to_host: the program read a tensor's value\n"));
  EXPECT_THAT(compilations, HasSubstr("  Number of Graph Inputs: 1\n"));
  EXPECT_THAT(compilations, HasSubstr("  Number of Graph Outputs: 1\n"));
  EXPECT_THAT(compilations, HasSubstr("Recompile Reason\n"));
  EXPECT_THAT(compilations, HasSubstr("debug_rows_test.cc:" + std::to_string(line_)));

  const std::string executions = Analysed(DebugAnalysis::kExecutions);
  EXPECT_EQ(Count(executions, "Compilation Cause"), 1);
  EXPECT_EQ(Count(executions, "Execution Cause"), 2);
  const auto hash = [&](size_t from) {
    const size_t at = executions.find("Graph Hash: ", from);
    return executions.substr(at, executions.find('\n', at) - at);
  };
  EXPECT_EQ(hash(0), hash(executions.find("Execution Cause"))) << "the same program";
}

// Acceptance row GB11. The variables are set as a user sets them, in a process of its own.
TEST_F(DebugRows, TheEnvironmentSetsLevelAndFile) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("debug-rows-" + std::to_string(getpid()));
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../bin/example_mixed";
  const auto run = [&](const std::string& environment) {
    return RunShell(environment + " HLOD_ADDRESS=" + daemon_->address() + " " + program + " 2>&1");
  };
  Output output = run("HLOD_DEBUG=2 HLOD_DEBUG_FILE=" + file.string());
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_EQ(Count(output.text, "Analysis: "), 0) << output.text;
  const int once = Count(ReadFile(file).value(), "Execution Cause");
  EXPECT_GT(once, 0);
  run("HLOD_DEBUG=2 HLOD_DEBUG_FILE=" + file.string());
  EXPECT_EQ(Count(ReadFile(file).value(), "Execution Cause"), 2 * once) << "appended";
  std::filesystem::remove(file);

  output = run("HLOD_DEBUG=2");
  EXPECT_EQ(Count(output.text, "Execution Cause"), once) << output.text;
  output = run("HLOD_DEBUG=3");
  EXPECT_NE(output.code, 0);
  EXPECT_THAT(output.text,
              HasSubstr("$HLOD_DEBUG is \"3\"; 0, 1 (compilations) or 2 (executions, too) is needed."));
  output = run("HLOD_DEBUG=1 HLOD_DEBUG_FILE=/proc/none/causes.txt");
  EXPECT_NE(output.code, 0);
  EXPECT_THAT(output.text, HasSubstr("$HLOD_DEBUG_FILE: /proc/none/causes.txt cannot be written"));
}

}  // namespace
}  // namespace hlod

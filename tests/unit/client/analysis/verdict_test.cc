// Verdicts as JUnit XML and as GitHub's workflow commands. The expected lines follow the documentation of
// both formats.
#include "client/analysis/preflight/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "common/base/system/file.h"

namespace hlod::analysis {
namespace {

using testing::HasSubstr;

const std::vector<CheckResult> kVerdicts = {
    {.name = "flops"},
    {.name = "peak_bytes",
     .level = CheckResult::Level::kError,
     .message = "peak_bytes 2 GiB is over <1 GiB> & 100%",
     .at = {"/repo/train/step.py", 41}},
    {.name = "step_seconds", .level = CheckResult::Level::kWarning, .message = "loose"},
};

TEST(Verdicts, AsJUnit) {
  EXPECT_EQ(
      ToJUnit("jit_f", kVerdicts),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites tests=\"3\" failures=\"1\">\n"
      "  <testsuite name=\"jit_f\" tests=\"3\" failures=\"1\">\n"
      "    <testcase classname=\"jit_f\" name=\"flops\"/>\n"
      "    <testcase classname=\"jit_f\" name=\"peak_bytes\" file=\"/repo/train/step.py\" line=\"41\">"
      "<failure message=\"peak_bytes 2 GiB is over &lt;1 GiB&gt; &amp; 100%\"/></testcase>\n"
      "    <testcase classname=\"jit_f\" name=\"step_seconds\"><system-out>loose</system-out></testcase>\n"
      "  </testsuite>\n"
      "</testsuites>\n");
  EXPECT_THAT(ToJUnit("a\x01", {{.name = "b"}}), HasSubstr("name=\"a?\""));
}

TEST(Verdicts, AsGithubCommands) {
  EXPECT_EQ(ToGithub("jit_f", kVerdicts, "/repo/"),
            "::error file=train/step.py,line=41,title=hlod%3A peak_bytes::"
            "jit_f: peak_bytes 2 GiB is over <1 GiB> & 100%25\n"
            "::warning title=hlod%3A step_seconds::jit_f: loose\n");
  EXPECT_THAT(
      ToGithub("f", {{.name = "a,b", .level = CheckResult::Level::kError, .at = {"/repository/x.py", 1}}},
               "/repo"),
      HasSubstr("file=/repository/x.py,line=1,title=hlod%3A a%2Cb::"));
}

// CMake with Ninja compiles in the build's folder: __FILE__ is ../../src/model.cc.
TEST(Verdicts, FilesRelativeToTheBuildAreFoundInTheWorkspace) {
  const std::filesystem::path workspace = std::filesystem::path(testing::TempDir()) / "verdict-workspace";
  std::filesystem::create_directories(workspace / "src");
  ASSERT_TRUE(WriteFile((workspace / "src/model.cc").string(), "x").ok());
  const auto annotate = [&](const char* file) {
    return ToGithub("f", {{.name = "a", .level = CheckResult::Level::kError, .at = {file, 1}}},
                    workspace.string());
  };
  EXPECT_THAT(annotate("../../src/model.cc"), HasSubstr("file=src/model.cc,"));
  EXPECT_THAT(annotate("../../src/other.cc"), HasSubstr("file=../../src/other.cc,"));
  std::filesystem::remove_all(workspace);
}

// An exceeded limit is attributed to the line with the largest share. A run that stopped too early does not
// pass.
TEST(Verdicts, OfARunStandAtTheLineWithMostOfWhatIsLimited) {
  RunReport report;
  report.steps = 1;
  report.transfers = {
      {.cause = "upload",
       .line = {"a.cc", 1},
       .bytes = 100,
       .calls = 1,
       .direction = Direction::kHostToDevice},
      {.cause = "print", .line = {"a.cc", 2}, .bytes = 8, .calls = 2, .direction = Direction::kDeviceToHost},
      {.cause = "upload",
       .line = {"a.cc", 3},
       .bytes = 9,
       .calls = 9,
       .direction = Direction::kHostToDevice}};
  report.breaks = {{.cause = "item", .line = {"a.cc", 4}, .calls = 2}};
  report.programs = {{.line = {"a.cc", 5}, .runs = 7}, {.line = {"a.cc", 6}, .runs = 2}};
  report.peak.largest = {{.bytes = 9}, {.line = {"a.cc", 7}, .bytes = 8}};
  const std::map<std::string, int> lines = {{"upload_bytes", 1}, {"host_waits", 2}, {"upload_calls", 3},
                                            {"graph_breaks", 4}, {"executes", 5},   {"compiles", 6},
                                            {"peak_bytes", 7}};
  for (const auto& [metric, line] : lines) {
    report.budget[metric] = 1;
    report.findings.push_back({.metric = metric, .value = 2, .limit = 1, .over = true});
  }
  for (const CheckResult& verdict : VerdictsOf(report)) {
    EXPECT_EQ(verdict.level, CheckResult::Level::kError);
    EXPECT_EQ(verdict.at, (SourceLine{"a.cc", lines.at(verdict.name)})) << verdict.name;
  }
  EXPECT_EQ(VerdictsOf(report).size(), lines.size());
  report.stopped_why = "a value was asked for";
  report.stopped_at = {"a.cc", 41};
  EXPECT_EQ(VerdictsOf(report).size(), lines.size()) << "after one step of one";
  const CheckResult stopped = VerdictsOf(report, /*steps_wanted=*/2)[0];
  EXPECT_EQ(stopped.level, CheckResult::Level::kError);
  EXPECT_EQ(stopped.at.line, 41);
}

}  // namespace
}  // namespace hlod::analysis

// Verdicts as JUnit XML and as GitHub's workflow commands; the expected lines are what the two formats' pages
// say.
#include "client/analysis/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hlod::analysis {
namespace {

using testing::HasSubstr;

const std::vector<Verdict> kVerdicts = {
    {.name = "flops"},
    {.name = "peak_bytes",
     .level = Verdict::Level::kError,
     .message = "peak_bytes 2 GiB is over <1 GiB> & 100%",
     .at = {"/repo/train/step.py", 41}},
    {.name = "step_seconds", .level = Verdict::Level::kWarning, .message = "loose"},
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
  EXPECT_THAT(ToGithub("f", {{.name = "a,b", .level = Verdict::Level::kError, .at = {"/repository/x.py", 1}}},
                       "/repo"),
              HasSubstr("file=/repository/x.py,line=1,title=hlod%3A a%2Cb::"));
}

}  // namespace
}  // namespace hlod::analysis

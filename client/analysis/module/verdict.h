// What was checked and how it ended, in the forms that continuous integration reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/analysis/module/module_check.h"
#include "client/analysis/module/source_lines.h"
#include "client/analysis/preflight/preflight.h"

namespace hlod::analysis {

struct CheckResult {
  enum class Level { kPassed, kWarning, kError };
  std::string name;  // "peak_bytes", "fits v5p:128".
  Level level = Level::kPassed;
  std::string message;
  SourceLine at;  // The line of the user's program that is most to blame, where it is known.
};

// The target and each limit of the budget; when there is neither, that the module could be analysed.
std::vector<CheckResult> VerdictsOf(const ModuleReport& report);
// The same of a run, each with the line that has most of what is limited. A run that stopped before its first
// step, or before `steps_wanted`, has an error of that.
std::vector<CheckResult> VerdictsOf(const RunReport& report, int64_t steps_wanted = 1);

// A JUnit XML file of one suite, a test case a verdict. Warnings are a test case's output.
std::string ToJUnit(std::string_view suite, const std::vector<CheckResult>& verdicts);

// Workflow commands of GitHub Actions, one a line, for errors and warnings. Files below the folder
// `workspace` are named relative to it, also when the compiler was given them relative to another one.
std::string ToGithub(std::string_view suite, const std::vector<CheckResult>& verdicts,
                     std::string_view workspace);

}  // namespace hlod::analysis

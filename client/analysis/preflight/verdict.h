// The results of checks, in the forms that continuous integration reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/analysis/check/module_check.h"
#include "client/analysis/module/source_lines.h"
#include "client/analysis/preflight/preflight.h"

namespace hlod::analysis {

struct CheckResult {
  enum class Level { kPassed, kWarning, kError };
  std::string name;  // "peak_bytes", "fits v5p:128".
  Level level = Level::kPassed;
  std::string message;
  SourceLine at;  // The line of the user's program with the largest share; may be empty.
};

// Returns one result for the target and one per limit of the budget; without either, a single result
// "analysis" that passed.
std::vector<CheckResult> VerdictsOf(const ModuleReport& report);
// Does the same for a run; a finding names the line with the largest share of the limited metric. A run that
// stopped before its first step, or before `steps_wanted`, also has an error "steps".
std::vector<CheckResult> VerdictsOf(const RunReport& report, int64_t steps_wanted = 1);

// Returns a JUnit XML file of one suite, with a test case per verdict. A warning is the output of its test
// case.
std::string ToJUnit(std::string_view suite, const std::vector<CheckResult>& verdicts);

// Returns workflow commands of GitHub Actions, one per line, for errors and warnings. Files below the folder
// `workspace` are named relative to it, also when the compiler was called with a path relative to another
// folder.
std::string ToGithub(std::string_view suite, const std::vector<CheckResult>& verdicts,
                     std::string_view workspace);

}  // namespace hlod::analysis

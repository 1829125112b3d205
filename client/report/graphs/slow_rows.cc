// Slow steps come from the daemon's account, slow paths of the process from its events.
#include "client/report/graphs/slow_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/text/strings.h"

namespace hlod::report {
namespace {

constexpr const char* kStepRemedy =
    "Write it in a form that the daemon has a fast step for (the reason says what is in the way), or as a "
    "native kernel of the daemon.";

std::string_view RemedyOf(SlowPath path) {
  switch (path) {
    case SlowPath::kHostTensor:
      return "Move the tensors to a device with To(device): host tensors are computed by one thread, slowly.";
  }
  return "";
}

// Returns "model.cc:12" for "sort (model.cc:12): why"; empty when the step has no line.
std::string LineOfStep(const std::string& step) {
  const size_t begin = step.find(" (");
  const size_t end = step.find("): ");
  if (begin == std::string::npos || end == std::string::npos || end < begin || step.find(": ") < begin)
    return "";
  return step.substr(begin + 2, end - begin - 2);
}

// By digest and step, because a program that was compiled twice has its steps once.
void AddSteps(const Profile& run, std::vector<SlowRow>& rows) {
  struct Ran {
    int64_t count = 0;
    double us = 0;
  };
  std::map<std::string, Ran> ran;
  std::map<std::pair<std::string, std::string>, std::string> programs;
  for (const ProfileAccount& account : run.accounts) {
    for (const RunRow& row : account.account.runs) {
      Ran& sum = ran[row.digest];
      sum.count += row.count;
      sum.us += static_cast<double>(row.run.sum_us);
    }
    for (const CompileRow& row : account.account.compiles) {
      for (const std::string& step : row.slow_steps) programs[{row.digest, step}] = row.program;
    }
  }
  for (const auto& [key, program] : programs) {
    const auto& [digest, step] = key;
    const Ran& sum = ran[digest];
    rows.push_back({"slow_step", step, LineOfStep(step), program, sum.count, sum.us, kStepRemedy});
  }
}

void AddEvents(const Profile& run, std::vector<SlowRow>& rows) {
  std::map<std::tuple<SlowPath, std::string, std::string>, std::pair<int64_t, double>> sums;
  for (const Event& event : run.events) {
    const auto* const slow = std::get_if<SlowEvent>(&event.what);
    if (slow == nullptr) continue;
    auto& [times, us] = sums[{slow->path, slow->operation, ToString(slow->origin)}];
    ++times;
    us += slow->us;
  }
  for (const auto& [key, sum] : sums) {
    const auto& [path, operation, line] = key;
    rows.push_back({std::string(Name(path)), absl::StrCat(operation, " on host tensors"), line, "", sum.first,
                    sum.second, std::string(RemedyOf(path))});
  }
}

}  // namespace

std::vector<SlowRow> SlowRows(const Profile& run) {
  std::vector<SlowRow> rows;
  AddSteps(run, rows);
  AddEvents(run, rows);
  std::stable_sort(rows.begin(), rows.end(), [](const SlowRow& a, const SlowRow& b) { return a.us > b.us; });
  return rows;
}

}  // namespace hlod::report

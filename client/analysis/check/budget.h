// Limits that a program must keep, from a TOML file:
//   peak_bytes = "80GiB"       # sizes: a number of bytes, or with a unit
//   flops = 1.5e15
//   step_seconds = 0.8
// Some estimates are brackets (module_check.h). For peak_bytes, temporary_bytes, traffic_bytes and step_seconds
// the low end is compared, which even a compiler that fuses as much as possible needs. Limits are two-sided:
// a value far below its limit is reported, too, because a loose limit does not detect regressions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hlod::analysis {

// A quantity that a budget may limit, and its unit.
struct Metric {
  enum class Unit { kBytes, kCount, kSeconds };
  std::string_view name;
  Unit unit;
};
const std::vector<Metric>& Metrics();

// Limits, or values, by the metric's name.
using Budget = std::map<std::string, double, std::less<>>;
// Reads a budget file. INVALID_ARGUMENT names the file and the line if a key is not a metric (with the
// nearest metric), or if a limit is negative or not a number (for bytes: not a size either).
absl::StatusOr<Budget> ReadBudget(const std::string& path);

// Rewrites the limits in a budget file to these values, rounded up by less than a hundredth; comments, order
// and everything else stay as they are. A file that does not exist is created, with a limit for every value
// that is not zero. INVALID_ARGUMENT when the file is not a budget, or limits a metric that has no value.
absl::Status UpdateBudget(const std::string& path, const Budget& values);

// A value that is over its limit, or below a half of it.
struct Finding {
  std::string metric;
  double value = 0, limit = 0;
  bool over = false;
};
// Returns true when a value is over its limit.
bool ExceedsAny(const std::vector<Finding>& findings);
// Returns a text such as "flops 1.374e+11 is over 1e+11".
std::string ToString(const Finding& finding);
// Returns the findings for values by the metric's name. INVALID_ARGUMENT when the budget limits a metric that
// has no value.
absl::StatusOr<std::vector<Finding>> Compare(const Budget& budget, const Budget& values);

// "1.5 GiB", "2.4e+12", "0.8 s".
std::string Show(std::string_view metric, double value);

}  // namespace hlod::analysis

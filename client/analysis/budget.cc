// The table of metrics, and files of limits.
#include "client/analysis/budget.h"

#include <toml++/toml.h>

#include <algorithm>

#include "absl/strings/str_format.h"
#include "client/analysis/quantity.h"
#include "common/base/edit_distance.h"
#include "common/base/file.h"
#include "common/base/size.h"
#include "common/base/status.h"

namespace hlod::analysis {
namespace {

using Unit = Metric::Unit;

// Below this part of its limit a value is far from it.
constexpr double kFar = 0.5;

const Metric* Find(std::string_view name) {
  const auto found = std::find_if(Metrics().begin(), Metrics().end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == Metrics().end() ? nullptr : &*found;
}

std::string_view Nearest(std::string_view name) {
  return std::min_element(Metrics().begin(), Metrics().end(),
                          [&](const Metric& a, const Metric& b) {
                            return EditDistance(name, a.name) < EditDistance(name, b.name);
                          })
      ->name;
}

absl::StatusOr<double> ReadLimit(const std::string& path, const Metric& metric, const toml::node& node) {
  if (node.is_number()) {
    const double value = *node.value<double>();
    if (value >= 0) return value;
    return InvalidArgument("%s: %s is %v, and a limit is not negative", path, metric.name, value);
  }
  const std::optional<std::string> text = node.value<std::string>();
  if (!text.has_value() || metric.unit != Unit::kBytes) {
    return InvalidArgument("%s: %s is not a number%s", path, metric.name,
                           metric.unit == Unit::kBytes ? ", nor a size such as \"80GiB\"" : "");
  }
  const absl::StatusOr<int64_t> bytes = ParseSize(*text);
  if (!bytes.ok()) return InvalidArgument("%s: %s: %s", path, metric.name, bytes.status().message());
  return static_cast<double>(*bytes);
}

}  // namespace

const std::vector<Metric>& Metrics() {
  static const auto* const metrics = new std::vector<Metric>{
      {"peak_bytes", Unit::kBytes},      {"argument_bytes", Unit::kBytes}, {"result_bytes", Unit::kBytes},
      {"temporary_bytes", Unit::kBytes}, {"traffic_bytes", Unit::kBytes},  {"flops", Unit::kCount},
      {"transcendentals", Unit::kCount}, {"step_seconds", Unit::kSeconds},
  };
  return *metrics;
}

absl::StatusOr<Budget> ReadBudget(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Budget budget;
  try {
    for (const auto& [key, node] : toml::parse(text, path)) {
      const Metric* const metric = Find(key.str());
      if (metric == nullptr) {
        return InvalidArgument("%s:%d: %s cannot be limited; the nearest that can is %s", path,
                               static_cast<int>(node.source().begin.line), key.str(), Nearest(key.str()));
      }
      ASSIGN_OR_RETURN(budget[std::string(metric->name)], ReadLimit(path, *metric, node));
    }
  } catch (const toml::parse_error& error) {
    return InvalidArgument("%s:%d:%d: %s", path, static_cast<int>(error.source().begin.line),
                           static_cast<int>(error.source().begin.column), error.description());
  }
  return budget;
}

absl::StatusOr<std::vector<Finding>> Compare(const Budget& budget,
                                             const std::map<std::string, double, std::less<>>& values) {
  std::vector<Finding> findings;
  for (const auto& [metric, limit] : budget) {
    const auto value = values.find(metric);
    if (value == values.end())
      return InvalidArgument("the budget limits %s, which has no value without --target", metric);
    if (value->second > limit) findings.push_back({metric, value->second, limit, /*over=*/true});
    else if (value->second < kFar * limit) findings.push_back({metric, value->second, limit, /*over=*/false});
  }
  return findings;
}

std::string Show(std::string_view metric, double value) {
  const Metric* const known = Find(metric);
  if (known != nullptr && known->unit == Unit::kBytes) return BytesText(value);
  if (known != nullptr && known->unit == Unit::kSeconds) return SecondsText(value);
  return CountText(value);
}

}  // namespace hlod::analysis

// The table of metrics, and files of limits.
#include "client/analysis/check/budget.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/analysis/check/quantity.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/base/text/edit_distance.h"
#include "common/base/text/size.h"
#include "common/base/text/toml_text.h"

namespace hlod::analysis {
namespace {

using Unit = Metric::Unit;

// The fraction of its limit below which a value is reported as far from it.
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

std::string LineOf(const std::string& path, const toml::node& node) {
  return absl::StrCat(path, ":", static_cast<int>(node.source().begin.line));
}

absl::StatusOr<double> ReadLimit(const std::string& path, const Metric& metric, const toml::node& node) {
  if (node.is_number()) {
    const double value = *node.value<double>();
    if (value >= 0) return value;
    return InvalidArgument("%s: %s is %g, and a limit is not negative", LineOf(path, node), metric.name,
                           value);
  }
  const std::optional<std::string> text = node.value<std::string>();
  if (!text.has_value() || metric.unit != Unit::kBytes) {
    return InvalidArgument("%s: %s is not a number%s", LineOf(path, node), metric.name,
                           metric.unit == Unit::kBytes ? ", nor a size such as \"80GiB\"" : "");
  }
  const absl::StatusOr<int64_t> bytes = ParseSize(*text);
  if (!bytes.ok())
    return InvalidArgument("%s: %s: %s", LineOf(path, node), metric.name, bytes.status().message());
  return static_cast<double>(*bytes);
}

absl::Status WithoutValue(std::string_view metric) {
  struct Reason {
    std::string_view metric, why;
  };
  static constexpr std::string_view kMesh = "it needs a mesh on a target of known topology",
                                    kModule = "it is a figure of a module, not of a program";
  static constexpr Reason kReasons[] = {
      {"step_seconds", "give --target"},
      {"network_bytes", kMesh},
      {"network_us", kMesh},
      {"graph_breaks", "a module has none, and a program that marks no steps does not show them"},
      {"argument_bytes", kModule},
      {"result_bytes", kModule},
      {"temporary_bytes", kModule},
      {"transcendentals", kModule},
  };
  const auto* const found = std::ranges::find(kReasons, metric, &Reason::metric);
  return InvalidArgument(
      "The budget limits %s, which has no value here: %s.", metric,
      found == std::end(kReasons) ? "it is a figure of a program, not of a module" : found->why);
}

// Returns a limit that the value keeps and that people can read: the value rounded up, with at least three
// digits.
std::string LimitText(const Metric& metric, double value) {
  // Larger values, which programs of long loops have, are written as plain numbers.
  constexpr double kInt64 = 9e18;
  if (metric.unit == Unit::kBytes) {
    for (const int shift : {40, 30, 20, 10}) {
      const double unit = static_cast<double>(int64_t{1} << shift);
      if (value >= 100 * unit && value < kInt64)
        return absl::StrCat("\"", FormatSize(static_cast<int64_t>(std::ceil(value / unit)) << shift), "\"");
    }
  }
  if (metric.unit != Unit::kSeconds && value < 1e15)
    return absl::StrCat(static_cast<int64_t>(std::ceil(value)));
  return absl::StrFormat("%.4g", value * 1.001);
}

// Calls `limit` for each limit of a budget file's text; errors name the file and the line.
absl::Status ForEachLimit(const std::string& path, const std::string& text,
                          absl::FunctionRef<absl::Status(const Metric&, const toml::node&)> limit) {
  try {
    for (const auto& [key, node] : toml::parse(text, path)) {
      const Metric* const metric = Find(key.str());
      if (metric == nullptr) {
        return InvalidArgument("%s: %s cannot be limited; the nearest that can is %s", LineOf(path, node),
                               key.str(), Nearest(key.str()));
      }
      RETURN_IF_ERROR(limit(*metric, node));
    }
  } catch (const toml::parse_error& error) {
    return InvalidArgument("%s:%d:%d: %s", path, static_cast<int>(error.source().begin.line),
                           static_cast<int>(error.source().begin.column), error.description());
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<Metric>& Metrics() {
  static const auto* const metrics = new std::vector<Metric>{
      {"peak_bytes", Unit::kBytes},      {"argument_bytes", Unit::kBytes}, {"result_bytes", Unit::kBytes},
      {"temporary_bytes", Unit::kBytes}, {"traffic_bytes", Unit::kBytes},  {"flops", Unit::kCount},
      {"transcendentals", Unit::kCount}, {"step_seconds", Unit::kSeconds}, {"network_bytes", Unit::kBytes},
      {"network_us", Unit::kCount},      {"upload_bytes", Unit::kBytes},   {"upload_calls", Unit::kCount},
      {"download_bytes", Unit::kBytes},  {"download_calls", Unit::kCount}, {"compiles", Unit::kCount},
      {"executes", Unit::kCount},        {"graph_breaks", Unit::kCount},   {"host_waits", Unit::kCount},
      {"recompiles", Unit::kCount},
  };
  return *metrics;
}

absl::StatusOr<Budget> ReadBudget(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadTomlText(path));
  Budget budget;
  RETURN_IF_ERROR(ForEachLimit(path, text, [&](const Metric& metric, const toml::node& node) -> absl::Status {
    ASSIGN_OR_RETURN(budget[std::string(metric.name)], ReadLimit(path, metric, node));
    return absl::OkStatus();
  }));
  return budget;
}

absl::Status UpdateBudget(const std::string& path, const Budget& values) {
  absl::StatusOr<std::string> text = ReadTomlText(path);
  if (absl::IsNotFound(text.status())) {
    std::string fresh;
    for (const Metric& metric : Metrics()) {
      const auto value = values.find(metric.name);
      if (value != values.end() && value->second > 0)
        absl::StrAppend(&fresh, ToAbsl(metric.name), " = ", LimitText(metric, value->second), "\n");
    }
    return WriteFile(path, fresh);
  }
  if (!text.ok()) return text.status();
  struct Edit {
    toml::source_region where;
    std::string text;
  };
  std::vector<Edit> edits;
  RETURN_IF_ERROR(
      ForEachLimit(path, *text, [&](const Metric& metric, const toml::node& node) -> absl::Status {
        RETURN_IF_ERROR(ReadLimit(path, metric, node).status());
        const auto value = values.find(metric.name);
        if (value == values.end()) return WithoutValue(metric.name);
        edits.push_back({node.source(), LimitText(metric, value->second)});
        return absl::OkStatus();
      }));
  std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  for (const Edit& edit : edits) {
    // A limit is one value on one line. Columns count from 1, in characters; all characters before the value
    // are ASCII.
    std::string& line = lines[edit.where.begin.line - 1];
    if (edit.where.begin.line != edit.where.end.line || edit.where.end.column - 1 > line.size())
      return InvalidArgument("%s:%d: the limit is not on one line", path,
                             static_cast<int>(edit.where.begin.line));
    line.replace(edit.where.begin.column - 1, edit.where.end.column - edit.where.begin.column, edit.text);
  }
  return WriteFile(path, absl::StrJoin(lines, "\n"));
}

absl::StatusOr<std::vector<Finding>> Compare(const Budget& budget, const Budget& values) {
  std::vector<Finding> findings;
  for (const auto& [metric, limit] : budget) {
    const auto value = values.find(metric);
    if (value == values.end()) return WithoutValue(metric);
    if (value->second > limit) findings.push_back({metric, value->second, limit, /*over=*/true});
    else if (value->second < kFar * limit) findings.push_back({metric, value->second, limit, /*over=*/false});
  }
  return findings;
}

bool ExceedsAny(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, &Finding::over);
}

std::string ToString(const Finding& finding) {
  return absl::StrCat(finding.metric, " ", Show(finding.metric, finding.value), " is ",
                      finding.over ? "over " : "less than half of ", Show(finding.metric, finding.limit));
}

std::string Show(std::string_view metric, double value) {
  const Metric* const known = Find(metric);
  if (known != nullptr && known->unit == Unit::kBytes) return BytesText(value);
  if (known != nullptr && known->unit == Unit::kSeconds) return SecondsText(value);
  return CountText(value);
}

}  // namespace hlod::analysis

// Reads XLA_METRICS_FILE: reports of metrics and counters, each summed since the program began.
//   Metric: CompileTime
//     TotalSamples: 202
//     Accumulator: 06m09s401ms746.001us
//     Percentiles: 1%=001ms32.778us; ...; 50%=...
//   Counter: CachedCompile
//     Value: 200
#include "absl/strings/numbers.h"
#include "client/analysis/torch_xla/torch_xla_read.h"

namespace hlod::analysis::torch_xla {
namespace {

constexpr std::string_view kMetric = "Metric:", kCounter = "Counter:";

struct Unit {
  std::string_view name;
  double size;
};
// A time may be a sum of several units; a size in bytes has one unit.
constexpr Unit kUnits[] = {{"d", 86400},
                           {"h", 3600},
                           {"m", 60},
                           {"s", 1},
                           {"ms", 1e-3},
                           {"us", 1e-6},
                           {"ns", 1e-9},
                           {"B", 1},
                           {"KB", 1024},
                           {"MB", 1 << 20},
                           {"GB", 1 << 30},
                           {"TB", 1024.0 * (1 << 30)},
                           {"PB", 1048576.0 * (1 << 30)}};

// Parses "01m03s028ms571.841us", "3.80GB", "12.00". Returns nullopt for other text.
std::optional<double> ParseQuantity(std::string_view text) {
  double sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const size_t digits = std::min(text.find_first_not_of("0123456789.-+e"), text.size());
    const std::string_view rest = text.substr(digits);
    const std::string_view name = rest.substr(0, std::min(rest.find_first_of("0123456789.-"), rest.size()));
    double number = 0, size = name.empty() ? 1 : 0;
    for (const Unit& unit : kUnits) size = unit.name == name ? unit.size : size;
    if (size == 0 || !absl::SimpleAtod(ToAbsl(text.substr(0, digits)), &number)) return std::nullopt;
    sum += number * size;
    text = rest.substr(name.size());
  }
  return sum;
}

absl::StatusOr<double> ReadQuantity(const Lines& lines, size_t number, std::string_view name,
                                    std::string_view text) {
  if (const std::optional<double> value = ParseQuantity(text); value.has_value()) return *value;
  return lines.ErrorAt(number, "%s is \"%s\", which is not a time, a size or a number", name, text);
}

// Returns the 50% of "1%=2ms; 50%=3ms".
std::optional<double> Median(std::string_view percentiles) {
  for (const absl::string_view part : absl::StrSplit(ToAbsl(percentiles), "; ")) {
    if (const auto value = After(FromAbsl(part), "50%="); value.has_value()) return ParseQuantity(*value);
  }
  return std::nullopt;
}

}  // namespace

bool AtMetric(const Lines& lines) {
  const std::string_view line = lines.Peek();
  return line.starts_with(kMetric) || line.starts_with(kCounter) || line.starts_with("[MetricsData; step=");
}

absl::Status ReadMetric(Lines& lines, Metrics& metrics, Dump& dump) {
  const size_t begin = lines.number();
  const std::string_view head = lines.Take();
  if (head.starts_with('[')) return absl::OkStatus();
  const std::optional<std::string_view> counter = After(head, kCounter);
  const std::string name(counter.has_value() ? *counter : *After(head, kMetric));
  Metric metric;
  std::optional<int64_t> value, samples;
  bool whole = false;  // True when the last line that the report needs was read.
  while (!lines.AtEnd() && lines.Peek().starts_with("  ")) {
    const size_t number = lines.number();
    const std::string_view row = lines.Take().substr(2);
    if (lines.cut()) break;
    if (const auto count = After(row, "Value:"); count.has_value() && counter.has_value()) {
      ASSIGN_OR_RETURN(value, ReadCount(lines, number, name, *count));
      whole = true;
    } else if (const auto total = After(row, "TotalSamples:"); total.has_value()) {
      ASSIGN_OR_RETURN(samples, ReadCount(lines, number, name, *total));
    } else if (const auto sum = After(row, "Accumulator:"); sum.has_value()) {
      ASSIGN_OR_RETURN(metric.total, ReadQuantity(lines, number, name, *sum));
      whole = samples.has_value();
    } else if (const auto percentiles = After(row, "Percentiles:"); percentiles.has_value()) {
      metric.median = Median(*percentiles);
    }
  }
  if (!whole) {
    dump.problems.push_back(absl::StrCat(lines.At(begin), ": ", counter.has_value() ? "counter " : "metric ",
                                         name, " is cut off",
                                         "; what an earlier report says of it is used, if there is one"));
    return absl::OkStatus();
  }
  if (counter.has_value()) {
    metrics.counters[name] = *value;
  } else {
    metric.samples = *samples;
    metrics.metrics[name] = metric;
  }
  // A report names each metric once, so the metric that was read most often was in all reports.
  metrics.reports = std::max(metrics.reports, ++metrics.seen[name]);
  return absl::OkStatus();
}

}  // namespace hlod::analysis::torch_xla

// Counters and timings of this process and of the daemon's work for it, as text in PyTorch/XLA's layout and
// names, and as data. metrics.inc lists them. The daemon's measurements are fetched over the open
// connections, which waits for the commands sent before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hlod {

enum class MetricUnit : uint8_t { kTime, kBytes, kNumber };  // kTime: microseconds.

struct MetricSample {
  double at_us = 0;  // The time; only differences are meaningful.
  double value = 0;
};

struct MetricData {
  MetricUnit unit = MetricUnit::kTime;
  int64_t total_samples = 0;          // The number of samples since the start, or since ClearMetrics().
  double accumulator = 0;             // The sum of all samples.
  std::vector<MetricSample> samples;  // The latest samples, at most 1,024, oldest first.

  // Returns the sample below which the part `fraction` of `samples` lies. REQUIRES: `samples` is not empty
  // and 0 <= fraction < 1.
  double Percentile(double fraction) const;
};

// Return the names, as the report prints them, of metrics that have samples, and of counters that are not 0.
std::vector<std::string> MetricNames();
std::vector<std::string> CounterNames();
// Return the metric or counter of that name, PyTorch/XLA's or hlod's: "OutboundData" is
// "host_to_device_bytes". nullopt for a metric without samples, a counter of 0, or an unknown name.
std::optional<MetricData> GetMetric(std::string_view name);
std::optional<int64_t> GetCounter(std::string_view name);

// Formats all metrics and counters:
//   Metric: CompileTime
//     TotalSamples: 2
//     Accumulator: 01s028ms571.841us
//     ValueRate: 257ms142.960us / second
//     Rate: 0.5 / second
//     Percentiles: 1%=...; 5%=...; 10%=...; 20%=...; 50%=...; 80%=...; 90%=...; 95%=...; 99%=...
//   Counter: MarkStep
//     Value: 2
std::string MetricsReport();
// Formats only the named ones. Without names: CompileTime, ExecuteTime, TransferToDeviceTime,
// TransferFromDeviceTime; CachedCompile, MarkStep.
std::string ShortMetricsReport(const std::vector<std::string>& counters = {},
                               const std::vector<std::string>& metrics = {});

// Reset the metrics, or the counters, to 0. The daemon's account does not change.
void ClearMetrics();
void ClearCounters();

}  // namespace hlod

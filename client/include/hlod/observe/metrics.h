// Counters and timings of this process and of what the daemon did for it, in PyTorch/XLA's layout and by its
// names; and as data. metrics.inc lists them. What the daemon measured is asked for, over the connections
// that are open: that waits for what was sent before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hlod {

enum class MetricUnit : uint8_t { kTime, kBytes, kNumber };  // kTime: microseconds.

struct MetricSample {
  double at_us = 0;  // When; only differences mean something.
  double value = 0;
};

struct MetricData {
  MetricUnit unit = MetricUnit::kTime;
  int64_t total_samples = 0;          // Since the start, or since ClearMetrics().
  double accumulator = 0;             // Their sum.
  std::vector<MetricSample> samples;  // The last ones, at most 1,024, oldest first.

  // The sample below which the part `fraction` of `samples` lies. REQUIRES: some, 0 <= fraction < 1.
  double Percentile(double fraction) const;
};

// Names as the report prints them: of metrics that have samples, of counters that are not 0.
std::vector<std::string> MetricNames();
std::vector<std::string> CounterNames();
// By PyTorch/XLA's name or by hlod's: "OutboundData" is "host_to_device_bytes". Nothing for one that has no
// sample, is 0, or is not known.
std::optional<MetricData> GetMetric(std::string_view name);
std::optional<int64_t> GetCounter(std::string_view name);

// All of them:
//   Metric: CompileTime
//     TotalSamples: 2
//     Accumulator: 01s028ms571.841us
//     ValueRate: 257ms142.960us / second
//     Rate: 0.5 / second
//     Percentiles: 1%=...; 5%=...; 10%=...; 20%=...; 50%=...; 80%=...; 90%=...; 95%=...; 99%=...
//   Counter: MarkStep
//     Value: 2
std::string MetricsReport();
// Of these alone. Without names: CompileTime, ExecuteTime, TransferToDeviceTime, TransferFromDeviceTime;
// CachedCompile, MarkStep.
std::string ShortMetricsReport(const std::vector<std::string>& counters = {},
                               const std::vector<std::string>& metrics = {});

// From here on they count from 0. What the daemon's account says elsewhere stays.
void ClearMetrics();
void ClearCounters();

}  // namespace hlod

// The client's own metrics.
#pragma once

#include <cstdint>
#include <memory>

namespace hlod::runtime {

class Session;

enum class Metric : uint8_t {
#define HLOD_METRIC(id, name, alias, unit, meaning) id,
#include "hlod/observe/metrics.inc"
};
enum class MetricCounter : uint8_t {
#define HLOD_METRIC_COUNTER(id, name, alias, meaning) id,
#include "hlod/observe/metrics.inc"
};

// Adds a sample with the current time. Thread-safe; does nothing in a forked child.
void AddSample(Metric metric, double value);
void CountMetric(MetricCounter counter, int64_t amount = 1);

// Includes the session's account in the report as long as the session is open.
void ReportSession(const std::shared_ptr<Session>& session);

}  // namespace hlod::runtime

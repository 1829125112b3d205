// Converts messages of administration to families of metrics.
#include "server/metrics/collector.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "common/base/kinds.h"
#include "server/session/admin.h"

namespace hlod::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

enum class Unit { kNumber, kBytes, kMicroseconds };  // The units in common/base/stats.inc.

// Returns a figure as Prometheus has it: times are in seconds.
double In(Unit unit, int64_t figure) {
  return unit == Unit::kMicroseconds ? static_cast<double>(figure) / 1e6 : static_cast<double>(figure);
}

// Returns the version of "0.3 pid 17": a process's number would make every start another series.
std::string VersionOf(const std::string& daemon) { return daemon.substr(0, daemon.find(" pid ")); }

void Add(MetricFamily& family, double value, std::vector<ClientMetric::Label> labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  if (family.type == MetricType::Counter) metric.counter.value = value;
  if (family.type == MetricType::Gauge) metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

template <typename Message>
struct Metric {
  const char* name;
  MetricType type;
  double (*value)(const Message& message);
  const char* help;
};
constexpr Metric<v1::DaemonStats> kDaemonMetrics[] = {
#define HLOD_DAEMON_FIGURE(name, unit, type, metric, meaning)                                           \
  {metric, MetricType::type, [](const v1::DaemonStats& stats) { return In(Unit::unit, stats.name()); }, \
   meaning},
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) \
  {metric, MetricType::Counter,                           \
   [](const v1::DaemonStats& stats) { return In(Unit::unit, stats.totals().name()); }, meaning},
#include "common/base/stats.inc"
};
constexpr Metric<v1::Device> kDeviceMetrics[] = {
#define HLOD_DEVICE_FIGURE(name, unit, type, metric, meaning) \
  {metric, MetricType::type, [](const v1::Device& device) { return In(Unit::unit, device.name()); }, meaning},
#include "common/base/stats.inc"
};

// Every device with every cause is a series from the start: a rate over a series that appears with its first
// transfer would miss that transfer.
void AddTransfers(const v1::DaemonStats& stats, const v1::DeviceList& devices,
                  std::vector<MetricFamily>& families) {
  MetricFamily bytes{.name = "hlod_transferred_bytes_total",
                     .help = "Bytes that crossed between host and device, or were copied on the device.",
                     .type = MetricType::Counter,
                     .metric = {}};
  MetricFamily calls{.name = "hlod_transfers_total",
                     .help = "In how many transfers.",
                     .type = MetricType::Counter,
                     .metric = {}};
  std::map<std::pair<uint32_t, int>, v1::Amount> sums;  // The amounts by device and cause.
  for (const v1::LedgerRow& row : stats.totals().rows()) {
    v1::Amount& sum = sums[{row.device(), row.cause()}];
    sum.set_bytes(sum.bytes() + row.amount().bytes());
    sum.set_calls(sum.calls() + row.amount().calls());
  }
  const auto add = [&](uint32_t device, Cause cause) {
    const v1::Amount sum = sums[{device, static_cast<int>(cause)}];
    const std::vector<ClientMetric::Label> labels = {{"device", std::to_string(device)},
                                                     {"direction", std::string(Name(DirectionOf(cause)))},
                                                     {"cause", std::string(Name(cause))}};
    Add(bytes, static_cast<double>(sum.bytes()), labels);
    Add(calls, static_cast<double>(sum.calls()), labels);
  };
  for (const v1::Device& device : devices.devices()) {
#define HLOD_CAUSE(id, number, text, direction, meaning) add(device.ordinal(), Cause::id);
#include "common/base/errors/causes.inc"
#undef HLOD_CAUSE
  }
  families.push_back(std::move(bytes));
  families.push_back(std::move(calls));
}

}  // namespace

std::vector<MetricFamily> Collector::Collect() const {
  const MutexLock lock(&mu_);
  if (const absl::Time now = clock_.Now(); now - asked_ >= kFresh) {
    families_ = Ask();
    asked_ = now;
  }
  return families_;
}

std::vector<MetricFamily> Collector::Ask() const {
  const v1::DaemonStats stats = registry_.Stats();
  v1::DeviceList devices;
  if (const absl::StatusOr<std::string> answer = session::AnswerAdmin(registry_, "ListDevices", "");
      answer.ok()) {
    devices.ParseFromString(*answer);
  }
  std::vector<MetricFamily> families;
  families.push_back({"hlod_build_info", "1; the label says which hlod this is.", MetricType::Gauge, {}});
  Add(families.back(), 1, {{"version", VersionOf(stats.version())}});
  for (const Metric<v1::DaemonStats>& row : kDaemonMetrics) {
    families.push_back({row.name, row.help, row.type, {}});
    Add(families.back(), row.value(stats));
  }
  for (const Metric<v1::Device>& row : kDeviceMetrics) {
    families.push_back({row.name, row.help, row.type, {}});
    for (const v1::Device& device : devices.devices())
      Add(families.back(), row.value(device), {{"device", std::to_string(device.ordinal())}});
  }
  AddTransfers(stats, devices, families);
  return families;
}

}  // namespace hlod::metrics

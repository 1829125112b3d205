// The metrics: rings of samples, counters, and figures from the accounts of the open sessions.
#include "hlod/observe/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/connection/process.h"
#include "client/runtime/observe/events.h"
#include "client/runtime/observe/metrics.h"
#include "client/runtime/session/session.h"
#include "common/base/text/strings.h"
#include "hlod/observe/account.h"

namespace hlod {
namespace runtime {
namespace {

struct MetricRow {
  std::string_view name, alias;
  MetricUnit unit;
  std::string_view reported() const { return alias.empty() ? name : alias; }
};
constexpr MetricRow kMetrics[] = {
#define HLOD_METRIC(id, name, alias, unit, meaning) {name, alias, MetricUnit::unit},
#include "hlod/observe/metrics.inc"
};
struct CounterRow {
  std::string_view name, alias;
  std::string_view reported() const { return alias.empty() ? name : alias; }
};
constexpr CounterRow kCounters[] = {
#define HLOD_METRIC_COUNTER(id, name, alias, meaning) {name, alias},
#include "hlod/observe/metrics.inc"
};
constexpr size_t kMetricCount = std::size(kMetrics), kCounterCount = std::size(kCounters);
constexpr size_t kSamplesMax = 1024;

// Returns the index of the row with that name or alias, or -1.
template <typename Rows>
int Find(const Rows& rows, std::string_view name) {
  for (size_t i = 0; i < std::size(rows); ++i) {
    if (!name.empty() && (name == rows[i].name || name == rows[i].alias)) return static_cast<int>(i);
  }
  return -1;
}

// The last samples, and the number and sum of all.
struct Ring {
  int64_t total = 0;
  double sum = 0;
  std::vector<MetricSample> samples;  // The oldest sample is at total % kSamplesMax when the ring is full.

  void Add(const MetricSample& sample) {
    if (samples.size() < kSamplesMax) samples.push_back(sample);
    else samples[static_cast<size_t>(total) % kSamplesMax] = sample;
    ++total;
    sum += sample.value;
  }
  std::vector<MetricSample> InOrder() const {
    std::vector<MetricSample> ordered = samples;
    if (samples.size() == kSamplesMax)
      std::rotate(ordered.begin(), ordered.begin() + total % static_cast<int64_t>(kSamplesMax),
                  ordered.end());
    return ordered;
  }
};

// The figures of a session's account at the time when the metrics were cleared.
struct Baseline {
  int64_t compiles = 0, compile_us = 0, persistent_hits = 0, executes = 0, execute_us = 0, queue_us = 0;
  int64_t executes_counted = 0, compiles_counted = 0, hits_counted = 0;  // The figures for the counters.
};

class MetricStore {
 public:
  static MetricStore& Get() {
    static auto* const store = new MetricStore;
    return *store;
  }

  void Add(Metric metric, double value) {
    if (!owner_.IsThisOne()) return;
    const MetricSample sample{start_.us(), value};
    absl::MutexLock lock(&mu_);
    rings_[static_cast<size_t>(metric)].Add(sample);
  }
  void Count(MetricCounter counter, int64_t amount) {
    if (!owner_.IsThisOne()) return;
    absl::MutexLock lock(&mu_);
    counters_[static_cast<size_t>(counter)] += amount;
  }
  void Report(const std::shared_ptr<Session>& session) {
    if (!owner_.IsThisOne()) return;
    absl::MutexLock lock(&mu_);
    std::erase_if(sessions_, [](const auto& entry) { return entry.first.expired(); });
    sessions_.emplace_back(session, Baseline{});
  }

  struct Snapshot {
    std::array<MetricData, kMetricCount> metrics;
    std::array<int64_t, kCounterCount> counters{};
  };
  Snapshot Take() {
    Snapshot snapshot;
    std::vector<std::pair<std::shared_ptr<Session>, Baseline>> sessions;
    if (!owner_.IsThisOne()) return snapshot;
    {
      absl::MutexLock lock(&mu_);
      for (size_t i = 0; i < kMetricCount; ++i)
        snapshot.metrics[i] = {kMetrics[i].unit, rings_[i].total, rings_[i].sum, rings_[i].InOrder()};
      snapshot.counters = counters_;
      for (const auto& [weak, baseline] : sessions_) {
        if (auto session = weak.lock()) sessions.emplace_back(std::move(session), baseline);
      }
    }
    for (const auto& [session, baseline] : sessions) AddAccount(session, baseline, snapshot);
    return snapshot;
  }

  void ClearSamples() {
    const auto now = Accounts();
    absl::MutexLock lock(&mu_);
    rings_ = {};
    for (auto& [weak, baseline] : sessions_) {
      const auto found = now.find(weak.lock().get());
      if (found == now.end()) continue;
      const SessionAccount& account = found->second;
      const SessionStats& stats = account.stats;
      baseline.compiles = stats.compiles;
      baseline.compile_us = CompiledUs(account);
      baseline.executes = stats.executes;
      baseline.execute_us = stats.execute_us;
      baseline.queue_us = stats.queue_us;
    }
  }
  void ClearCounts() {
    const auto now = Accounts();
    absl::MutexLock lock(&mu_);
    counters_ = {};
    for (auto& [weak, baseline] : sessions_) {
      const auto found = now.find(weak.lock().get());
      if (found == now.end()) continue;
      baseline.executes_counted = found->second.stats.executes;
      baseline.compiles_counted = found->second.stats.compiles;
      baseline.hits_counted = found->second.stats.persistent_cache_hits;
    }
  }

 private:
  static int64_t CompiledUs(const SessionAccount& account) {
    int64_t sum = 0;
    for (const CompileRow& row : account.compiles) {
      if (row.outcome == CompileOutcome::kCompiled) sum += row.compile_us;
    }
    return sum;
  }

  std::map<const Session*, SessionAccount> Accounts() {
    std::map<const Session*, SessionAccount> accounts;
    if (!owner_.IsThisOne()) return accounts;
    std::vector<std::shared_ptr<Session>> sessions;
    {
      absl::MutexLock lock(&mu_);
      for (const auto& [weak, baseline] : sessions_) {
        if (auto session = weak.lock()) sessions.push_back(std::move(session));
      }
    }
    for (const std::shared_ptr<Session>& session : sessions) {
      absl::StatusOr<SessionAccount> account = GetAccount(Client(session), Caller{});
      if (account.ok()) accounts[session.get()] = *std::move(account);
    }
    return accounts;
  }

  // Adds the daemon's measurements of a session since `baseline`. A lost session is skipped.
  static void AddAccount(const std::shared_ptr<Session>& session, const Baseline& baseline, Snapshot& to) {
    const absl::StatusOr<SessionAccount> account = GetAccount(Client(session), Caller{});
    if (!account.ok()) return;
    const SessionStats& stats = account->stats;
    const auto metric = [&](Metric m) -> MetricData& { return to.metrics[static_cast<size_t>(m)]; };
    const auto counter = [&](MetricCounter c) -> int64_t& { return to.counters[static_cast<size_t>(c)]; };
    std::vector<MetricSample> compiled;
    for (const CompileRow& row : account->compiles) {
      if (row.outcome != CompileOutcome::kCompiled || row.others) continue;
      compiled.push_back({static_cast<double>(row.at_us), static_cast<double>(row.compile_us)});
    }
    std::reverse(compiled.begin(), compiled.end());
    std::vector<MetricSample> queued, ran;
    for (const RunSample& sample : account->samples) {
      queued.push_back({static_cast<double>(sample.at_us), static_cast<double>(sample.queue_us)});
      ran.push_back({static_cast<double>(sample.at_us), static_cast<double>(sample.run_us)});
    }
    const auto add = [](MetricData& data, int64_t count, int64_t sum, std::vector<MetricSample> samples) {
      if (count <= 0) return;
      const size_t kept = std::min({samples.size(), static_cast<size_t>(count), kSamplesMax});
      data.total_samples += count;
      data.accumulator += static_cast<double>(sum);
      data.samples.insert(data.samples.end(), samples.end() - static_cast<ptrdiff_t>(kept), samples.end());
    };
    add(metric(Metric::kCompileTime), stats.compiles - baseline.compiles,
        CompiledUs(*account) - baseline.compile_us, std::move(compiled));
    add(metric(Metric::kExecuteTime), stats.executes - baseline.executes,
        stats.execute_us - baseline.execute_us, std::move(ran));
    add(metric(Metric::kQueueTime), stats.executes - baseline.executes, stats.queue_us - baseline.queue_us,
        std::move(queued));
    counter(MetricCounter::kExecutes) += stats.executes - baseline.executes_counted;
    counter(MetricCounter::kPersistentHits) += stats.persistent_cache_hits - baseline.hits_counted;
    counter(MetricCounter::kPersistentMisses) += stats.compiles - baseline.compiles_counted;
  }

  const OwnerProcess owner_;
  const Stopwatch start_;
  absl::Mutex mu_;
  std::array<Ring, kMetricCount> rings_ ABSL_GUARDED_BY(mu_);
  std::array<int64_t, kCounterCount> counters_ ABSL_GUARDED_BY(mu_){};
  std::vector<std::pair<std::weak_ptr<Session>, Baseline>> sessions_ ABSL_GUARDED_BY(mu_);
};

// "01m03s028ms571.841us"
std::string TimeText(double us) {
  struct Part {
    const char* suffix;
    double us;
  };
  static constexpr Part kParts[] = {{"d", 86400e6}, {"h", 3600e6}, {"m", 60e6}, {"s", 1e6}};
  std::string text;
  for (const Part& part : kParts) {
    const double count = std::floor(us / part.us);
    if (count < 1 && text.empty()) continue;
    absl::StrAppendFormat(&text, "%02.0f%s", count, part.suffix);
    us -= count * part.us;
  }
  if (const double ms = std::floor(us / 1e3); ms >= 1 || !text.empty()) {
    absl::StrAppendFormat(&text, "%03.0fms", ms);
    us -= ms * 1e3;
  }
  absl::StrAppendFormat(&text, "%07.3fus", us);
  return text;
}

// "3.80GB"
std::string BytesText(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return absl::StrFormat("%.2f%s", bytes, kUnits[unit]);
}

std::string Text(MetricUnit unit, double value) {
  switch (unit) {
    case MetricUnit::kTime: return TimeText(value);
    case MetricUnit::kBytes: return BytesText(value);
    case MetricUnit::kNumber: return absl::StrFormat("%.2f", value);
  }
  return "";
}

void AppendMetric(std::string_view name, const MetricData& data, std::string& text) {
  absl::StrAppend(&text, "Metric: ", ToAbsl(name), "\n  TotalSamples: ", data.total_samples,
                  "\n  Accumulator: ", Text(data.unit, data.accumulator), "\n");
  if (data.samples.empty()) return;
  double total = 0;
  double first = std::numeric_limits<double>::max(), last = std::numeric_limits<double>::lowest();
  for (const MetricSample& sample : data.samples) {
    total += sample.value;
    first = std::min(first, sample.at_us);
    last = std::max(last, sample.at_us);
  }
  if (const double seconds = (last - first) / 1e6; seconds > 0) {
    absl::StrAppend(&text, "  ValueRate: ", Text(data.unit, total / seconds),
                    " / second\n  Rate: ", static_cast<double>(data.samples.size()) / seconds, " / second\n");
  }
  absl::StrAppend(&text, "  Percentiles: ");
  const char* separator = "";
  for (const int percent : {1, 5, 10, 20, 50, 80, 90, 95, 99}) {
    absl::StrAppend(&text, separator, percent, "%=", Text(data.unit, data.Percentile(percent / 100.0)));
    separator = "; ";
  }
  absl::StrAppend(&text, "\n");
}

void AppendCounter(std::string_view name, int64_t value, std::string& text) {
  absl::StrAppend(&text, "Counter: ", ToAbsl(name), "\n  Value: ", value, "\n");
}

}  // namespace

void AddSample(Metric metric, double value) { MetricStore::Get().Add(metric, value); }
void CountMetric(MetricCounter counter, int64_t amount) { MetricStore::Get().Count(counter, amount); }
void ReportSession(const std::shared_ptr<Session>& session) { MetricStore::Get().Report(session); }

}  // namespace runtime

using runtime::kCounters;
using runtime::kMetrics;
using runtime::MetricStore;

double MetricData::Percentile(double fraction) const {
  std::vector<double> values;
  for (const MetricSample& sample : samples) values.push_back(sample.value);
  const auto at = values.begin() + static_cast<ptrdiff_t>(fraction * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  const MetricStore::Snapshot snapshot = MetricStore::Get().Take();
  for (size_t i = 0; i < std::size(kMetrics); ++i) {
    if (snapshot.metrics[i].total_samples > 0) names.emplace_back(kMetrics[i].reported());
  }
  return names;
}

std::vector<std::string> CounterNames() {
  std::vector<std::string> names;
  const MetricStore::Snapshot snapshot = MetricStore::Get().Take();
  for (size_t i = 0; i < std::size(kCounters); ++i) {
    if (snapshot.counters[i] != 0) names.emplace_back(kCounters[i].reported());
  }
  return names;
}

std::optional<MetricData> GetMetric(std::string_view name) {
  const int row = runtime::Find(kMetrics, name);
  if (row < 0) return std::nullopt;
  MetricData data = MetricStore::Get().Take().metrics[static_cast<size_t>(row)];
  if (data.total_samples == 0) return std::nullopt;
  return data;
}

std::optional<int64_t> GetCounter(std::string_view name) {
  const int row = runtime::Find(kCounters, name);
  if (row < 0) return std::nullopt;
  const int64_t value = MetricStore::Get().Take().counters[static_cast<size_t>(row)];
  return value == 0 ? std::nullopt : std::optional<int64_t>(value);
}

std::string MetricsReport() {
  std::string text;
  const MetricStore::Snapshot snapshot = MetricStore::Get().Take();
  for (size_t i = 0; i < std::size(kMetrics); ++i) {
    if (snapshot.metrics[i].total_samples > 0)
      runtime::AppendMetric(kMetrics[i].reported(), snapshot.metrics[i], text);
  }
  for (size_t i = 0; i < std::size(kCounters); ++i) {
    if (snapshot.counters[i] != 0)
      runtime::AppendCounter(kCounters[i].reported(), snapshot.counters[i], text);
  }
  return text;
}

std::string ShortMetricsReport(const std::vector<std::string>& counters,
                               const std::vector<std::string>& metrics) {
  static const auto* const all_metrics = new std::vector<std::string>{
      "CompileTime", "ExecuteTime", "TransferToDeviceTime", "TransferFromDeviceTime"};
  static const auto* const all_counters = new std::vector<std::string>{"CachedCompile", "MarkStep"};
  const bool all = counters.empty() && metrics.empty();
  std::string text;
  const MetricStore::Snapshot snapshot = MetricStore::Get().Take();
  for (const std::string& name : all ? *all_metrics : metrics) {
    const int row = runtime::Find(kMetrics, name);
    if (row < 0 || snapshot.metrics[static_cast<size_t>(row)].total_samples == 0) continue;
    runtime::AppendMetric(kMetrics[row].reported(), snapshot.metrics[static_cast<size_t>(row)], text);
  }
  for (const std::string& name : all ? *all_counters : counters) {
    const int row = runtime::Find(kCounters, name);
    if (row < 0 || snapshot.counters[static_cast<size_t>(row)] == 0) continue;
    runtime::AppendCounter(kCounters[row].reported(), snapshot.counters[static_cast<size_t>(row)], text);
  }
  return text;
}

void ClearMetrics() { MetricStore::Get().ClearSamples(); }
void ClearCounters() { MetricStore::Get().ClearCounts(); }

}  // namespace hlod

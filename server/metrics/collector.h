// The daemon's figures as Prometheus' metrics, made from the answers of administration, so that they equal
// the ledger's. metrics.inc lists them. Further metrics are hlod_transferred_bytes_total and
// hlod_transfers_total, by device, direction and cause, and hlod_build_info.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"
#include "server/device/clock.h"
#include "server/session/registry.h"

namespace hlod::metrics {

// Thread-safe.
class Collector : public prometheus::Collectable {
 public:
  // The age from which on figures are fetched again: for any frequency of Prometheus' scrapes, the sessions
  // are asked at most a few times a second.
  static constexpr absl::Duration kFresh = absl::Milliseconds(250);

  // Both must outlive this object.
  Collector(session::Registry& registry, const Clock& clock) : registry_(registry), clock_(clock) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::vector<prometheus::MetricFamily> Ask() const;

  session::Registry& registry_;
  const Clock& clock_;
  mutable Mutex mu_;
  mutable std::vector<prometheus::MetricFamily> families_ ABSL_GUARDED_BY(mu_);
  mutable absl::Time asked_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

}  // namespace hlod::metrics

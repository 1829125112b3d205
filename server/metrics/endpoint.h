// Where Prometheus asks: HTTP on the loopback interface, in threads that nothing else waits for.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/endpoint.h"
#include "server/metrics/collector.h"

namespace prometheus {
class Exposer;
}

namespace hlod::metrics {

// An address for metrics: "127.0.0.1:9464". INVALID_ARGUMENT for one that is not TCP on the loopback
// interface: nothing identifies who asks.
absl::StatusOr<rpc::Endpoint> ParseAddress(const std::string& text);

// Answers GET /metrics until it is destroyed. Two scrapers are answered at once and a few more wait; one that
// asks or reads slowly is given up after kSlowest.
class Endpoint {
 public:
  static constexpr absl::Duration kSlowest = absl::Seconds(5);

  // Both outlive it. UNAVAILABLE naming the address when it cannot be listened on.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Start(const std::string& address,
                                                         session::Registry& registry, const Clock& clock);
  ~Endpoint();

  // "http://127.0.0.1:9464/metrics", with the port that was chosen.
  const std::string& url() const { return url_; }

 private:
  Endpoint() = default;
  std::shared_ptr<Collector> collector_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  std::string url_;
};

}  // namespace hlod::metrics

// Where Prometheus asks: HTTP on the loopback interface, in a thread that nothing else waits for.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/endpoint.h"
#include "server/metrics/collector.h"
#include "server/metrics/page_server.h"

namespace hlod::metrics {

// An address for metrics: "127.0.0.1:9464". INVALID_ARGUMENT for one that is not TCP on the loopback
// interface: nothing identifies who asks.
absl::StatusOr<rpc::Endpoint> ParseAddress(const std::string& text);

// Answers GET /metrics until it is destroyed (page_server.h: a few at once, to the loopback interface's
// names). One that asks or reads slowly is given up after kSlowest.
class Endpoint {
 public:
  static constexpr absl::Duration kSlowest = absl::Seconds(5);

  // Both outlive it. UNAVAILABLE naming the address when it cannot be listened on.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Start(const std::string& address,
                                                         session::Registry& registry, const Clock& clock);

  // "http://127.0.0.1:9464/metrics", with the port that was chosen.
  const std::string& url() const { return url_; }

 private:
  Endpoint() = default;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<PageServer> server_;  // Ends before what it asks.
  std::string url_;
};

}  // namespace hlod::metrics

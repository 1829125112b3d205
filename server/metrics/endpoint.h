// The endpoint that Prometheus scrapes: HTTP on the loopback interface, in a thread of its own.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/endpoint.h"
#include "server/metrics/collector.h"
#include "server/metrics/page_server.h"

namespace hlod::metrics {

// Parses an address for metrics: "127.0.0.1:9464". Returns INVALID_ARGUMENT unless it is TCP on the loopback
// interface, because requests are not authenticated.
absl::StatusOr<rpc::Endpoint> ParseAddress(const std::string& text);

// Answers GET /metrics until it is destroyed (page_server.h: a few connections at once, to the loopback
// interface's names). A client that sends or reads slowly is dropped after kSlowest.
class Endpoint {
 public:
  static constexpr absl::Duration kSlowest = absl::Seconds(5);

  // Both must outlive this object. Returns UNAVAILABLE naming the address if it cannot listen there.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Start(const std::string& address,
                                                         session::Registry& registry, const Clock& clock);

  // Returns "http://127.0.0.1:9464/metrics", with the port that was chosen.
  const std::string& url() const { return url_; }

 private:
  Endpoint() = default;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<PageServer> server_;  // Declared after the collector, so that it ends first.
  std::string url_;
};

}  // namespace hlod::metrics

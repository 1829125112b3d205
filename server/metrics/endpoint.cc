// prometheus-cpp's exposer, with bounds.
#include "server/metrics/endpoint.h"

#include <prometheus/exposer.h>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace hlod::metrics {

absl::StatusOr<rpc::Endpoint> ParseAddress(const std::string& text) {
  absl::StatusOr<rpc::Endpoint> endpoint = rpc::ParseEndpoint(text);
  if (!endpoint.ok() || endpoint->kind != rpc::Endpoint::Kind::kTcp || !endpoint->IsLoopback()) {
    return InvalidArgument(
        "\"%s\" is not HOST:PORT of the loopback interface, and metrics are plain HTTP without a password: "
        "to reach them from elsewhere, put a proxy with TLS before them",
        text);
  }
  // The server below takes numbers only.
  if (endpoint->host == "localhost") endpoint->host = "127.0.0.1";
  return endpoint;
}

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Start(const std::string& address,
                                                          session::Registry& registry, const Clock& clock) {
  ASSIGN_OR_RETURN(const rpc::Endpoint endpoint, ParseAddress(address));
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  const std::string host = v6 ? absl::StrCat("[", endpoint.host, "]") : endpoint.host;
  const std::string slowest = std::to_string(absl::ToInt64Milliseconds(kSlowest));
  std::unique_ptr<Endpoint> started(new Endpoint);
  try {
    started->exposer_ = std::make_unique<prometheus::Exposer>(std::vector<std::string>{
        "listening_ports", absl::StrCat(host, ":", endpoint.port), "num_threads", "2", "connection_queue",
        "8", "listen_backlog", "8", "max_request_size", "8192", "request_timeout_ms", slowest,
        "keep_alive_timeout_ms", "0", "linger_timeout_ms", "0"});
  } catch (const std::exception& e) {
    return absl::UnavailableError(absl::StrCat(
        "metrics_listen: ", address, " cannot be listened on; another process may do so: ", e.what()));
  }
  started->collector_ = std::make_shared<Collector>(registry, clock);
  started->exposer_->RegisterCollectable(started->collector_);
  started->url_ =
      absl::StrCat("http://", host, ":", started->exposer_->GetListeningPorts().front(), "/metrics");
  return started;
}

// The threads end first.
Endpoint::~Endpoint() { exposer_.reset(); }

}  // namespace hlod::metrics

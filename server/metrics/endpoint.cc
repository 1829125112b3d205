// Serves prometheus-cpp's text of the metrics as a page.
#include "server/metrics/endpoint.h"

#include <prometheus/text_serializer.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/errors/status.h"

namespace hlod::metrics {

absl::StatusOr<rpc::Endpoint> ParseAddress(const std::string& text) {
  absl::StatusOr<rpc::Endpoint> endpoint = rpc::ParseEndpoint(text);
  if (!endpoint.ok() || endpoint->kind != rpc::Endpoint::Kind::kTcp || !endpoint->IsLoopback()) {
    return InvalidArgument(
        "\"%s\" is not HOST:PORT of the loopback interface, and metrics are plain HTTP without a password: "
        "to reach them from elsewhere, put a proxy with TLS before them",
        text);
  }
  // The server below accepts numeric hosts only.
  if (endpoint->host == "localhost") endpoint->host = "127.0.0.1";
  return endpoint;
}

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Start(const std::string& address,
                                                          session::Registry& registry, const Clock& clock) {
  ASSIGN_OR_RETURN(const rpc::Endpoint endpoint, ParseAddress(address));
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  const std::string host = v6 ? absl::StrCat("[", endpoint.host, "]") : endpoint.host;
  std::unique_ptr<Endpoint> started(new Endpoint);
  started->collector_ = std::make_unique<Collector>(registry, clock);
  PageServer::Options options;
  options.path = "/metrics";
  options.content_type = "text/plain; version=0.0.4; charset=utf-8";
  options.page = [collector = started->collector_.get()] {
    return prometheus::TextSerializer().Serialize(collector->Collect());
  };
  options.slowest = kSlowest;
  absl::StatusOr<std::unique_ptr<PageServer>> server = PageServer::Start(endpoint, std::move(options));
  if (!server.ok()) {
    return absl::UnavailableError(
        absl::StrCat("metrics_listen: ", address,
                     " cannot be listened on; another process may do so: ", server.status().message()));
  }
  started->server_ = *std::move(server);
  started->url_ = absl::StrCat("http://", host, ":", started->server_->port(), "/metrics");
  return started;
}

}  // namespace hlod::metrics

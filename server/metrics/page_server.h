// One page over plain HTTP on the loopback interface.
//
// Every program of the machine may connect, and so could a web page in a browser, if the page's host name
// resolves to 127.0.0.1; then the browser sends that name as the Host. Requests to names that are not of the
// loopback interface are refused.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/shared_memory.h"

namespace hlod::metrics {

// Returns the status code and text that refuse a request with this head (everything up to the empty line);
// empty for a request that gets the page. `own` is a host name that is accepted besides those of the loopback
// interface.
std::string_view Refusal(std::string_view head, std::string_view own, std::string_view path);

// Serves from one thread, which does not wait for a single connection, so a slow one does not delay the
// others.
class PageServer {
 public:
  // The limit on open connections: one more closes the oldest.
  static constexpr size_t kConnectionsMax = 16;
  static constexpr size_t kHeadBytesMax = 8192;

  struct Options {
    std::string path;  // "/metrics"
    std::string content_type;
    std::function<std::string()> page;  // Called by the server's thread.
    absl::Duration slowest;             // The longest duration of one connection.
  };
  // Returns UNAVAILABLE when the address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<PageServer>> Start(const rpc::Endpoint& endpoint, Options options);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  int port() const { return port_; }

 private:
  struct Connection {
    rpc::Descriptor fd;
    absl::Time end;
    std::string head, answer;
    size_t sent = 0;
    bool answered = false;  // True when the whole answer was sent: further input is ignored.
  };

  PageServer(Options options, std::string host) : options_(std::move(options)), host_(std::move(host)) {}
  void Serve();
  void Accept();
  // Returns false when the connection is over.
  bool Continue(Connection& connection, short events);
  bool Read(Connection& connection);
  bool Send(Connection& connection);
  std::string AnswerTo(std::string_view head) const;

  const Options options_;
  const std::string host_;
  int port_ = 0;
  // The socket that accepts, and a descriptor that becomes readable when the server must stop.
  rpc::Descriptor listener_, stop_;
  std::list<Connection> connections_;  // From the oldest to the newest.
  std::thread thread_;
};

}  // namespace hlod::metrics

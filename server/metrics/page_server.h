// One page over plain HTTP on the loopback interface.
//
// Every program of the machine may ask, and so could a web page that a browser shows, whose own name is made
// to stand for 127.0.0.1: the browser sends that name as the Host. Requests to names that are not of the
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

// What is answered to a request's head (all up to the empty line): a status line's code and text, or nothing
// for one that gets the page. `own` is a host that may be named beside the loopback interface's.
std::string_view Refusal(std::string_view head, std::string_view own, std::string_view path);

// One thread, which waits for no connection: a slow one delays nobody.
class PageServer {
 public:
  // So many connections at once: one more ends that which is the longest there.
  static constexpr size_t kConnectionsMax = 16;
  static constexpr size_t kHeadBytesMax = 8192;

  struct Options {
    std::string path;  // "/metrics"
    std::string content_type;
    std::function<std::string()> page;  // Called by the server's thread.
    absl::Duration slowest;             // Of one connection.
  };
  // UNAVAILABLE when the address cannot be listened on.
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
    bool answered = false;  // All was sent: what still comes is not looked at.
  };

  PageServer(Options options, std::string host) : options_(std::move(options)), host_(std::move(host)) {}
  void Serve();
  void Accept();
  // False when the connection is over.
  bool Continue(Connection& connection, short events);
  bool Read(Connection& connection);
  bool Send(Connection& connection);
  std::string AnswerTo(std::string_view head) const;

  const Options options_;
  const std::string host_;
  int port_ = 0;
  rpc::Descriptor listener_, stop_;    // stop_ becomes readable.
  std::list<Connection> connections_;  // From the oldest to the newest.
  std::thread thread_;
};

}  // namespace hlod::metrics

// A poll loop over sockets that never block.
#include "server/metrics/page_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"

namespace hlod::metrics {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// Removes the next word from `line` and returns it.
std::string_view Word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.size(), end + 1));
  return word;
}

// Returns "[::1]:80" and "localhost:80" without the port and the brackets; empty if it does not have this
// form.
std::string_view WithoutPort(std::string_view host) {
  const size_t end = host.starts_with('[') ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == host.npos) return {};
  const std::string_view name = host.starts_with('[') ? host.substr(1, end - 1) : host.substr(0, end);
  std::string_view port = host.substr(host.starts_with('[') ? end + 1 : end);
  if (!port.empty() && port.front() != ':') return {};
  port.remove_prefix(std::min<size_t>(port.size(), 1));
  const bool digits = std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? name : std::string_view();
}

bool IsOwn(std::string_view host, std::string_view own) {
  rpc::Endpoint named;
  named.kind = rpc::Endpoint::Kind::kTcp;
  named.host = absl::AsciiStrToLower(ToAbsl(WithoutPort(host)));
  return named.host == own || named.IsLoopback();
}

rpc::Descriptor Listen(const addrinfo& address) {
  rpc::Descriptor fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!fd.valid() || setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      listen(fd.get(), static_cast<int>(PageServer::kConnectionsMax)) != 0)
    return {};
  return fd;
}

int PortOf(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

}  // namespace

std::string_view Refusal(std::string_view head, std::string_view own, std::string_view path) {
  constexpr std::string_view kBad = "400 Bad Request";
  std::string_view line = head.substr(0, head.find("\r\n"));
  head.remove_prefix(std::min(head.size(), line.size() + 2));
  const std::string_view method = Word(line), target = Word(line), version = Word(line);
  if (!version.starts_with("HTTP/1.") || !line.empty()) return kBad;
  int hosts = 0;
  while (!head.empty()) {
    const std::string_view field = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), field.size() + 2));
    const size_t colon = field.find(':');
    if (!absl::EqualsIgnoreCase(ToAbsl(field.substr(0, colon)), "host")) continue;
    if (++hosts > 1 || colon == field.npos) return kBad;
    if (!IsOwn(Trimmed(field.substr(colon + 1)), own)) return "403 Forbidden";
  }
  if (hosts == 0 && version != "HTTP/1.0") return kBad;
  if (target.substr(0, target.find('?')) != path) return "404 Not Found";
  if (method != "GET") return "405 Method Not Allowed";
  return {};
}

absl::StatusOr<std::unique_ptr<PageServer>> PageServer::Start(const rpc::Endpoint& endpoint,
                                                              Options options) {
  std::unique_ptr<PageServer> server(new PageServer(std::move(options), endpoint.host));
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  wanted.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(), &wanted, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  server->listener_ = Listen(*found);
  const int failure = errno;
  freeaddrinfo(found);
  if (!server->listener_.valid()) return absl::UnavailableError(std::strerror(failure));
  server->port_ = PortOf(server->listener_.get());
  server->stop_ = rpc::Descriptor(eventfd(0, EFD_CLOEXEC));
  if (!server->stop_.valid()) return absl::UnavailableError(std::strerror(errno));
  server->thread_ = std::thread([own = server.get()] { own->Serve(); });
  pthread_setname_np(server->thread_.native_handle(), "metrics");
  return server;
}

PageServer::~PageServer() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  while (write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
}

void PageServer::Serve() {
  std::vector<pollfd> polled;
  for (;;) {
    polled.assign({{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}});
    absl::Time next = absl::Now() + absl::Minutes(1);
    for (const Connection& connection : connections_) {
      const bool sends = !connection.answer.empty() && !connection.answered;
      polled.push_back({connection.fd.get(), static_cast<short>(sends ? POLLOUT : POLLIN), 0});
      next = std::min(next, connection.end);
    }
    const int64_t wait_ms = absl::ToInt64Milliseconds(next - absl::Now()) + 1;
    poll(polled.data(), polled.size(),
         connections_.empty() ? -1 : static_cast<int>(std::max<int64_t>(wait_ms, 0)));
    if (polled[0].revents != 0) return;
    size_t place = 2;
    for (auto at = connections_.begin(); at != connections_.end(); ++place) {
      at = absl::Now() < at->end && Continue(*at, polled[place].revents) ? std::next(at)
                                                                         : connections_.erase(at);
    }
    if (polled[1].revents != 0) Accept();
  }
}

void PageServer::Accept() {
  rpc::Descriptor fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid()) {
    // The process may have no descriptors left; then the connection waits in the system's queue.
    if (errno == EMFILE || errno == ENFILE) absl::SleepFor(absl::Milliseconds(10));
    return;
  }
  if (connections_.size() >= kConnectionsMax) connections_.pop_front();
  Connection& added = connections_.emplace_back();
  added.fd = std::move(fd);
  added.end = absl::Now() + options_.slowest;
}

bool PageServer::Continue(Connection& connection, short events) {
  if (events == 0) return true;
  if (connection.answer.empty() || connection.answered) return Read(connection);
  return Send(connection);
}

bool PageServer::Read(Connection& connection) {
  char bytes[4096];
  const ssize_t count = recv(connection.fd.get(), bytes, sizeof(bytes), 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  // After the answer, further input is read until the peer closes, because closing earlier could destroy the
  // answer.
  if (connection.answered) return count > 0;
  connection.head.append(bytes, static_cast<size_t>(count));
  const size_t end = connection.head.find("\r\n\r\n");
  if (end != std::string::npos) {
    connection.answer = AnswerTo(std::string_view(connection.head).substr(0, end + 2));
  } else if (connection.head.size() > kHeadBytesMax) {
    connection.answer = "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n";
  } else {
    return count > 0;
  }
  return Send(connection);
}

bool PageServer::Send(Connection& connection) {
  const std::string_view left = std::string_view(connection.answer).substr(connection.sent);
  const ssize_t count = send(connection.fd.get(), left.data(), left.size(), MSG_NOSIGNAL);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  connection.sent += static_cast<size_t>(count);
  if (connection.sent < connection.answer.size()) return true;
  connection.answered = true;
  return shutdown(connection.fd.get(), SHUT_WR) == 0;
}

std::string PageServer::AnswerTo(std::string_view head) const {
  const std::string_view refusal = Refusal(head, host_, options_.path);
  const std::string body = refusal.empty() ? options_.page() : absl::StrCat(ToAbsl(refusal), "\n");
  return absl::StrCat("HTTP/1.1 ", refusal.empty() ? "200 OK" : ToAbsl(refusal),
                      "\r\nContent-Type: ", refusal.empty() ? options_.content_type : "text/plain",
                      "\r\nContent-Length: ", body.size(), "\r\nConnection: close\r\n\r\n", body);
}

}  // namespace hlod::metrics

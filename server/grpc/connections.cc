// An epoll set of duplicates: a socket that either side has shut down reports it there.
#include "server/grpc/connections.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "common/rpc/keepalive.h"
#include "server/grpc/peer_names.h"

namespace hlod::grpc_server {

namespace {

// The length, type and flags of an RST_STREAM frame (RFC 9113, 6.4).
constexpr std::string_view kReset("\0\0\4\3\0", 5);

// How many RST_STREAM frames are in the first bytes that came and were not read.
size_t CountUnreadResets(int socket) {
  char bytes[16 << 10];
  const ssize_t n = recv(socket, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
  if (n <= 0) return 0;
  const std::string_view unread(bytes, static_cast<size_t>(n));
  size_t count = 0;
  for (size_t at = unread.find(kReset); at != unread.npos; at = unread.find(kReset, at + kReset.size()))
    ++count;
  return count;
}

}  // namespace

ConnectedSocket::~ConnectedSocket() {
  if (fd_.valid()) shutdown(fd_.get(), SHUT_RDWR);
}

Connections::Connections(const Options& options) : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

bool Connections::Add(int socket, const std::string& owner, bool tcp, int64_t pid) {
  rpc::Descriptor duplicate(fcntl(socket, F_DUPFD_CLOEXEC, 0));
  if (!duplicate.valid()) return false;
  MutexLock lock(&mu_);
  if (owners_[owner].count >= options_.per_owner_max) DropClosed();
  Owner& entry = owners_[owner];
  if (entry.count >= options_.per_owner_max) {
    if (!std::exchange(entry.refused, true)) {
      spdlog::warn(
          "Connections of {} are refused: {} are open, and the limit connections_per_user_max is {}.", owner,
          entry.count, options_.per_owner_max);
    }
    return false;
  }
  const int fd = duplicate.get();
  epoll_event
      event{};  // No events beside the hang-up, which is always reported: both directions are shut down.
  event.data.fd = fd;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return false;
  connections_[fd] = {std::move(duplicate), owner, tcp, pid};
  ++entry.count;
  return true;
}

void Connections::DropClosed() {
  epoll_event events[64];
  for (int n = 64; n == 64;) {
    n = epoll_wait(epoll_.get(), events, 64, 0);
    for (int i = 0; i < n; ++i) {
      const auto found = connections_.find(events[i].data.fd);
      if (found == connections_.end()) continue;
      const auto owner = owners_.find(found->second.owner);
      owner->second.refused = false;
      if (--owner->second.count == 0) owners_.erase(owner);
      // The set refers to the socket, which gRPC may hold a moment longer than this descriptor.
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->first, nullptr);
      connections_.erase(found);
    }
  }
}

bool Connections::CloseResetting(const std::string& owner, const std::string& peer) {
  MutexLock lock(&mu_);
  int worst = -1;
  size_t most = 0;
  for (const auto& [fd, connection] : connections_) {
    if (connection.tcp) {
      if (PeerNameOfSocket(fd) != peer) continue;
      worst = fd;
      break;
    }
    if (connection.owner != owner) continue;
    const size_t resets = CountUnreadResets(fd);
    if (resets <= most) continue;
    most = resets;
    worst = fd;
  }
  if (worst < 0) return false;
  spdlog::warn("A connection of {} is closed: it resets calls without end.", owner);
  shutdown(worst, SHUT_RDWR);  // gRPC sees its end.
  return true;
}

void Connections::Tick() {
  MutexLock lock(&mu_);
  DropClosed();
  for (const auto& [fd, connection] : connections_) {
    if (!connection.tcp || !rpc::IsUnreachable(fd, options_.tcp_silence)) continue;
    spdlog::info("A connection of {} is closed: its peer cannot be reached.", connection.owner);
    shutdown(fd, SHUT_RDWR);  // gRPC sees its end.
  }
}

void Connections::AddProcesses(absl::flat_hash_set<int64_t>& pids) const {
  MutexLock lock(&mu_);
  for (const auto& [fd, connection] : connections_) pids.insert(connection.pid);
}

int64_t Connections::CountOf(const std::string& owner) const {
  MutexLock lock(&mu_);
  const auto found = owners_.find(owner);
  return found == owners_.end() ? 0 : found->second.count;
}

int64_t Connections::size() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(connections_.size());
}

}  // namespace hlod::grpc_server

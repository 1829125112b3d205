// An epoll set of duplicates: a socket that either side has shut down reports it there.
#include "server/grpc/connections.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

#include "common/rpc/keepalive.h"

namespace hlod::grpc_server {

Connections::Connections(const Options& options) : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

bool Connections::Add(int socket, const std::string& owner, bool tcp) {
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
  ++entry.count;
  connections_[fd] = {std::move(duplicate), owner, tcp};
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

void Connections::Tick() {
  MutexLock lock(&mu_);
  DropClosed();
  for (const auto& [fd, connection] : connections_) {
    if (!connection.tcp || !rpc::IsUnreachable(fd, options_.tcp_silence)) continue;
    spdlog::info("A connection of {} is closed: its peer cannot be reached.", connection.owner);
    shutdown(fd, SHUT_RDWR);  // gRPC sees its end.
  }
}

int64_t Connections::size() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(connections_.size());
}

}  // namespace hlod::grpc_server

// An epoll set of duplicates: a socket that either side has shut down reports it there.
#include "server/grpc/connections.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/error.h"
#include "common/base/status.h"
#include "common/rpc/keepalive.h"

namespace hlod::grpc_server {

namespace {

// The most owners that are remembered without an open connection.
constexpr size_t kOwnersMax = 4096;

}  // namespace

ConnectedSocket::~ConnectedSocket() {
  if (fd_.valid()) shutdown(fd_.get(), SHUT_RDWR);
}

Connections::Connections(const Options& options) : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

absl::Status Connections::CheckRoom(const Opened& opened) {
  const auto full = [&] {
    return static_cast<int64_t>(connections_.size()) >=
           options_.most - (opened.administrator ? 0 : options_.for_administrators);
  };
  if (owners_[opened.owner].count >= options_.per_owner_max || full()) DropClosed();
  Owner& owner = owners_[opened.owner];
  absl::Status status;
  if (owner.count >= options_.per_owner_max) {
    status =
        MakeError(ErrorKind::kLimit,
                  absl::StrFormat("%d connections of %s are open: the limit connections_per_user_max is %d.",
                                  owner.count, opened.owner, options_.per_owner_max));
  } else if (full()) {
    status = MakeError(ErrorKind::kLimit, absl::StrFormat("%d connections are open, as many as %s takes.",
                                                          connections_.size(), options_.who));
  } else {
    return status;
  }
  if (!std::exchange(owner.refused, true))
    spdlog::warn("Connections of {} are refused: {}", opened.owner, std::string(status.message()));
  if (owner.count == 0 && owners_.size() > kOwnersMax) owners_.erase(opened.owner);
  return status;
}

absl::StatusOr<uint64_t> Connections::Add(int socket, const Opened& opened) {
  MutexLock lock(&mu_);
  RETURN_IF_ERROR(CheckRoom(opened));
  rpc::Descriptor duplicate(fcntl(socket, F_DUPFD_CLOEXEC, 0));
  epoll_event
      event{};  // No events beside the hang-up, which is always reported: both directions are shut down.
  event.data.u64 = last_id_ + 1;
  if (!duplicate.valid() || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, duplicate.get(), &event) != 0) {
    return MakeError(ErrorKind::kLimit, absl::StrFormat("The daemon has no descriptor for a connection: %s.",
                                                        std::strerror(errno)));
  }
  connections_[++last_id_] = {std::move(duplicate), opened};
  ++owners_[opened.owner].count;
  return last_id_;
}

void Connections::DropClosed() {
  epoll_event events[64];
  for (int n = 64; n == 64;) {
    n = epoll_wait(epoll_.get(), events, 64, 0);
    for (int i = 0; i < n; ++i) {
      const auto found = connections_.find(events[i].data.u64);
      if (found == connections_.end()) continue;
      const auto owner = owners_.find(found->second.opened.owner);
      owner->second.refused = false;
      if (--owner->second.count == 0) owners_.erase(owner);
      // The set refers to the socket, which gRPC may hold a moment longer than this descriptor.
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.socket.get(), nullptr);
      connections_.erase(found);
    }
  }
}

void Connections::Close(uint64_t id) {
  MutexLock lock(&mu_);
  if (const auto found = connections_.find(id); found != connections_.end())
    shutdown(found->second.socket.get(), SHUT_RDWR);
}

bool Connections::IsOpen(uint64_t id) const {
  MutexLock lock(&mu_);
  return connections_.contains(id);
}

void Connections::Tick() {
  MutexLock lock(&mu_);
  DropClosed();
  for (const auto& [id, connection] : connections_) {
    const int fd = connection.socket.get();
    if (!connection.opened.tcp || !rpc::IsUnreachable(fd, options_.tcp_silence)) continue;
    spdlog::info("A connection of {} is closed: its peer cannot be reached.", connection.opened.owner);
    shutdown(fd, SHUT_RDWR);  // gRPC sees its end.
  }
}

void Connections::AddProcesses(absl::flat_hash_set<int64_t>& pids) const {
  MutexLock lock(&mu_);
  for (const auto& [id, connection] : connections_) pids.insert(connection.opened.pid);
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

// An epoll set of duplicates, which reports a socket that either side has shut down.
#include "server/grpc/connections.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/rpc/keepalive.h"

namespace hlod::grpc_server {

namespace {

// The number of owners to remember although they have no open connection.
constexpr size_t kOwnersMax = 4096;

}  // namespace

ConnectedSocket::~ConnectedSocket() {
  if (fd_.valid()) shutdown(fd_.get(), SHUT_RDWR);
}

Connections::Connections(const Options& options) : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

absl::Status Connections::Refuse(const std::string& owner, const std::string& why) {
  Owner& refused = owners_[owner];
  if (!std::exchange(refused.refused, true)) spdlog::warn("Connections of {} are refused: {}", owner, why);
  if (refused.count == 0 && refused.strangers == 0 && owners_.size() > kOwnersMax) owners_.erase(owner);
  return MakeError(ErrorKind::kLimit, why);
}

absl::Status Connections::MakeRoom(const Opened& opened) {
  const auto full = [&] {
    mu_.AssertHeld();
    return static_cast<int64_t>(connections_.size()) >=
           options_.most - (opened.administrator ? 0 : options_.for_administrators);
  };
  if (full()) DropClosed();
  if (!full() || CloseOldestStranger()) return absl::OkStatus();
  return Refuse(opened.owner, absl::StrFormat("%d connections are open, as many as %s takes.",
                                              connections_.size(), options_.who));
}

absl::Status Connections::MakeRoomOfOwner(const Opened& opened) {
  const auto full = [&] {
    mu_.AssertHeld();
    return owners_[opened.owner].count >= options_.per_owner_max;
  };
  if (full()) DropClosed();
  if (!full() || CloseOldestNewcomer(opened.owner)) return absl::OkStatus();
  return Refuse(opened.owner,
                absl::StrFormat("%d connections of %s are open: the limit connections_per_user_max is %d.",
                                owners_[opened.owner].count, opened.owner, options_.per_owner_max));
}

absl::StatusOr<uint64_t> Connections::Add(int socket, const Opened& opened) {
  MutexLock lock(&mu_);
  if (opened.stranger) {
    if (strangers_ >= options_.strangers_max) DropClosed();
    if (strangers_ >= options_.strangers_max) CloseOldestStranger();
  } else {
    RETURN_IF_ERROR(MakeRoomOfOwner(opened));
  }
  RETURN_IF_ERROR(MakeRoom(opened));
  rpc::Descriptor duplicate(fcntl(socket, F_DUPFD_CLOEXEC, 0));
  // Waits only for the hang-up, which is always reported: both directions are shut down.
  epoll_event event{};
  event.data.u64 = last_id_ + 1;
  if (!duplicate.valid() || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, duplicate.get(), &event) != 0) {
    return MakeError(ErrorKind::kLimit, absl::StrFormat("The daemon has no descriptor for a connection: %s.",
                                                        std::strerror(errno)));
  }
  connections_.emplace(++last_id_, Connection{std::move(duplicate), opened,
                                              opened.stranger ? Standing::kStranger : Standing::kNewcomer});
  Owner& owner = owners_[opened.owner];
  ++(opened.stranger ? owner.strangers : owner.count);
  if (opened.stranger) ++strangers_;
  return last_id_;
}

absl::Status Connections::Greet(uint64_t id) {
  MutexLock lock(&mu_);
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.standing != Standing::kStranger) return absl::OkStatus();
  // It closes only newcomers to make room, so it never closes this connection, which is still a stranger.
  RETURN_IF_ERROR(MakeRoomOfOwner(found->second.opened));
  Owner& owner = owners_[found->second.opened.owner];
  --owner.strangers;
  --strangers_;
  ++owner.count;
  found->second.standing = Standing::kNewcomer;
  return absl::OkStatus();
}

void Connections::MarkUsed(uint64_t id) {
  MutexLock lock(&mu_);
  const auto found = connections_.find(id);
  if (found != connections_.end() && found->second.standing == Standing::kNewcomer)
    found->second.standing = Standing::kUser;
}

bool Connections::CloseOldestStranger() {
  int64_t most = 1;
  for (const auto& [name, owner] : owners_) most = std::max(most, owner.strangers);
  return Close(std::ranges::find_if(connections_, [&](const auto& entry) {
    mu_.AssertHeld();
    return entry.second.standing == Standing::kStranger &&
           owners_[entry.second.opened.owner].strangers == most;
  }));
}

bool Connections::CloseOldestNewcomer(const std::string& owner) {
  return Close(std::ranges::find_if(connections_, [&](const auto& entry) {
    return entry.second.standing == Standing::kNewcomer && entry.second.opened.owner == owner;
  }));
}

bool Connections::Close(ById::iterator connection) {
  if (connection == connections_.end()) return false;
  shutdown(connection->second.socket.get(), SHUT_RDWR);  // gRPC sees that it is closed.
  Drop(connection);
  return true;
}

void Connections::Drop(ById::iterator connection) {
  const bool stranger = connection->second.standing == Standing::kStranger;
  const auto owner = owners_.find(connection->second.opened.owner);
  owner->second.refused = false;
  --(stranger ? owner->second.strangers : owner->second.count);
  if (stranger) --strangers_;
  if (owner->second.count == 0 && owner->second.strangers == 0) owners_.erase(owner);
  // The set refers to the socket, which gRPC may hold a moment longer than this descriptor.
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection->second.socket.get(), nullptr);
  connections_.erase(connection);
}

void Connections::DropClosed() {
  epoll_event events[64];
  for (int n = 64; n == 64;) {
    n = epoll_wait(epoll_.get(), events, 64, 0);
    for (int i = 0; i < n; ++i) {
      const auto found = connections_.find(events[i].data.u64);
      if (found != connections_.end()) Drop(found);
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
    shutdown(fd, SHUT_RDWR);  // gRPC sees that it is closed.
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

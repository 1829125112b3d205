// Which user has a server, and since when it is not used.
#include "server/grpc/user_servers.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/time/clock.h"
#include "server/grpc/peer_names.h"

namespace hlod::grpc_server {

UserServers::UserServers(const Options& options, const Connections& connections, Make make)
    : options_(options), connections_(connections), make_(std::move(make)) {}

bool UserServers::HasRoomFor(uint32_t user) const {
  MutexLock lock(&mu_);
  return servers_.size() < options_.most || servers_.contains(user);
}

void UserServers::HandleConnection(ConnectedSocket socket, uint32_t user) {
  if (!HasRoomFor(user)) EndIdle(absl::ZeroDuration());
  if (!HasRoomFor(user)) {
    if (!std::exchange(refused_, true)) {
      spdlog::warn("A connection of {} is refused: {} other users are connected, the most that may be.",
                   OwnerOfUser(user), options_.most);
    }
    return;
  }
  refused_ = false;
  // Until it has the connection: the server is not ended meanwhile.
  MutexLock lock(&mu_);
  auto found = servers_.find(user);
  if (found == servers_.end()) found = servers_.emplace(user, Entry{make_(user), {}}).first;
  found->second.connected = absl::Now();
  found->second.server->HandleConnection(std::move(socket));
}

void UserServers::EndIdle(absl::Duration idle) {
  std::vector<std::unique_ptr<GrpcServer>> ended;  // They wait for their threads after the lock.
  const absl::Time now = absl::Now();
  MutexLock lock(&mu_);
  for (auto next = servers_.begin(); next != servers_.end();) {
    const auto found = next++;
    Entry& entry = found->second;
    const bool in_use = connections_.CountOf(OwnerOfUser(found->first)) > 0 || entry.server->HasCalls();
    if (in_use) entry.connected = now;
    if (in_use || now - entry.connected < idle) continue;
    ended.push_back(std::move(entry.server));
    servers_.erase(found);
  }
}

void UserServers::Shutdown() {
  std::map<uint32_t, Entry> all;
  {
    MutexLock lock(&mu_);
    all.swap(servers_);
  }
  for (const auto& [user, entry] : all) entry.server->Shutdown();
}

size_t UserServers::size() const {
  MutexLock lock(&mu_);
  return servers_.size();
}

}  // namespace hlod::grpc_server

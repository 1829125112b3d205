// A list of servers, and a queue of those that are to be ended.
#include "server/grpc/connection_servers.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/base/errors/error.h"

namespace hlod::grpc_server {
namespace {

// The time for calls to send their last status.
constexpr absl::Duration kLastWords = absl::Milliseconds(500);
// The time for jobs of the transfer thread to release their calls.
constexpr absl::Duration kPatience = absl::Seconds(10);

}  // namespace

ConnectionServers::ConnectionServers(const Connections& connections, int64_t ending_per_owner_max,
                                     std::function<void()> many_ended)
    : connections_(connections),
      ending_per_owner_max_(ending_per_owner_max),
      many_ended_(std::move(many_ended)),
      thread_([this] { EndThem(); }) {
  pthread_setname_np(thread_.native_handle(), "ending");
}

void ConnectionServers::Add(uint64_t id, const std::string& owner, std::unique_ptr<GrpcServer> server,
                            ConnectedSocket socket) {
  if (!server->Start(std::move(socket))) return;
  MutexLock lock(&mu_);
  servers_.push_back({id, owner, std::move(server)});
}

absl::Status ConnectionServers::CheckRoom(const std::string& owner) const {
  MutexLock lock(&mu_);
  const auto ending = [&](const Entry& entry) {
    return entry.owner == owner && !connections_.IsOpen(entry.connection);
  };
  const int64_t count =
      std::ranges::count(ending_, owner, &Entry::owner) + std::ranges::count_if(servers_, ending);
  if (count < ending_per_owner_max_) return absl::OkStatus();
  return MakeError(ErrorKind::kLimit,
                   absl::StrFormat("%d connections of %s have just ended and are being cleared away; the "
                                   "limit is %d.",
                                   count, owner, ending_per_owner_max_));
}

void ConnectionServers::Tick() {
  const absl::Time now = absl::Now();
  MutexLock lock(&mu_);
  for (auto next = servers_.begin(); next != servers_.end();) {
    const auto entry = next++;
    if (connections_.IsOpen(entry->connection) || entry->server->HasCalls()) {
      entry->server->Tick(now);
      continue;
    }
    ending_.splice(ending_.end(), servers_, entry);  // Needs no memory.
  }
  if (!ending_.empty()) changed_.SignalAll();
}

void ConnectionServers::EndThem() {
  int64_t ended = 0;
  for (;;) {
    Entry* next;
    {
      MutexLock lock(&mu_);
      while (ending_.empty() && !stopping_) changed_.Wait(&mu_);
      if (ending_.empty()) return;
      next = &ending_.front();  // It stays in the list, and is counted.
    }
    const absl::Time now = absl::Now();
    next->server->Shutdown(now + kLastWords, now + kPatience);
    next->server.reset();
    bool last;
    {
      MutexLock lock(&mu_);
      ending_.pop_front();
      last = ending_.empty();
    }
    if (++ended < kManyEnded || !last) continue;
    ended = 0;
    many_ended_();
  }
}

void ConnectionServers::Shutdown() {
  std::list<Entry> all;
  {
    MutexLock lock(&mu_);
    all.swap(servers_);
    stopping_ = true;
    changed_.SignalAll();
  }
  // A common deadline, so that the daemon ends in time for any number of servers.
  const absl::Time now = absl::Now();
  for (const Entry& entry : all) entry.server->Shutdown(now + kLastWords, now + kPatience);
  if (thread_.joinable()) thread_.join();
}

size_t ConnectionServers::size() const {
  MutexLock lock(&mu_);
  return servers_.size() + ending_.size();
}

}  // namespace hlod::grpc_server

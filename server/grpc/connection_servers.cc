// A list, and who is taken from it.
#include "server/grpc/connection_servers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/base/error.h"

namespace hlod::grpc_server {
namespace {

// The time for calls to send their last status.
constexpr absl::Duration kLastWords = absl::Milliseconds(500);
// The time for jobs of the transfer thread to let go of calls.
constexpr absl::Duration kPatience = absl::Seconds(10);

}  // namespace

void ConnectionServers::Add(uint64_t id, const std::string& owner, std::unique_ptr<GrpcServer> server,
                            ConnectedSocket socket) {
  if (!server->Start(std::move(socket))) return;
  MutexLock lock(&mu_);
  servers_.push_back({id, owner, std::move(server)});
}

absl::Status ConnectionServers::CheckRoom(const std::string& owner) const {
  MutexLock lock(&mu_);
  const int64_t count = std::ranges::count(servers_, owner, &Entry::owner);
  if (count < per_owner_max_) return absl::OkStatus();
  return MakeError(ErrorKind::kLimit,
                   absl::StrFormat("%d connections of %s are open or just ended; the limit is %d.", count,
                                   owner, per_owner_max_));
}

void ConnectionServers::Tick() {
  std::vector<Entry> ended;  // They wait for their threads after the lock.
  {
    MutexLock lock(&mu_);
    ended.reserve(servers_.size());  // Nothing is half moved when memory is short.
    std::erase_if(servers_, [&](Entry& entry) {
      if (connections_.IsOpen(entry.connection) || entry.server->HasCalls()) return false;
      ended.push_back(std::move(entry));
      return true;
    });
  }
  const absl::Time now = absl::Now();  // One deadline for all, as below.
  for (const Entry& entry : ended) entry.server->Shutdown(now + kLastWords, now + kPatience);
}

void ConnectionServers::Shutdown() {
  std::vector<Entry> all;
  {
    MutexLock lock(&mu_);
    all.swap(servers_);
  }
  // One deadline for all: however many there are, the daemon ends in time.
  const absl::Time now = absl::Now();
  for (const Entry& entry : all) entry.server->Shutdown(now + kLastWords, now + kPatience);
}

size_t ConnectionServers::size() const {
  MutexLock lock(&mu_);
  return servers_.size();
}

}  // namespace hlod::grpc_server

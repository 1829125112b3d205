// grpc.health.v1.Health: whether the daemon takes new sessions, once (Check) or with each change (Watch).
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/base/system/mutex.h"
#include "server/grpc/call.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {

// Thread-safe. Shared by all servers of a daemon: a watch needs neither token nor session, so they are few,
// none has a timer, and those of calls that show no token where one is asked for have places of their own.
class Health {
 public:
  static constexpr int64_t kWatchesMax = 128, kStrangersMax = 32;
  // Of one owner: a local user, or a host.
  static constexpr int64_t kPerOwnerMax = 16;

  explicit Health(const session::Registry& registry) : registry_(registry) {}
  // A serialized HealthCheckResponse.
  std::string Response() const;
  // Writes the response to `call`, now and with each change. RESOURCE_EXHAUSTED when there are as many
  // watches as may be, or as this owner may have.
  absl::Status Watch(const std::shared_ptr<Call>& call, const std::string& owner, bool stranger);
  void Forget(const Call& call);
  // Writes a change to all watches. To be called a few times a second, by one thread.
  void Tick();

 private:
  const session::Registry& registry_;
  Mutex mu_;
  struct Watched {
    std::weak_ptr<Call> call;  // Null before its first response is written.
    std::string written;       // Its last response.
    std::string owner;
    bool stranger = false;
  };
  absl::flat_hash_map<const Call*, Watched> watches_ ABSL_GUARDED_BY(mu_);
};

// Health/Watch. `stranger`: the call shows no token where one is asked for.
std::unique_ptr<CallHandler> MakeWatchHandler(Call& call, Health& health, std::string owner, bool stranger);

}  // namespace hlod::grpc_server

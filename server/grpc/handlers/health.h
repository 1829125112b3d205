// grpc.health.v1.Health: reports whether the daemon takes new sessions, once (Check) or at each change
// (Watch).
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/base/system/mutex.h"
#include "server/grpc/call.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {

// Thread-safe. Shared by all servers of a daemon. A watch needs neither a token nor a session, so the number
// of watches is small, they have no timers, and those of calls without a required token have separate places.
class Health {
 public:
  static constexpr int64_t kWatchesMax = 128, kStrangersMax = 32;
  // The maximum number of watches per owner (a local user or a host).
  static constexpr int64_t kPerOwnerMax = 16;

  explicit Health(const session::Registry& registry) : registry_(registry) {}
  // Returns a serialized HealthCheckResponse.
  std::string Response() const;
  // Writes the response to `call`, now and at each change. RESOURCE_EXHAUSTED if there are too many watches,
  // in all or of this owner.
  absl::Status Watch(const std::shared_ptr<Call>& call, const std::string& owner, bool stranger);
  void Forget(const Call& call);
  // Writes a change to all watches. Must be called a few times a second by one thread.
  void Tick();

 private:
  const session::Registry& registry_;
  Mutex mu_;
  struct Watched {
    std::weak_ptr<Call> call;  // Null before its first response is written.
    std::string written;       // The last response.
    std::string owner;
    bool stranger = false;
  };
  absl::flat_hash_map<const Call*, Watched> watches_ ABSL_GUARDED_BY(mu_);
};

// Makes the handler of Health/Watch. `stranger` is true when the call does not show a required token.
std::unique_ptr<CallHandler> MakeWatchHandler(Call& call, Health& health, std::string owner, bool stranger);

}  // namespace hlod::grpc_server

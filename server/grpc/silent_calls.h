// Counts calls that have sent no message yet, by owner: each takes memory although it requests nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "common/base/system/mutex.h"

namespace hlod::grpc_server {

// Thread-safe. Shared by the servers of all connections.
class SilentCalls {
 public:
  static constexpr int64_t kPerOwnerMax = 1024;

  // Counts a call of this owner until the returned object, which may outlive the SilentCalls, is destroyed.
  // Returns null if the owner has kPerOwnerMax calls already.
  std::shared_ptr<const void> Count(const std::string& owner) {
    MutexLock lock(&state_->mu);
    int64_t& calls = state_->calls[owner];
    if (calls >= kPerOwnerMax) return nullptr;
    ++calls;
    return std::shared_ptr<const void>(state_.get(), [state = state_, owner](const void*) {
      MutexLock locked(&state->mu);
      const auto found = state->calls.find(owner);
      if (--found->second == 0) state->calls.erase(found);
    });
  }

 private:
  struct State {
    Mutex mu;
    absl::flat_hash_map<std::string, int64_t> calls ABSL_GUARDED_BY(mu);  // The number of calls by owner.
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hlod::grpc_server

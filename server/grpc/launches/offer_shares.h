// The shares of the side memory for offers that wait here for those of other daemons.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "server/device/memory/side_memory.h"
#include "server/fabric/work.h"

namespace hlod::grpc_server {

// Each user of this daemon has a share. All users whom another daemon names are in that daemon's share,
// each with a part of it: it could name as many as it likes. Not thread-safe.
class OfferShares {
 public:
  explicit OfferShares(device::SideMemory& memory) : memory_(memory) {}
  // An error: the user, or the daemon that names it, has no room.
  absl::Status Charge(const fabric::Payer& payer, int64_t bytes);
  // Releases bytes that were charged.
  void Discharge(const fabric::Payer& payer, int64_t bytes);

 private:
  std::shared_ptr<device::MemoryShare> ShareOf(const fabric::Payer& payer);

  device::SideMemory& memory_;
  std::map<fabric::Payer, std::shared_ptr<device::MemoryShare>> shares_;  // Shares with charges.
};

}  // namespace hlod::grpc_server

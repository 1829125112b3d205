// The bytes that a session's programs hold, charged to the session.
#pragma once

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/programs/executable_cache.h"

namespace hlod::device {

// Charges each program once, for all handles of the session that name it. Not thread-safe, but what it
// returns may end on any thread.
class ProgramCharges {
 public:
  explicit ProgramCharges(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}

  // What keeps the program charged. It must not outlive the program.
  absl::StatusOr<std::shared_ptr<const ByteCharge>> Charge(const Executable& program) {
    if (const auto known = charges_.find(&program); known != charges_.end()) {
      if (std::shared_ptr<const ByteCharge> charge = known->second.lock(); charge != nullptr) return charge;
    }
    if (charges_.size() >= purge_at_) {
      absl::erase_if(charges_, [](const auto& entry) { return entry.second.expired(); });
      purge_at_ = 2 * charges_.size() + 64;
    }
    ASSIGN_OR_RETURN(ByteCharge taken, ByteCharge::Take(budget_, program.held_bytes(), "A program"));
    const auto charge = std::make_shared<const ByteCharge>(std::move(taken));
    charges_[&program] = charge;
    return charge;
  }

 private:
  const std::shared_ptr<ByteBudget> budget_;
  absl::flat_hash_map<const Executable*, std::weak_ptr<const ByteCharge>> charges_;
  size_t purge_at_ = 64;  // With so many, those that have ended are dropped.
};

}  // namespace hlod::device

// Charges a session for the bytes that its programs hold.
#pragma once

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/programs/executable_cache.h"

namespace hlod::device {

// Charges each program once for all handles of the session that name it. Not thread-safe, but the returned
// charges may be destroyed on any thread.
class ProgramCharges {
 public:
  explicit ProgramCharges(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}

  // Returns a charge that must not outlive the program. The program stays charged as long as a copy of the
  // charge exists.
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
  size_t purge_at_ = 64;  // The size at which expired entries are removed.
};

}  // namespace hlod::device

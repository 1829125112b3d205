// Shares by user, and by the daemon that names the user.
#include "server/grpc/launches/offer_shares.h"

#include "absl/strings/str_cat.h"

namespace hlod::grpc_server {

std::shared_ptr<device::MemoryShare> OfferShares::ShareOf(const fabric::Payer& payer) {
  // These are not the shares of this daemon's owners of sessions.
  if (!payer.rank.has_value()) return memory_.ShareOf("launches of " + payer.user);
  return memory_.ShareForSession(absl::StrCat("launches that rank ", *payer.rank, " offers"));
}

absl::Status OfferShares::Charge(const fabric::Payer& payer, int64_t bytes) {
  std::shared_ptr<device::MemoryShare>& share = shares_[payer];
  if (share == nullptr) share = ShareOf(payer);
  const absl::Status status = share->Reserve(bytes, "A launch that waits for parts of other daemons");
  if (share->used_bytes() == 0) shares_.erase(payer);
  return status;
}

void OfferShares::Discharge(const fabric::Payer& payer, int64_t bytes) {
  const auto found = shares_.find(payer);
  if (found == shares_.end()) return;
  found->second->Release(bytes);
  if (found->second->used_bytes() == 0) shares_.erase(found);
}

}  // namespace hlod::grpc_server

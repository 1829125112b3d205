// The total over all sessions, and each owner's share of it.
#include "server/device/memory/side_memory.h"

#include <utility>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"

namespace hlod::device {
namespace {

// The most that an owner may hold, as a multiple of what then remains free, and that a session may hold, as a
// multiple of what its owner can then still take.
constexpr int64_t kTimesFree = 3;

}  // namespace

absl::Status MemoryShare::CheckBeside(int64_t all, int64_t bytes, std::string_view taker) const {
  const int64_t own = used_, owners = owner_ != nullptr ? owner_->used_bytes() : own, free = sum_->max - all;
  if (bytes <= free && owners + bytes <= kTimesFree * (free - bytes)) {
    // The bytes that the owner can still take.
    const int64_t room = (kTimesFree * free - owners) / (kTimesFree + 1);
    if (owner_ == nullptr || own + bytes <= kTimesFree * (room - bytes)) return absl::OkStatus();
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("%s of %d bytes beside %d of this session, where this user can take %d more: the "
                        "limit side_memory is %d, and a session has at most %d times what its user can "
                        "still take.",
                        taker, bytes, own, room, sum_->max, kTimesFree));
  }
  return MakeError(
      ErrorKind::kLimit,
      absl::StrFormat("%s of %d bytes beside %d of this user's sessions and %d of all sessions: "
                      "the limit side_memory is %d, and a user has at most %d times what is left "
                      "free.",
                      taker, bytes, owners, all, sum_->max, kTimesFree));
}

absl::Status MemoryShare::Reserve(int64_t bytes, std::string_view taker) {
  int64_t all = sum_->used;
  do {
    RETURN_IF_ERROR(CheckBeside(all, bytes, taker));
  } while (!sum_->used.compare_exchange_weak(all, all + bytes));
  used_ += bytes;
  if (owner_ != nullptr) owner_->used_ += bytes;
  return absl::OkStatus();
}

void MemoryShare::Charge(int64_t bytes) {
  sum_->used += bytes;
  used_ += bytes;
  if (owner_ != nullptr) owner_->used_ += bytes;
}

absl::StatusOr<MemoryCharge> MemoryCharge::Take(const std::shared_ptr<MemoryShare>& share, int64_t bytes,
                                                std::string_view taker) {
  RETURN_IF_ERROR(share->Reserve(bytes, taker));
  return MemoryCharge(share, bytes);
}

absl::Status MemoryCharge::TryGrow(int64_t bytes, std::string_view taker) {
  if (share_ == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(share_->Reserve(bytes, taker));
  bytes_ += bytes;
  return absl::OkStatus();
}

MemoryCharge& MemoryCharge::operator=(MemoryCharge&& other) noexcept {
  std::swap(share_, other.share_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MemoryCharge::~MemoryCharge() {
  if (share_ != nullptr) share_->Release(bytes_);
}

std::shared_ptr<MemoryShare> SideMemory::ShareOf(const std::string& owner) {
  MutexLock lock(&mu_);
  absl::erase_if(shares_,
                 [&owner](const auto& entry) { return entry.first != owner && entry.second.expired(); });
  std::weak_ptr<MemoryShare>& known = shares_[owner];
  std::shared_ptr<MemoryShare> share = known.lock();
  if (share == nullptr) known = share = std::make_shared<MemoryShare>(sum_);
  return share;
}

}  // namespace hlod::device

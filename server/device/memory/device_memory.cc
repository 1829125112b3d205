// Charges a device and a session for the bytes they hold.
#include "server/device/memory/device_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"

namespace hlod::device {

MemoryAccount::Figures MemoryAccount::figures() const {
  const auto reported = [](absl::int128 bytes) {
    return static_cast<int64_t>(std::min<absl::int128>(bytes, std::numeric_limits<int64_t>::max()));
  };
  MutexLock lock(&mu_);
  return {live_bytes_, peak_bytes_, reported(simulated_live_), reported(simulated_peak_)};
}

void MemoryAccount::Charge(int64_t real_bytes, int64_t simulated_bytes) {
  MutexLock lock(&mu_);
  live_bytes_ += real_bytes;
  simulated_live_ += simulated_bytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  simulated_peak_ = std::max(simulated_peak_, simulated_live_);
}

void MemoryAccount::Discharge(int64_t real_bytes, int64_t simulated_bytes) {
  MutexLock lock(&mu_);
  live_bytes_ -= real_bytes;
  simulated_live_ -= simulated_bytes;
}

SimulatedCharge::SimulatedCharge(std::shared_ptr<MemoryAccount> account, int64_t bytes)
    : account_(std::move(account)), bytes_(bytes) {
  account_->Charge(0, bytes_);
}

SimulatedCharge& SimulatedCharge::operator=(SimulatedCharge&& other) noexcept {
  if (account_ != nullptr) account_->Discharge(0, bytes_);
  account_ = std::move(other.account_);
  bytes_ = other.bytes_;
  return *this;
}

SimulatedCharge::~SimulatedCharge() {
  if (account_ != nullptr) account_->Discharge(0, bytes_);
}

Block& Block::operator=(Block&& other) noexcept {
  if (this == &other) return *this;
  Release();
  device_ = std::exchange(other.device_, nullptr);
  account_ = std::move(other.account_);
  category_ = other.category_;
  piece_ = std::exchange(other.piece_, Piece{});
  return *this;
}

void Block::Release() {
  if (device_ == nullptr) return;
  device_->pool_.Free(piece_);
  account_->Discharge(piece_.bytes, piece_.bytes);
  std::exchange(device_, nullptr)->GiveBack(piece_.bytes, category_);
}

DeviceMemory::Figures DeviceMemory::figures() const {
  MutexLock lock(&mu_);
  return figures_;
}

absl::StatusOr<Block> DeviceMemory::Allocate(const std::shared_ptr<MemoryAccount>& account, int64_t bytes,
                                             Category category, absl::FunctionRef<std::string()> what) {
  {
    MutexLock lock(&mu_);
    const int64_t free = capacity_bytes_ - figures_.used_bytes;
    if (bytes < 0 || bytes > free) {
      return MakeError(
          ErrorKind::kNoMemory,
          absl::StrFormat("Device %d has not enough memory for %s: %d bytes are wanted, %d of %d are free.",
                          ordinal_, what(), bytes, free, capacity_bytes_));
    }
    figures_.used_bytes += bytes;
    figures_.peak_bytes = std::max(figures_.peak_bytes, figures_.used_bytes);
    if (category == Category::kTemporary) figures_.temporary_bytes += bytes;
  }
  absl::Cleanup give_back = [&] { GiveBack(bytes, category); };
  absl::StatusOr<Piece> piece = pool_.Allocate(bytes);
  if (!piece.ok()) {
    return Annotate(piece.status(), absl::StrFormat("allocating %s on device %d", what(), ordinal_));
  }
  std::move(give_back).Cancel();
  account->Charge(bytes, bytes);
  Block block;
  block.device_ = this;
  block.account_ = account;
  block.category_ = category;
  block.piece_ = *piece;
  return block;
}

void DeviceMemory::GiveBack(int64_t bytes, Category category) {
  MutexLock lock(&mu_);
  figures_.used_bytes -= bytes;
  if (category == Category::kTemporary) figures_.temporary_bytes -= bytes;
}

}  // namespace hlod::device

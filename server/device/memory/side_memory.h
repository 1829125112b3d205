// The daemon's memory beside that of its devices, as one sum over all sessions: programs, replies, source
// lines, handles, waiting commands. Each owner (a user, or a host over TCP) has a share of it, and each
// session a share of its owner's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/system/mutex.h"

namespace hlod::device {

// The bytes that an owner's sessions hold, or one of them. An owner may hold at most three times what all
// owners leave free: alone it gets three quarters of the total, and the next owner still finds room. A
// session may hold at most three times what its owner can still take, so that a session that hoards leaves
// room for the others of its user. Thread-safe.
class MemoryShare {
 public:
  struct Sum {
    explicit Sum(int64_t max) : max(max) {}
    const int64_t max;
    std::atomic<int64_t> used{0};
  };
  // With an `owner`, a share of that share.
  explicit MemoryShare(std::shared_ptr<Sum> sum, std::shared_ptr<MemoryShare> owner = nullptr)
      : sum_(std::move(sum)), owner_(std::move(owner)) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  // Reserves the bytes until Release. RESOURCE_EXHAUSTED (kind limit) names `taker`, the bytes and the limit.
  absl::Status Reserve(int64_t bytes, std::string_view taker);
  // Returns the status that Reserve would return, without taking bytes.
  absl::Status Check(int64_t bytes, std::string_view taker) const {
    return CheckBeside(sum_->used, bytes, taker);
  }
  // Reserves the bytes even beyond the limit.
  void Charge(int64_t bytes);
  void Release(int64_t bytes) { Charge(-bytes); }
  int64_t used_bytes() const { return used_; }

 private:
  absl::Status CheckBeside(int64_t all, int64_t bytes, std::string_view taker) const;

  const std::shared_ptr<Sum> sum_;
  const std::shared_ptr<MemoryShare> owner_;
  std::atomic<int64_t> used_{0};
};

// Bytes reserved from a share. The destructor releases them, on any thread.
class MemoryCharge {
 public:
  static absl::StatusOr<MemoryCharge> Take(const std::shared_ptr<MemoryShare>& share, int64_t bytes,
                                           std::string_view taker);
  // Reserves the bytes even beyond the limit. Null `share`: they are not charged.
  static MemoryCharge Beyond(const std::shared_ptr<MemoryShare>& share, int64_t bytes) {
    MemoryCharge charge(share);
    charge.Grow(bytes);
    return charge;
  }
  MemoryCharge() = default;
  // A charge of 0 bytes. Without a `share` it only counts.
  explicit MemoryCharge(std::shared_ptr<MemoryShare> share) : share_(std::move(share)) {}
  MemoryCharge(MemoryCharge&&) = default;
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge();
  // Reserves further bytes. Always succeeds for a charge without a share.
  absl::Status TryGrow(int64_t bytes, std::string_view taker);
  // Reserves further bytes even beyond the limit, or releases some if `bytes` is negative.
  void Grow(int64_t bytes) {
    if (share_ == nullptr) return;
    share_->Charge(bytes);
    bytes_ += bytes;
  }

 private:
  MemoryCharge(std::shared_ptr<MemoryShare> share, int64_t bytes) : share_(std::move(share)), bytes_(bytes) {}
  std::shared_ptr<MemoryShare> share_;  // Null: nothing is charged.
  int64_t bytes_ = 0;
};

// Thread-safe.
class SideMemory {
 public:
  explicit SideMemory(int64_t max_bytes) : sum_(std::make_shared<MemoryShare::Sum>(max_bytes)) {}

  // Returns the share of an owner. All sessions of an owner at a time use the same object.
  std::shared_ptr<MemoryShare> ShareOf(const std::string& owner);
  // Returns a new share of the owner's share, for a session.
  std::shared_ptr<MemoryShare> ShareForSession(const std::string& owner) {
    return std::make_shared<MemoryShare>(sum_, ShareOf(owner));
  }
  int64_t used_bytes() const { return sum_->used; }
  int64_t max_bytes() const { return sum_->max; }

 private:
  const std::shared_ptr<MemoryShare::Sum> sum_;
  Mutex mu_;
  absl::flat_hash_map<std::string, std::weak_ptr<MemoryShare>> shares_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::device

// A limit on the bytes of one kind that a session may hold at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "server/device/memory/side_memory.h"

namespace hlod::device {

// Thread-safe.
class ByteBudget {
 public:
  // The treatment of a request larger than the limit: refused, or accepted if no other bytes are in use.
  enum class Oversized { kRefused, kTakenAlone };
  // `what` describes the bytes in messages: "that are under way". `share` is charged with the bytes as well;
  // null for bytes in the devices' memory, which has its own limits.
  ByteBudget(int64_t max, std::string_view limit, std::string_view what,
             std::shared_ptr<MemoryShare> share = nullptr, Oversized oversized = Oversized::kRefused)
      : max_(max), limit_(limit), what_(what), share_(std::move(share)), oversized_(oversized) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;
  ~ByteBudget() {
    if (share_ != nullptr) share_->Release(used_);
  }

  // Reserves the bytes until Release. RESOURCE_EXHAUSTED (kind limit) names `taker`, the bytes and the limit.
  absl::Status Reserve(int64_t bytes, std::string_view taker) {
    int64_t before = used_;
    do {
      RETURN_IF_ERROR(CheckBeside(before, bytes, taker));
    } while (!used_.compare_exchange_weak(before, before + bytes));
    absl::Status of_all = share_ == nullptr ? absl::OkStatus() : share_->Reserve(bytes, taker);
    if (!of_all.ok()) used_ -= bytes;
    return of_all;
  }
  // Returns the status that Reserve would return, without taking bytes. For bytes that are later taken by
  // Charge.
  absl::Status Check(int64_t bytes, std::string_view taker) const {
    RETURN_IF_ERROR(CheckBeside(used_, bytes, taker));
    return share_ == nullptr ? absl::OkStatus() : share_->Check(bytes, taker);
  }
  // Reserves the bytes even beyond the limits.
  void Charge(int64_t bytes) {
    used_ += bytes;
    if (share_ != nullptr) share_->Charge(bytes);
  }
  void Release(int64_t bytes) { Charge(-bytes); }
  int64_t used() const { return used_; }

 private:
  absl::Status CheckBeside(int64_t used, int64_t bytes, std::string_view taker) const {
    if (bytes <= max_ - used) return absl::OkStatus();
    if (oversized_ == Oversized::kTakenAlone && used == 0) return absl::OkStatus();
    return MakeError(ErrorKind::kLimit, absl::StrFormat("%s of %d bytes beside %d %s: the limit %s is %d.",
                                                        taker, bytes, used, what_, limit_, max_));
  }

  const int64_t max_;
  const std::string_view limit_, what_;
  const std::shared_ptr<MemoryShare> share_;
  const Oversized oversized_;
  std::atomic<int64_t> used_{0};
};

// Bytes reserved from a budget. The destructor releases them, on any thread.
class ByteCharge {
 public:
  static absl::StatusOr<ByteCharge> Take(const std::shared_ptr<ByteBudget>& budget, int64_t bytes,
                                         std::string_view taker) {
    RETURN_IF_ERROR(budget->Reserve(bytes, taker));
    return ByteCharge(budget, bytes);
  }
  ByteCharge(ByteCharge&&) = default;
  ByteCharge& operator=(ByteCharge&&) = delete;
  ~ByteCharge() {
    if (budget_ != nullptr) budget_->Release(bytes_);
  }

 private:
  ByteCharge(std::shared_ptr<ByteBudget> budget, int64_t bytes) : budget_(std::move(budget)), bytes_(bytes) {}
  std::shared_ptr<ByteBudget> budget_;  // Null after a move.
  int64_t bytes_;
};

}  // namespace hlod::device

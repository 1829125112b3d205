// The memory of one simulated device, a stated capacity that is charged exactly, and the sum that one session
// holds on all devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "common/base/system/mutex.h"
#include "server/device/memory/backing_pool.h"

namespace hlod::device {

// The bytes charged to a session, over all devices. The simulated figures include placeholders as if each
// were an ordinary buffer: they are the real bytes, the placeholders' bytes, and the temporaries of abstract
// executes. They are exact; a sum beyond 64 bits is reported as the largest number. Thread-safe.
class MemoryAccount {
 public:
  struct Figures {
    int64_t live_bytes = 0, peak_bytes = 0, simulated_live_bytes = 0, simulated_peak_bytes = 0;
  };
  Figures figures() const;
  void Charge(int64_t real_bytes, int64_t simulated_bytes);
  void Discharge(int64_t real_bytes, int64_t simulated_bytes);

 private:
  mutable Mutex mu_;
  int64_t live_bytes_ ABSL_GUARDED_BY(mu_) = 0, peak_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // A placeholder may have any size, because nothing backs it: the sum may exceed 64 bits.
  absl::int128 simulated_live_ ABSL_GUARDED_BY(mu_) = 0, simulated_peak_ ABSL_GUARDED_BY(mu_) = 0;
};

// Bytes charged only to a session's simulated figures. The destructor releases them.
class SimulatedCharge {
 public:
  SimulatedCharge() = default;
  SimulatedCharge(std::shared_ptr<MemoryAccount> account, int64_t bytes);
  SimulatedCharge(SimulatedCharge&& other) noexcept = default;
  SimulatedCharge& operator=(SimulatedCharge&& other) noexcept;
  ~SimulatedCharge();

 private:
  std::shared_ptr<MemoryAccount> account_;
  int64_t bytes_ = 0;
};

// The use of bytes on a device.
enum class Category { kBuffer, kTemporary };

class DeviceMemory;

// Bytes of a device, charged and backed. The destructor releases them. The device must outlive it.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept { *this = std::move(other); }
  Block& operator=(Block&& other) noexcept;
  ~Block() { Release(); }

  std::byte* data() const { return piece_.data; }
  int64_t bytes() const { return piece_.bytes; }

 private:
  friend class DeviceMemory;
  void Release();
  DeviceMemory* device_ = nullptr;
  std::shared_ptr<MemoryAccount> account_;
  Category category_ = Category::kBuffer;
  Piece piece_;
};

// Thread-safe.
class DeviceMemory {
 public:
  DeviceMemory(uint32_t ordinal, int64_t capacity_bytes, BackingPool& pool)
      : ordinal_(ordinal), capacity_bytes_(capacity_bytes), pool_(pool) {}

  struct Figures {
    int64_t used_bytes = 0, peak_bytes = 0, temporary_bytes = 0;
  };
  Figures figures() const;
  uint32_t ordinal() const { return ordinal_; }
  int64_t capacity_bytes() const { return capacity_bytes_; }

  // Charges and backs `bytes`. RESOURCE_EXHAUSTED (kind no_memory) names `what`, the bytes requested and the
  // bytes free. `what` is called only for an error.
  absl::StatusOr<Block> Allocate(const std::shared_ptr<MemoryAccount>& account, int64_t bytes,
                                 Category category, absl::FunctionRef<std::string()> what);
  absl::StatusOr<Block> Allocate(const std::shared_ptr<MemoryAccount>& account, int64_t bytes,
                                 Category category, std::string_view what) {
    return Allocate(account, bytes, category, [&] { return std::string(what); });
  }

 private:
  friend class Block;
  void GiveBack(int64_t bytes, Category category);

  // Constant after construction.
  const uint32_t ordinal_;
  const int64_t capacity_bytes_;
  BackingPool& pool_;
  mutable Mutex mu_;
  Figures figures_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::device

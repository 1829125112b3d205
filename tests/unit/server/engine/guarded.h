// Memory for one array of a test: nothing may be written before or behind it, nor be read or written beyond
// the cache line in which it ends.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace hlod::engine {

// Bytes aligned to 64, as those of a device's buffers, and filled with rubbish. The page that follows cannot
// be touched, also by machine code that no sanitizer sees.
class Guarded {
 public:
  static constexpr std::byte kRubbish{0xA5};

  explicit Guarded(int64_t bytes) : size_(static_cast<size_t>(bytes)) {
    const size_t aligned = (size_ + 63) / 64 * 64;
    within_ = (aligned + kBefore + kPage - 1) / kPage * kPage;
    void* const mapped = mmap(nullptr, within_ + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || mprotect(mapped, within_, PROT_READ | PROT_WRITE) != 0) __builtin_trap();
    mapped_ = static_cast<std::byte*>(mapped);
    data_ = mapped_ + within_ - aligned;
    std::fill(data_ - kBefore, mapped_ + within_, kRubbish);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(mapped_, within_ + kPage); }

  std::byte* data() { return data_; }
  bool Intact() const {
    const auto untouched = [](std::byte byte) { return byte == kRubbish; };
    return std::all_of(data_ - kBefore, data_, untouched) &&
           std::all_of(data_ + size_, mapped_ + within_, untouched);
  }

 private:
  static constexpr size_t kPage = 4096, kBefore = 64;

  size_t size_, within_ = 0;  // The bytes of the array, and the mapped ones that may be touched.
  std::byte* mapped_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace hlod::engine

// A vector of 32-bit words for arenas: grows by realloc (which moves pages instead of bytes), and does not
// initialize new words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace hlod {

class Words {
 public:
  Words() = default;
  Words(const Words& other) {
    if (other.size_ > 0) std::memcpy(Extend(other.size_), other.data_, other.size_ * sizeof(uint32_t));
  }
  Words(Words&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Words& operator=(Words other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Words() { std::free(data_); }

  // Adds `count` words, which the caller must write, and returns the first. Invalidates earlier pointers.
  uint32_t* Extend(size_t count) {
    if (size_ + count > capacity_) Grow(size_ + count);
    uint32_t* const added = data_ + size_;
    size_ += count;
    return added;
  }

  void Clear() { size_ = 0; }  // Empties the vector, and keeps its memory.

  size_t size() const { return size_; }
  const uint32_t* data() const { return data_; }
  uint32_t operator[](size_t i) const { return data_[i]; }

 private:
  void Grow(size_t needed) {
    capacity_ = capacity_ * 2 > needed ? capacity_ * 2 : needed + 64;
    void* const moved = std::realloc(data_, capacity_ * sizeof(uint32_t));
    if (moved == nullptr) std::abort();
    data_ = static_cast<uint32_t*>(moved);
  }

  uint32_t* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace hlod

// Reads FlatBuffers, a format of tables within one run of bytes: a table's vtable says where each of its
// fields lies, and long fields (strings, vectors, other tables) are offsets.
//
// The bytes are not trusted: an offset outside of them sets a sticky error, and the accessors then return
// empty values, so that a reader checks once, at its end. Several offsets may name the same place, so the
// caller must bound how much it reads.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"

namespace hlod::stablehlo::exported {

class Table;

// The bytes, and the first error in them.
class Flatbuffer {
 public:
  explicit Flatbuffer(std::string_view bytes) : bytes_(bytes) {}
  Flatbuffer(const Flatbuffer&) = delete;
  Flatbuffer& operator=(const Flatbuffer&) = delete;

  const absl::Status& status() const { return status_; }
  Table Root();

 private:
  friend class Table;
  // Returns the little-endian number at offset `at`; 0 and an error when it lies outside the bytes.
  template <typename T>
  T NumberAt(size_t at) {
    T value = 0;
    if (Holds(at, sizeof(T))) std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  bool Holds(size_t at, uint64_t count);
  // Returns where the offset at `at` points.
  size_t TargetOf(size_t at);
  // Returns the elements of the vector at `at`, each of `width` bytes.
  std::string_view VectorAt(size_t at, size_t width);

  const std::string_view bytes_;
  absl::Status status_;
};

// A table. Fields are named by their numbers in the schema. An absent field reads as 0 or empty.
class Table {
 public:
  Table() = default;

  bool exists() const { return buffer_ != nullptr; }
  template <typename T>
  T Number(int field) const {
    static_assert(std::is_integral_v<T>);
    const size_t at = PlaceOf(field);
    return at == 0 ? T{0} : buffer_->NumberAt<T>(at);
  }
  Table Child(int field) const;
  // Returns a string, or a vector of bytes.
  std::string_view Bytes(int field) const;
  template <typename T>
  std::vector<T> Numbers(int field) const {
    static_assert(std::is_integral_v<T>);
    const std::string_view bytes = VectorOf(field, sizeof(T));
    std::vector<T> numbers(bytes.size() / sizeof(T));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  // Return the size and an element of a vector of tables or strings. REQUIRES: index < Count(field).
  size_t Count(int field) const;
  Table ChildOf(int field, size_t index) const;
  std::string_view BytesOf(int field, size_t index) const;

 private:
  friend class Flatbuffer;
  Table(Flatbuffer& buffer, size_t at);
  // Returns the offset of a field; 0: it is absent.
  size_t PlaceOf(int field) const;
  std::string_view VectorOf(int field, size_t width) const;
  // Returns where element `index` of a vector of offsets points.
  size_t ElementOf(int field, size_t index) const;

  Flatbuffer* buffer_ = nullptr;
  size_t at_ = 0, vtable_ = 0;
  uint16_t vtable_bytes_ = 0;
};

}  // namespace hlod::stablehlo::exported

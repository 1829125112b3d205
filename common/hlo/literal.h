// Literals: array or tuple values on the host, dense row-major in logical order. Sub-byte types take one byte
// per element.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// A value of a shape. Copying copies the bytes. The shape's layout is dropped, because elements are always in
// row-major order.
class Literal {
 public:
  Literal() = default;  // Has the shape kInvalid and no bytes.
  // Makes a zero-filled literal. REQUIRES: `shape` passes ValidateShape, and the caller is ready to allocate
  // its byte size.
  explicit Literal(const Shape& shape);
  // Makes a zero-filled literal. RESOURCE_EXHAUSTED when `shape` needs more than `max_bytes`;
  // INVALID_ARGUMENT when it is not a valid array, tuple or token shape.
  static absl::StatusOr<Literal> Make(const Shape& shape, int64_t max_bytes);
  static Literal MakeTuple(std::vector<Literal> elements);
  // Makes an array over bytes that `owner` keeps alive, dense and row-major, without a copy: changes of the
  // bytes are changes of the literal. `data` must be aligned to the element type. A copy of the literal has
  // its own bytes.
  static Literal Borrow(const Shape& shape, std::byte* data, std::shared_ptr<void> owner);

  // Scalar(1.5f), Vector<int32_t>({1, 2}), Array<float>({2, 2}, {1, 2, 3, 4}): the element type is that of T.
  // REQUIRES: the number of values is the product of the dimensions; otherwise the program aborts with both.
  template <typename T>
  static Literal Scalar(T value) {
    return Array<T>({}, {value});
  }
  template <typename T>
  static Literal Vector(std::initializer_list<T> values) {
    return Array<T>({static_cast<int64_t>(values.size())}, values);
  }
  template <typename T>
  static Literal Array(std::initializer_list<int64_t> dims, std::initializer_list<T> values) {
    static_assert(kPrimitiveTypeOf<T> != kInvalid, "No element type of HLO is stored as T.");
    Literal literal(Shape::Array(kPrimitiveTypeOf<T>, dims));
    literal.RequireCount(values.size());
    std::copy(values.begin(), values.end(), literal.data<T>().begin());
    return literal;
  }

  const Shape& shape() const { return shape_; }
  int64_t element_count() const { return element_count_; }

  // The dense payload of an array (empty for tuples and tokens). Aligned to 64 bytes unless it is borrowed.
  absl::Span<std::byte> bytes() { return {storage_.get(), static_cast<size_t>(byte_size_)}; }
  absl::Span<const std::byte> bytes() const { return {storage_.get(), static_cast<size_t>(byte_size_)}; }

  // The payload as elements. REQUIRES: sizeof(T) is the element width of the shape's type.
  template <typename T>
  absl::Span<T> data() {
    return absl::Span<T>(reinterpret_cast<T*>(storage_.get()), static_cast<size_t>(element_count_));
  }
  template <typename T>
  absl::Span<const T> data() const {
    return absl::Span<const T>(reinterpret_cast<const T*>(storage_.get()),
                               static_cast<size_t>(element_count_));
  }

  std::vector<Literal>& elements() { return elements_; }
  const std::vector<Literal>& elements() const { return elements_; }

  // Returns the leaf arrays of a nested tuple in depth-first order (the literal itself when it is an array).
  std::vector<const Literal*> Leaves() const;

  // True when the shapes (ignoring layouts) and the bytes are equal.
  friend bool operator==(const Literal& a, const Literal& b);

 private:
  struct Free {
    void operator()(std::byte* p) const;
    std::shared_ptr<void> owner;  // Keeps borrowed bytes alive.
  };
  static std::byte* Allocate(int64_t bytes);
  // Aborts unless the shape has `given` elements.
  void RequireCount(size_t given) const;

  Shape shape_;
  int64_t element_count_ = 0;
  int64_t byte_size_ = 0;
  std::unique_ptr<std::byte[], Free> storage_;
  std::vector<Literal> elements_;

 public:
  Literal(const Literal& other);
  Literal& operator=(const Literal& other);
  // A literal that was moved from equals a default-constructed one.
  Literal(Literal&& other) noexcept { *this = std::move(other); }
  Literal& operator=(Literal&& other) noexcept;
};

// Returns element `index` (row-major linear) of an array as a double, for complex types the real part. For
// printing and tests.
double ElementAsDouble(const Literal& literal, int64_t index);

// Returns the same values in another element type, each rounded, saturated or truncated as HLO's `convert`
// does.
absl::StatusOr<Literal> Convert(const Literal& literal, PrimitiveType type);

}  // namespace hlod::hlo

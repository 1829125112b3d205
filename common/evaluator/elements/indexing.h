// Iterates over multi-dimensional arrays: odometers, and copies between strided views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/evaluator/evaluation.h"
#include "common/hlo/shape.h"

namespace hlod::evaluator {

using hlo::Dims;

// Iterates over all index vectors of `dims` in row-major order: for (Odometer at(dims); at.valid();
// at.Next()) use(at.index()). Without dimensions there is one vector; an empty array has none.
class Odometer {
 public:
  explicit Odometer(absl::Span<const int64_t> dims)
      : dims_(dims.begin(), dims.end()), index_(dims.size(), 0) {
    for (int64_t size : dims_) valid_ = valid_ && size > 0;
  }
  bool valid() const { return valid_; }
  const Dims& index() const { return index_; }
  int64_t operator[](int64_t dimension) const { return index_[dimension]; }
  void Next() {
    for (int64_t d = static_cast<int64_t>(dims_.size()) - 1; d >= 0; --d) {
      if (++index_[d] < dims_[d]) return;
      index_[d] = 0;
    }
    valid_ = false;
  }

 private:
  Dims dims_, index_;
  bool valid_ = true;
};

// Returns the product of sizes.
inline int64_t Count(absl::Span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return count;
}

// Returns the sum of index times stride.
inline int64_t Offset(absl::Span<const int64_t> index, absl::Span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
  return offset;
}

// A view of an array: the position of its first element, and the distance of neighbours along each dimension,
// in elements. Strides may be 0 or negative.
struct View {
  int64_t offset = 0;
  Dims strides;
};

// Copies the elements at every index of `dims` from one view to another; an element has `width` bytes.
absl::Status CopyElements(Evaluation& evaluation, absl::Span<const int64_t> dims, int64_t width,
                          const std::byte* from, const View& source, std::byte* to, const View& target);

// Returns the dimensions of 0..rank-1 that are not in `some`, ascending.
Dims OtherDimensions(int64_t rank, absl::Span<const int64_t> some);
Dims OtherDimensions(int64_t rank, const Dims& a, const Dims& b);

// Returns values[which[0]], values[which[1]], ...
Dims Pick(absl::Span<const int64_t> values, absl::Span<const int64_t> which);

}  // namespace hlod::evaluator

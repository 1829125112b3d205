// Where the windows of a gather or scatter lie: index vectors read from memory, turned into offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/run/step.h"
#include "server/engine/run/step_util.h"
#include "server/engine/run/strided_index.h"

namespace hlod::engine {

// Reads the start of window b, for b in [0, count()): one index vector, and coordinates that follow b itself
// (batching dimensions). gather and scatter have the same numbers under different names. Offsets are in
// elements of the operand.
class WindowStarts {
 public:
  struct Numbers {
    const hlo::Shape& operand;
    const hlo::Shape& indices;
    int64_t index_vector_dim;
    const hlo::Dims& index_to_operand;  // Component of the vector -> operand dimension.
    const hlo::Dims& operand_batching;  // Operand dimensions that follow b ...
    const hlo::Dims& indices_batching;  // ... and the dimensions of the indices that they follow.
    const hlo::Dims& window;            // Window size along each operand dimension.
  };
  explicit WindowStarts(const Numbers& numbers);

  int64_t count() const { return positions_.count(); }
  // Sizes of the indices' dimensions but for the vector's: b counts through them, row-major.
  const hlo::Dims& batch_dims() const { return batch_dims_; }
  // Every start is a multiple of `unit` elements.
  bool AreMultiplesOf(int64_t unit) const;

  // The window's start with each component clamped into its range.
  int64_t Clamped(const std::byte* indices, int64_t b) const {
    const std::byte* vector = indices + positions_.Offset(b) * width_;
    int64_t start = batching_.Offset(b);
    for (const Component& c : components_) {
      start += std::clamp<int64_t>(ReadInteger(vector + c.position, type_), 0, c.last) * c.stride;
    }
    return start;
  }
  // The window's start, or -1 when some of the window lies outside.
  int64_t Checked(const std::byte* indices, int64_t b) const {
    const std::byte* vector = indices + positions_.Offset(b) * width_;
    int64_t start = batching_.Offset(b);
    for (const Component& c : components_) {
      const int64_t index = ReadInteger(vector + c.position, type_);
      if (index < 0 || index > c.last) return -1;
      start += index * c.stride;
    }
    return start;
  }

  // The same of windows [begin, begin + count), in one go.
  template <bool kClamped>
  void Resolve(const std::byte* indices, int64_t begin, int64_t count, int64_t* starts) const {
    if (is_plain_ && type_ == hlo::kS32)
      return ResolvePlain<kClamped, int32_t>(indices, begin, count, starts);
    if (is_plain_ && type_ == hlo::kS64)
      return ResolvePlain<kClamped, int64_t>(indices, begin, count, starts);
    for (int64_t b = 0; b < count; ++b)
      starts[b] = kClamped ? Clamped(indices, begin + b) : Checked(indices, begin + b);
  }

 private:
  // One component at equal distances, and no batching: a table looked up by a list of places.
  template <bool kClamped, typename T>
  void ResolvePlain(const std::byte* indices, int64_t begin, int64_t count, int64_t* starts) const {
    const Component c = components_[0];
    const int64_t step = positions_.innermost_stride();
    const auto* index = reinterpret_cast<const T*>(indices + c.position) + begin * step;
    for (int64_t b = 0; b < count; ++b, index += step) {
      const int64_t at = *index, inside = std::clamp<int64_t>(at, 0, c.last);
      starts[b] = kClamped || at == inside ? inside * c.stride : -1;
    }
  }

  struct Component {
    int64_t position;  // Bytes from the vector's first component.
    int64_t last;      // The largest start that keeps the window inside.
    int64_t stride;
  };
  hlo::PrimitiveType type_;
  int width_;
  hlo::Dims batch_dims_;
  StridedIndex positions_, batching_;
  std::vector<int64_t> batching_strides_;
  std::vector<Component> components_;
  bool is_plain_ = false;
};

// scatter.cc
MaybeStep MakeScatterStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine

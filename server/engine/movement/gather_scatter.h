// Finds the windows of a gather or scatter: reads index vectors from memory and converts them to offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/step.h"
#include "server/engine/run/step_util.h"
#include "server/engine/run/strided_index.h"

namespace hlod::engine {

// Reads the start of window b, for b in [0, count()), from one index vector and from coordinates that are
// determined by b itself (batching dimensions). gather and scatter have the same numbers under different
// names. Offsets are in elements of the operand. REQUIRES of all that read starts: a window fits into the
// operand, as no window of size 1 does into an array without elements.
class WindowStarts {
 public:
  struct Numbers {
    const hlo::Shape& operand;
    const hlo::Shape& indices;
    int64_t index_vector_dim;
    const hlo::Dims& index_to_operand;  // By component of the vector, the dimension of the operand.
    const hlo::Dims& operand_batching;  // Operand dimensions that are determined by b.
    const hlo::Dims& indices_batching;  // Dimensions of the indices that determine operand_batching.
    const hlo::Dims& window;            // The window's size along each operand dimension.
  };
  explicit WindowStarts(const Numbers& numbers);

  int64_t count() const { return positions_.count(); }
  // The sizes of the indices' dimensions, without that of the vector. b counts over them, row-major.
  const hlo::Dims& batch_dims() const { return batch_dims_; }
  // Returns true when every start is a multiple of `unit` elements.
  bool AreMultiplesOf(int64_t unit) const;

  // Returns the window's start, each component clamped into its range.
  int64_t Clamped(const std::byte* indices, int64_t b) const {
    const std::byte* vector = indices + positions_.Offset(b) * width_;
    int64_t start = batching_.Offset(b);
    for (const Component& c : components_) {
      start += std::clamp<int64_t>(ReadInteger(vector + c.position, type_), 0, c.last) * c.stride;
    }
    return start;
  }
  // Returns the window's start, or -1 when some of the window lies outside.
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

  // Sets `starts` to the starts of windows [begin, begin + count), clamped or checked.
  template <bool kClamped>
  void Resolve(const std::byte* indices, int64_t begin, int64_t count, int64_t* starts) const {
    if (type_ == hlo::kS32) return ResolveOf<kClamped, int32_t>(indices, begin, count, starts);
    if (type_ == hlo::kS64) return ResolveOf<kClamped, int64_t>(indices, begin, count, starts);
    if (type_ == hlo::kU32) return ResolveOf<kClamped, uint32_t>(indices, begin, count, starts);
    for (int64_t b = 0; b < count; ++b)
      starts[b] = kClamped ? Clamped(indices, begin + b) : Checked(indices, begin + b);
  }

 private:
  struct Component {
    int64_t position;  // The distance in bytes from the vector's first component.
    int64_t last;      // The largest start that keeps the window inside.
    int64_t stride;
  };
  // The number of consecutive windows at equal distances (0: all), and these distances in elements: of index
  // vectors, and of the offsets that are determined by b.
  struct Run {
    int64_t length = 0, position = 0, batching = 0;
  };

  // Resolves dense indices into one dimension.
  template <bool kClamped, typename T>
  struct DenseStarts {
    static_assert(std::is_signed_v<T> || sizeof(T) < 8,
                  "The largest start must fit into 64 bits with a sign.");
    static HLOD_ALWAYS_INLINE void Run(const T* index, int64_t n, int64_t first, int64_t last, int64_t stride,
                                       int64_t* starts) {
      const T most = static_cast<T>(std::min<int64_t>(last, std::numeric_limits<T>::max()));
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) {
        const T at = index[i], inside = std::min(std::max(at, T{0}), most);
        const int64_t start = first + static_cast<int64_t>(inside) * stride;
        starts[i] = kClamped || at == inside ? start : -1;
      }
    }
  };

  // Adds a component of vectors that are `step` indices apart. A start of -1 stays -1.
  template <bool kClamped, typename T>
  struct AddedStarts {
    static HLOD_ALWAYS_INLINE void Run(const T* index, int64_t step, int64_t n, int64_t last, int64_t stride,
                                       int64_t* starts) {
      const T most = static_cast<T>(std::min<int64_t>(last, std::numeric_limits<T>::max()));
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) {
        const T at = index[i * step], inside = std::min(std::max(at, T{0}), most);
        const int64_t start = starts[i] + static_cast<int64_t>(inside) * stride;
        starts[i] = kClamped || (at == inside && starts[i] >= 0) ? start : -1;
      }
    }
  };

  // Works run by run: within a run, index vectors and the offsets determined by b are at equal distances.
  template <bool kClamped, typename T>
  void ResolveOf(const std::byte* indices, int64_t begin, int64_t count, int64_t* starts) const {
    const Run run = runs_;
    for (int64_t b = 0; b < count;) {
      const int64_t in_run = run.length == 0 ? 0 : (begin + b) % run.length;
      const int64_t n = run.length == 0 ? count - b : std::min(count - b, run.length - in_run);
      const std::byte* const vectors = indices + positions_.Offset(begin + b) * width_;
      const int64_t first = batching_.Offset(begin + b);
      if (components_.size() == 1) {
        ResolveRun<kClamped, T>(vectors, first, n, components_[0], starts + b);
      } else {
        for (int64_t i = 0; i < n; ++i) starts[b + i] = first + i * run.batching;
        for (const Component& c : components_) AddRun<kClamped, T>(vectors, n, c, starts + b);
      }
      b += n;
    }
  }
  template <bool kClamped, typename T>
  void ResolveRun(const std::byte* vectors, int64_t first, int64_t n, const Component& c,
                  int64_t* starts) const {
    const auto* index = reinterpret_cast<const T*>(vectors + c.position);
    if (runs_.position == 1 && runs_.batching == 0)
      return RunBest<DenseStarts<kClamped, T>>(index, n, first, c.last, c.stride, starts);
    for (int64_t i = 0; i < n; ++i, index += runs_.position, first += runs_.batching) {
      const int64_t at = *index, inside = std::clamp<int64_t>(at, 0, c.last);
      starts[i] = kClamped || at == inside ? first + inside * c.stride : -1;
    }
  }
  template <bool kClamped, typename T>
  void AddRun(const std::byte* vectors, int64_t n, const Component& c, int64_t* starts) const {
    RunBest<AddedStarts<kClamped, T>>(reinterpret_cast<const T*>(vectors + c.position), runs_.position, n,
                                      c.last, c.stride, starts);
  }

  hlo::PrimitiveType type_;
  int width_;
  hlo::Dims batch_dims_;
  StridedIndex positions_, batching_;
  std::vector<int64_t> batching_strides_;
  std::vector<Component> components_;
  Run runs_;
};

// Defined in scatter.cc.
MaybeStep MakeScatterStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine

// Views are composed from the base outwards: each operation maps its operand's strides to its own, or the
// chain restarts at it.
#include "server/engine/tile/view.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

// Returns the strides after a reshape, or nullopt: each new dimension must be within one old dimension, or
// cover several adjacent ones.
std::optional<hlo::Dims> ReshapeStrides(absl::Span<const int64_t> from, const hlo::Dims& strides,
                                        absl::Span<const int64_t> to) {
  // Joins old dimensions if index arithmetic allows it, innermost first.
  struct Run {
    int64_t size, stride;
  };
  std::vector<Run> runs;
  for (size_t d = from.size(); d-- > 0;) {
    if (from[d] == 1) continue;
    if (!runs.empty() && strides[d] == runs.back().stride * runs.back().size) runs.back().size *= from[d];
    else runs.push_back({from[d], strides[d]});
  }
  hlo::Dims result(to.size(), 0);
  size_t run = 0;
  int64_t used = 1;  // The part of runs[run].size that is used by the new dimensions inside it.
  for (size_t d = to.size(); d-- > 0;) {
    if (to[d] == 1) continue;
    if (to[d] == 0) return std::nullopt;  // An empty array has no strides to find.
    if (run < runs.size() && used == runs[run].size) {
      ++run;
      used = 1;
    }
    if (run == runs.size() || runs[run].size / used % to[d] != 0) return std::nullopt;
    result[d] = runs[run].stride * used;
    used *= to[d];
  }
  return result;
}

// Returns the strides after one operation, or nullopt when its result is not a view of its operand.
std::optional<StridedRead> Apply(hlo::Instruction instruction, const StridedRead& operand) {
  const hlo::Shape& from = instruction.operand(0).shape();
  const hlo::Shape& to = instruction.shape();
  StridedRead result;
  result.base = operand.base;
  result.is_iota = operand.is_iota;
  result.offset = operand.offset;
  switch (instruction.opcode()) {
    case hlo::kCopy: result.strides = operand.strides; return result;
    case hlo::kReshape: {
      std::optional<hlo::Dims> strides = ReshapeStrides(from.dims, operand.strides, to.dims);
      if (!strides) return std::nullopt;
      result.strides = *std::move(strides);
      return result;
    }
    case hlo::kBroadcast: {
      result.strides.assign(to.dims.size(), 0);
      const hlo::Dims& dimensions = instruction.dimensions();
      for (size_t d = 0; d < dimensions.size(); ++d) result.strides[dimensions[d]] = operand.strides[d];
      return result;
    }
    case hlo::kSlice: {
      const auto& slice = instruction.attributes<hlo::SliceAttributes>();
      result.strides = operand.strides;
      for (size_t d = 0; d < to.dims.size(); ++d) {
        result.offset += slice.start[d] * operand.strides[d];
        // A slice of one element may have any step; others overflow only for empty arrays.
        if (!slice.stride.empty() && to.dims[d] > 1 &&
            __builtin_mul_overflow(result.strides[d], slice.stride[d], &result.strides[d]))
          result.strides[d] = 0;
      }
      return result;
    }
    case hlo::kReverse:
      result.strides = operand.strides;
      for (int64_t d : instruction.dimensions()) {
        result.offset += (from.dims[d] - 1) * operand.strides[d];
        result.strides[d] = -result.strides[d];
      }
      return result;
    default: return std::nullopt;
  }
}

// Looks through at most `depth_max` instructions.
StridedRead ResolveStrides(const hlo::Computation& computation, hlo::NodeId node, size_t depth_max) {
  std::vector<hlo::NodeId> chain;  // The chain from the node inwards.
  hlo::NodeId base = node;
  while (IsViewOpcode(computation[base].opcode()) && computation[base].opcode() != hlo::kIota &&
         chain.size() < depth_max) {
    chain.push_back(base);
    base = computation[base].operands()[0];
  }
  StridedRead read;
  const auto start_at = [&](hlo::NodeId at) {
    const hlo::Shape& shape = computation[at].shape();
    read.base = at;
    read.is_iota = computation[at].opcode() == hlo::kIota;
    read.offset = 0;
    if (read.is_iota) {
      read.strides.assign(shape.dims.size(), 0);
      read.strides[computation[at].dimensions()[0]] = 1;
    } else {
      read.strides = hlo::RowMajorStrides(shape.dims);
    }
  };
  start_at(base);
  for (size_t i = chain.size(); i-- > 0;) {
    if (std::optional<StridedRead> next = Apply(computation[chain[i]], read)) read = *std::move(next);
    else start_at(chain[i]);
  }
  return read;
}

// The length up to which a chain of views is looked through for each step that reads its end, which bounds
// the time for a long chain of steps.
constexpr size_t kStepViewsMax = 16;

}  // namespace

bool ReadsView(hlo::Instruction instruction, size_t k) {
  if (!instruction.shape().IsArray() || !AllStatic(instruction)) return false;
  switch (instruction.opcode()) {
    case hlo::kSlice:
    case hlo::kReverse:
    case hlo::kTranspose:
    case hlo::kPad: return k == 0;
    case hlo::kConcatenate: return true;
    default: return false;
  }
}

StridedRead ReadOfOperand(hlo::Instruction instruction, size_t k) {
  const hlo::NodeId operand = instruction.operands()[k];
  const bool empty = hlo::ElementCount(instruction.operand(static_cast<uint32_t>(k)).shape()) == 0;
  if (!empty && ReadsView(instruction, k)) {
    StridedRead read = ResolveStrides(instruction.computation(), operand, kStepViewsMax);
    if (!read.is_iota) return read;  // An array that counts has no memory, unless a step of its own makes it.
  }
  return {.base = operand,
          .strides = hlo::RowMajorStrides(instruction.operand(static_cast<uint32_t>(k)).shape().dims)};
}

bool IsViewOpcode(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kCopy:
    case hlo::kReshape:
    case hlo::kBroadcast:
    case hlo::kSlice:
    case hlo::kReverse:
    case hlo::kIota: return true;
    default: return false;
  }
}

View ResolveView(const hlo::Computation& computation, hlo::NodeId node, int64_t count) {
  const StridedRead read = ResolveStrides(computation, node, computation.size());
  View view;
  view.base = read.base;
  view.is_iota = read.is_iota;
  view.offset = read.offset;
  const hlo::Shape& shape = computation[node].shape();
  view.count = Elements(shape);
  if (view.count == 1 && count > 1) {  // A scalar operand of a wider operation.
    view.count = count;
    view.dims.push_back({count, 0});
    return view;
  }
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    if (shape.dims[d] == 1) continue;
    const View::Dimension next{shape.dims[d], read.strides[d]};
    if (!view.dims.empty() && view.dims.back().stride == next.size * next.stride) {
      view.dims.back() = {view.dims.back().size * next.size, next.stride};
    } else {
      view.dims.push_back(next);
    }
  }
  if (view.dims.empty()) view.dims.push_back({1, 0});
  return view;
}

RunCursor::RunCursor(const View& view, int64_t start) : view_(&view), offset_(view.offset) {
  int64_t rest = start;
  for (size_t d = view.dims.size(); d-- > 0;) {
    index_[d] = rest % view.dims[d].size;
    rest /= view.dims[d].size;
    offset_ += index_[d] * view.dims[d].stride;
  }
}

void RunCursor::Advance(int64_t n) { Advance(view_->dims.size() - 1, n); }

void RunCursor::AdvanceRows(int64_t rows, int64_t row) {
  const size_t inner = view_->dims.size() - 1;
  if (inner == 0 || view_->dims[inner].size > row) Advance(inner, std::min(rows * row, left()));
  else Advance(inner - 1, rows);
}

void RunCursor::Advance(size_t d, int64_t n) {
  index_[d] += n;
  offset_ += n * view_->dims[d].stride;
  // At the end of a dimension, the next outer index advances.
  while (index_[d] == view_->dims[d].size && d > 0) {
    offset_ -= view_->dims[d].size * view_->dims[d].stride;
    index_[d] = 0;
    --d;
    ++index_[d];
    offset_ += view_->dims[d].stride;
  }
}

namespace {

// Calls run(offset, stride, length, done) for each stretch of the innermost of `rank` dimensions within
// [start, start + n), where element 0 is at `offset`.
template <typename Run>
HLOD_ALWAYS_INLINE void ForEachRun(const View::Dimension* dims, size_t rank, int64_t offset, int64_t start,
                                   int64_t n, Run run) {
  constexpr size_t kMax = 64;
  int64_t index[kMax];
  rank = std::min(rank, kMax);
  int64_t rest = start;
  for (size_t d = rank; d-- > 0;) {
    index[d] = rest % dims[d].size;
    rest /= dims[d].size;
    offset += index[d] * dims[d].stride;
  }
  const View::Dimension inner = dims[rank - 1];
  for (int64_t done = 0; done < n;) {
    const int64_t length = std::min(n - done, inner.size - index[rank - 1]);
    run(offset, inner.stride, length, done);
    done += length;
    if (done == n) break;
    // The stretch reached the end of the innermost dimension, so outer indices advance.
    offset -= index[rank - 1] * inner.stride;
    index[rank - 1] = 0;
    for (size_t d = rank - 1; d-- > 0;) {
      offset += dims[d].stride;
      if (++index[d] < dims[d].size) break;
      offset -= dims[d].size * dims[d].stride;
      index[d] = 0;
    }
  }
}

template <typename T>
struct FillKernel {
  static HLOD_ALWAYS_INLINE void Run(T element, int64_t n, T* out) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = element;
  }
};

// Returns the largest offset of a view's element.
int64_t LastOffset(const View& view) {
  int64_t last = view.offset;
  for (const View::Dimension& d : view.dims) last += std::max<int64_t>(0, (d.size - 1) * d.stride);
  return last;
}

// Runs of at most this many bytes are copied as one piece of a fixed length, without a call: what it writes
// beyond the run's end is overwritten by the next run.
constexpr int64_t kShortRunBytes = 128;

// Copies `runs` runs of `size` elements, whose beginnings are `step` apart; with `fill` a run is one element,
// many times. Reads no element from `from_end` on, and writes none from `to_end` on.
template <typename T, int64_t kBytes>
HLOD_ALWAYS_INLINE void CopyShortRuns(const T* from, int64_t step, int64_t runs, int64_t size, bool fill,
                                      T* to, const T* from_end, const T* to_end) {
  constexpr int64_t kLength = kBytes / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < runs; ++i, from += step, to += size) {
    const bool has_room = to_end - to >= kLength;
    if (fill && has_room) {
      const T element = *from;
#pragma omp simd
      for (int64_t k = 0; k < kLength; ++k) to[k] = element;
    } else if (has_room && from_end - from >= kLength) {
      std::memcpy(to, from, kBytes);
    } else {
      for (int64_t k = 0; k < size; ++k) to[k] = from[fill ? 0 : k];
    }
  }
}

template <typename T>
struct ReadKernel {
  static HLOD_ALWAYS_INLINE void Run(const View* view, const T* base, int64_t start, int64_t n, T* out) {
    const View::Dimension inner = view->dims.back();
    if constexpr (std::is_integral_v<T>) {
      const bool is_short = inner.size * static_cast<int64_t>(sizeof(T)) <= kShortRunBytes;
      if (is_short && view->dims.size() > 1 && (inner.stride == 0 || inner.stride == 1))
        return ReadShort(*view, base, start, n, out);
    }
    ReadRuns(*view, base, start, n, out);
  }

 private:
  // With constant strides, vectors are loaded and shuffled.
  template <int64_t kStride>
  static HLOD_ALWAYS_INLINE void ReadStridedBy(const T* from, int64_t length, T* out) {
#pragma omp simd
    for (int64_t i = 0; i < length; ++i) out[i] = from[i * kStride];
  }
  static HLOD_ALWAYS_INLINE void ReadStrided(const T* from, int64_t stride, int64_t length, T* out) {
    constexpr int64_t kShort = 32;
    if (length >= kShort && stride == 2) return ReadStridedBy<2>(from, length, out);
    if (length >= kShort && stride == 3) return ReadStridedBy<3>(from, length, out);
    if (length >= kShort && stride == 4) return ReadStridedBy<4>(from, length, out);
    for (int64_t i = 0; i < length; ++i) out[i] = from[i * stride];
  }

  static HLOD_ALWAYS_INLINE void ReadRuns(const View& view, const T* base, int64_t start, int64_t n, T* out) {
    const auto read = [=](int64_t offset, int64_t stride, int64_t length, int64_t done)
        __attribute__((always_inline)) {
      const T* from = base + offset;
      if (stride == 1) {
        std::memcpy(out + done, from, static_cast<size_t>(length) * sizeof(T));
      } else if (stride == 0) {
        FillKernel<T>::Run(*from, length, out + done);
      } else {
        ReadStrided(from, stride, length, out + done);
      }
    };
    ForEachRun(view.dims.data(), view.dims.size(), view.offset, start, n, read);
  }

  // Reads whole runs as elements of the dimensions around them, between the parts of a run at both ends.
  static HLOD_ALWAYS_INLINE void ReadShort(const View& view, const T* base, int64_t start, int64_t n,
                                           T* out) {
    const View::Dimension inner = view.dims.back();
    const int64_t before = std::min(n, (inner.size - start % inner.size) % inner.size);
    const int64_t runs = (n - before) / inner.size, after = n - before - runs * inner.size;
    if (before > 0) ReadRuns(view, base, start, before, out);
    if (runs > 0) {
      const T* const from_end = base + LastOffset(view) + 1;
      T* const first = out + before;
      const T* const to_end = first + runs * inner.size;
      const int64_t bytes = inner.size * static_cast<int64_t>(sizeof(T));
      const auto copy = [=](int64_t offset, int64_t step, int64_t length, int64_t done)
          __attribute__((always_inline)) {
        const T* const from = base + offset;
        T* const to = first + done * inner.size;
        const bool fill = inner.stride == 0;
        if (bytes <= 16) CopyShortRuns<T, 16>(from, step, length, inner.size, fill, to, from_end, to_end);
        else if (bytes <= 32)
          CopyShortRuns<T, 32>(from, step, length, inner.size, fill, to, from_end, to_end);
        else if (bytes <= 64)
          CopyShortRuns<T, 64>(from, step, length, inner.size, fill, to, from_end, to_end);
        else CopyShortRuns<T, 128>(from, step, length, inner.size, fill, to, from_end, to_end);
      };
      const int64_t first_run = (start + before) / inner.size;
      ForEachRun(view.dims.data(), view.dims.size() - 1, view.offset, first_run, runs, copy);
    }
    if (after > 0) ReadRuns(view, base, start + n - after, after, out + n - after);
  }
};

struct IotaKernel {
  static HLOD_ALWAYS_INLINE void Run(const View* view, int64_t start, int64_t n, int64_t* out) {
    const auto count = [=](int64_t offset, int64_t stride, int64_t length, int64_t done)
        __attribute__((always_inline)) {
#pragma omp simd
      for (int64_t i = 0; i < length; ++i) out[done + i] = offset + i * stride;
    };
    ForEachRun(view->dims.data(), view->dims.size(), view->offset, start, n, count);
  }
};

}  // namespace

void ReadView(const View& view, const std::byte* base, int width, int64_t start, int64_t n, std::byte* out) {
  VisitWidth(width, [&]<typename T>() {
    RunBest<ReadKernel<T>>(&view, reinterpret_cast<const T*>(base), start, n, reinterpret_cast<T*>(out));
  });
}

void Fill(const std::byte* element, int width, int64_t n, std::byte* out) {
  VisitWidth(width, [&]<typename T>() {
    RunBest<FillKernel<T>>(*reinterpret_cast<const T*>(element), n, reinterpret_cast<T*>(out));
  });
}

void ReadIota(const View& view, int64_t start, int64_t n, int64_t* out) {
  RunBest<IotaKernel>(&view, start, n, out);
}

}  // namespace hlod::engine

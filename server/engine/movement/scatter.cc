// scatter: combines windows of updates into an operand, always in the order of the updates, so that equal
// runs return equal bits.
//
// Threads divide the operand instead of the updates (unless the updates are declared to be disjoint): each
// thread scans all indices and applies the updates in its share of the operand.
//
// When windows are interleaved in the updates (columns that are added by number), threads divide the
// positions in the window instead: all windows' elements of one position are combined before those of the
// next. One window after another would read a separate cache line for each element. Elements of different
// positions are never combined.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "common/base/errors/status.h"
#include "server/engine/movement/copy_nd.h"
#include "server/engine/movement/gather_scatter.h"
#include "server/engine/movement/movement.h"
#include "server/engine/reduce/reducer_ops.h"
#include "server/engine/run/parallel.h"
#include "server/engine/tile/scalar_function.h"

namespace hlod::engine {
namespace {

// Sets dst[i] = combine(dst[i], src[i]) for n elements; strides are in elements.
using CombineRun = void (*)(std::byte* dst, const std::byte* src, int64_t n, int64_t dst_stride,
                            int64_t src_stride);

// Sets dst[starts[i]] = combine(dst[starts[i]], src[i * src_stride]) for n single elements, in order. A
// negative start is skipped.
using CombinePoints = void (*)(std::byte* dst, const std::byte* src, const int64_t* starts, int64_t n,
                               int64_t src_stride);
// The same for rows of `width` contiguous elements whose starts are in [low, high), of n rows whose sources
// are `src_stride` elements apart. n is at most kStartsAtOnce.
using CombineRows = void (*)(std::byte* dst, const std::byte* src, const int64_t* starts, int64_t n,
                             int64_t src_stride, int64_t width, int64_t low, int64_t high);
struct Combine {
  CombineRun run = nullptr;
  CombinePoints points = nullptr;
  CombineRows rows = nullptr;
};

constexpr int64_t kStartsAtOnce = 512;
constexpr int64_t kAhead = 16;  // The distance at which the memory of a later point is prefetched.

// Sets `kept` to the numbers of the starts in [low, high), and returns their count. Indices are random, so
// that the processor would mispredict a branch for each.
HLOD_ALWAYS_INLINE int64_t StartsInside(const int64_t* starts, int64_t n, int64_t low, int64_t high,
                                        int32_t* kept) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    kept[count] = static_cast<int32_t>(i);
    count += static_cast<int64_t>(starts[i] >= low) & static_cast<int64_t>(starts[i] < high);
  }
  return count;
}

template <typename Op>
struct DenseKernel {
  using T = typename Op::Element;
  static HLOD_ALWAYS_INLINE void Run(T* d, const T* s, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) d[i] = Op::Store(Op::Apply(Op::Load(d[i]), Op::Load(s[i])));
  }
};
// Joins kCount elements, as vectors. Extrema of floats by integers in the same order.
template <typename Op, int64_t kCount>
HLOD_ALWAYS_INLINE void JoinElements(typename Op::Element* to, const typename Op::Element* from) {
  using T = typename Op::Element;
  if constexpr (Op::kExtremum && std::is_floating_point_v<T>) {
    using Order = OrderedKey<Op>;
#pragma omp simd
    for (int64_t j = 0; j < kCount; ++j) {
      const auto a = Order::Load(to[j]), b = Order::Load(from[j]);
      to[j] = Order::Back(Order::Join(Order::Of(a), Order::Of(b)), Order::IsNan(a) | Order::IsNan(b));
    }
  } else {
#pragma omp simd
    for (int64_t j = 0; j < kCount; ++j) to[j] = Op::Store(Op::Apply(Op::Load(to[j]), Op::Load(from[j])));
  }
}

// Returns true if all starts are in [low, high), as they mostly are.
HLOD_ALWAYS_INLINE bool AllInside(const int64_t* starts, int64_t n, int64_t low, int64_t high) {
  const auto first = static_cast<uint64_t>(low), last = static_cast<uint64_t>(high - 1);
  uint64_t outside = 0;  // The highest bit is set if a difference is negative.
#pragma omp simd reduction(| : outside)
  for (int64_t i = 0; i < n; ++i) {
    const auto start = static_cast<uint64_t>(starts[i]);
    outside |= (start - first) | (last - start);
  }
  return outside >> 63 == 0;
}

// Joins a row of kWidth elements, or of any width if that is 0.
template <typename Op, int64_t kWidth>
HLOD_ALWAYS_INLINE void JoinRow(typename Op::Element* to, const typename Op::Element* from, int64_t width) {
  constexpr int64_t kPart = 8, kHalf = kPart / 2;
  if constexpr (kWidth != 0) {
    JoinElements<Op, kWidth>(to, from);
  } else {
    int64_t left = width;
    for (; left >= kPart; left -= kPart, to += kPart, from += kPart) JoinElements<Op, kPart>(to, from);
    if (left >= kHalf) {
      JoinElements<Op, kHalf>(to, from);
      left -= kHalf, to += kHalf, from += kHalf;
    }
    for (; left > 0; --left, ++to, ++from) JoinElements<Op, 1>(to, from);
  }
}

// Rows are short, so that one call takes many of them.
template <typename Op>
struct RowsKernel {
  using T = typename Op::Element;
  static HLOD_ALWAYS_INLINE void Run(T* d, const T* s, const int64_t* starts, int64_t n, int64_t src_stride,
                                     int64_t width, int64_t low, int64_t high) {
    if (AllInside(starts, n, low, high)) {
      if (width == 4) return All<4>(d, s, starts, n, src_stride, width);
      if (width == 8) return All<8>(d, s, starts, n, src_stride, width);
      return All<0>(d, s, starts, n, src_stride, width);
    }
    int32_t kept[kStartsAtOnce];
    const int64_t count = StartsInside(starts, n, low, high, kept);
    for (int64_t i = 0; i < count; ++i) {
      if (i + kAhead < count) __builtin_prefetch(d + starts[kept[i + kAhead]], 1);
      JoinRow<Op, 0>(d + starts[kept[i]], s + kept[i] * src_stride, width);
    }
  }

 private:
  template <int64_t kWidth>
  static HLOD_ALWAYS_INLINE void All(T* d, const T* s, const int64_t* starts, int64_t n, int64_t src_stride,
                                     int64_t width) {
    int64_t i = 0;
    for (; i + kAhead < n; ++i, s += src_stride) {
      __builtin_prefetch(d + starts[i + kAhead], 1);
      JoinRow<Op, kWidth>(d + starts[i], s, width);
    }
    for (; i < n; ++i, s += src_stride) JoinRow<Op, kWidth>(d + starts[i], s, width);
  }
};
template <typename Op>
void CombineRowsWith(std::byte* dst, const std::byte* src, const int64_t* starts, int64_t n,
                     int64_t src_stride, int64_t width, int64_t low, int64_t high) {
  using T = typename Op::Element;
  RunBest<RowsKernel<Op>>(reinterpret_cast<T*>(dst), reinterpret_cast<const T*>(src), starts, n, src_stride,
                          width, low, high);
}

template <typename Op>
void CombineWith(std::byte* dst, const std::byte* src, int64_t n, int64_t dst_stride, int64_t src_stride) {
  using T = typename Op::Element;
  auto* d = reinterpret_cast<T*>(dst);
  const auto* s = reinterpret_cast<const T*>(src);
  if (dst_stride == 1 && src_stride == 1 && n > 1) return RunBest<DenseKernel<Op>>(d, s, n);
  for (int64_t i = 0; i < n; ++i, d += dst_stride, s += src_stride)
    *d = Op::Store(Op::Apply(Op::Load(*d), Op::Load(*s)));
}

// Returns the minimum or maximum of two floats. With scattered elements the processor would mispredict a
// branch on which one is larger, so the common case has no branch; equal values and NaN, which need special
// treatment, are rare.
template <typename Op>
HLOD_ALWAYS_INLINE typename Op::Element Extremum(typename Op::Element a, typename Op::Element b) {
  using T = typename Op::Element;
  if constexpr (std::is_floating_point_v<T>) {
    if (std::islessgreater(a, b)) [[likely]]
      return Op::kMaximum ? (b > a ? b : a) : (b < a ? b : a);
  } else {
    using Order = OrderedKey<Op>;
    const int x = Order::Of(a.bits()), y = Order::Of(b.bits());
    const int rare = Order::IsNan(a.bits()) | Order::IsNan(b.bits());
    if (rare == 0) [[likely]] {
      const int better = Op::kMaximum ? y > x : y < x;
      return T::FromBits(static_cast<uint16_t>(a.bits() ^ ((a.bits() ^ b.bits()) & -better)));
    }
  }
  return Op::Store(Op::Apply(Op::Load(a), Op::Load(b)));
}

template <typename Op>
void CombinePointsWith(std::byte* dst, const std::byte* src, const int64_t* starts, int64_t n,
                       int64_t src_stride) {
  using T = typename Op::Element;
  auto* d = reinterpret_cast<T*>(dst);
  const auto* s = reinterpret_cast<const T*>(src);
  for (int64_t i = 0; i < n; ++i, s += src_stride) {
    if (i + kAhead < n) __builtin_prefetch(d + starts[i + kAhead], 1);
    if (starts[i] < 0) continue;
    T* const to = d + starts[i];
    if constexpr (Op::kExtremum && (std::is_floating_point_v<T> || OrderedKey<Op>::kHalf))
      *to = Extremum<Op>(*to, *s);
    else *to = Op::Store(Op::Apply(Op::Load(*to), Op::Load(*s)));
  }
}
#if defined(__x86_64__)
// Adds f16 points by the processor's conversions, with the same rounding as RoundToSmall.
__attribute__((target("avx,f16c"))) void AddHalfPoints(std::byte* dst, const std::byte* src,
                                                       const int64_t* starts, int64_t n, int64_t src_stride) {
  auto* const d = reinterpret_cast<uint16_t*>(dst);
  const auto* s = reinterpret_cast<const uint16_t*>(src);
  for (int64_t i = 0; i < n; ++i, s += src_stride) {
    if (i + kAhead < n) __builtin_prefetch(d + starts[i + kAhead], 1);
    if (starts[i] < 0) continue;
    uint16_t* const to = d + starts[i];
    const __m128 sum = _mm_add_ss(_mm_cvtph_ps(_mm_cvtsi32_si128(*to)), _mm_cvtph_ps(_mm_cvtsi32_si128(*s)));
    *to = static_cast<uint16_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT)));
  }
}
#endif
template <typename T>
void AssignPoints(std::byte* dst, const std::byte* src, const int64_t* starts, int64_t n,
                  int64_t src_stride) {
  auto* d = reinterpret_cast<T*>(dst);
  const auto* s = reinterpret_cast<const T*>(src);
  for (int64_t i = 0; i < n; ++i, s += src_stride) {
    if (starts[i] >= 0) d[starts[i]] = *s;
  }
}

template <size_t kWidth>
void Assign(std::byte* dst, const std::byte* src, int64_t n, int64_t dst_stride, int64_t src_stride) {
  if (dst_stride == 1 && src_stride == 1) {
    std::memcpy(dst, src, static_cast<size_t>(n) * kWidth);
    return;
  }
  constexpr auto kStep = static_cast<int64_t>(kWidth);
  for (int64_t i = 0; i < n; ++i, dst += dst_stride * kStep, src += src_stride * kStep)
    std::memcpy(dst, src, kWidth);
}

template <size_t kWidth>
void AssignRows(std::byte* dst, const std::byte* src, const int64_t* starts, int64_t n, int64_t src_stride,
                int64_t width, int64_t low, int64_t high) {
  constexpr auto kStep = static_cast<int64_t>(kWidth);
  int32_t kept[kStartsAtOnce];
  const int64_t count = StartsInside(starts, n, low, high, kept);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(dst + starts[kept[i]] * kStep, src + kept[i] * src_stride * kStep,
                static_cast<size_t>(width) * kWidth);
  }
}

Combine FindCombine(ScalarReducer reducer, hlo::PrimitiveType type) {
  Combine found;
  if (reducer == ScalarReducer::kSecond) {
    VisitWidth(hlo::ByteWidth(type),
               [&]<typename T>() { found = {Assign<sizeof(T)>, AssignPoints<T>, AssignRows<sizeof(T)>}; });
    return found;
  }
  const auto combine = [&]<typename Op>() {
    found = {CombineWith<Op>, CombinePointsWith<Op>, CombineRowsWith<Op>};
  };
  if (!VisitReducer(reducer, type, combine)) VisitSmallestReducer(reducer, type, combine);
#if defined(__x86_64__)
  if (reducer == ScalarReducer::kAdd && type == hlo::kF16 && UsesCpuExtension(CpuExtension::kF16c))
    found.points = AddHalfPoints;
#endif
  return found;
}

class ScatterStep final : public MovementStep {
 public:
  ScatterStep(hlo::Instruction instruction, Combine combine, std::unique_ptr<ScalarFunction> function)
      : MovementStep(instruction),
        count_(static_cast<int>(instruction.operand_count() / 2)),
        combine_(combine),
        function_(std::move(function)),
        starts_(Starts(instruction)) {
    const auto& scatter = instruction.attributes<hlo::ScatterAttributes>();
    const hlo::Shape& operand = instruction.operand(0).shape();
    const hlo::Shape& updates = instruction.operand(count_ + 1).shape();
    for (int i = 0; i < count_; ++i) {
      widths_.push_back(Width(instruction.operand(i).shape()));
      const CopyDim run{Bytes(instruction.operand(i).shape()), 1, 1};
      copies_.push_back(CopyNd(absl::MakeConstSpan(&run, 1), 1));
    }
    unique_ = scatter.unique_indices;
    operand_elements_ = Elements(operand);
    update_elements_ = Elements(updates);
    nothing_ = operand_elements_ == 0 || update_elements_ == 0;
    const hlo::Dims operand_strides = hlo::RowMajorStrides(operand.dims),
                    update_strides = hlo::RowMajorStrides(updates.dims);
    bool is_indexed_window = false;
    size_t next = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (Contains(scatter.inserted_window_dims, d) || Contains(scatter.input_batching_dims, d)) continue;
      const int64_t u = scatter.update_window_dims[next++];
      AppendLoop({updates.dims[u], update_strides[u], operand_strides[d]});
      window_src_.Append(updates.dims[u], update_strides[u]);
      window_dst_.Append(updates.dims[u], operand_strides[d]);
      is_indexed_window |= updates.dims[u] != 1 && Contains(scatter.scatter_dims_to_operand_dims, d);
    }
    for (int64_t d = 0; d < updates.rank(); ++d) {
      if (!Contains(scatter.update_window_dims, d)) sources_.Append(updates.dims[d], update_strides[d]);
    }
    if (!loops_.empty()) {
      inner_ = loops_.back();
      loops_.pop_back();
    }
    // A window that is one aligned run is entirely in one thread's share of the operand.
    divisible_ = update_elements_ > 0 && loops_.empty() && (inner_.size == 1 || inner_.dst_stride == 1) &&
                 starts_.AreMultiplesOf(inner_.size);
    const bool plain = combine_.points != nullptr && loops_.empty() && sources_.rank() <= 1;
    points_ = plain && inner_.size == 1;
    rows_ = plain && !points_ && inner_.size <= kRowMax && inner_.src_stride == 1 && inner_.dst_stride == 1;
    side_by_side_ = combine_.points != nullptr && !is_indexed_window && inner_.dst_stride != 1 &&
                    inner_.size > 1 && sources_.rank() == 1 && sources_.innermost_stride() == 1 &&
                    starts_.count() >= kSideBySideMin && starts_.count() <= StopCheck::kPieceWork;
    set_flops(static_cast<double>(update_elements_));
    for (int i = 0; i < count_; ++i) Share(i, i);
  }

  // Tells loops of machine code about the assignment of one contiguous window. REQUIRES: updates are
  // assigned.
  void OfferAssignment(hlo::Instruction instruction) {
    const auto& scatter = instruction.attributes<hlo::ScatterAttributes>();
    const hlo::Shape& operand = instruction.operand(0).shape();
    const hlo::PrimitiveType type = instruction.operand(1).shape().type;
    const bool contiguous =
        loops_.empty() && (inner_.size == 1 || (inner_.src_stride == 1 && inner_.dst_stride == 1));
    if (nothing_ || count_ != 1 || !contiguous || starts_.count() != 1 ||
        !scatter.input_batching_dims.empty() || (type != hlo::kS32 && type != hlo::kS64))
      return;
    const hlo::Dims strides = hlo::RowMajorStrides(operand.dims), window = Window(instruction);
    StepCopies copies{.updates = true, .checked = true, .copies = {{2, 0, 0, inner_.size * widths_[0]}}};
    for (size_t i = 0; i < scatter.scatter_dims_to_operand_dims.size(); ++i) {
      const int64_t d = scatter.scatter_dims_to_operand_dims[i];
      copies.indices.push_back({1, static_cast<int64_t>(i) * hlo::ByteWidth(type), type == hlo::kS64,
                                operand.dims[d] - window[d], strides[d] * widths_[0]});
    }
    OfferCopies(std::move(copies));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    for (int i = 0; i < count_; ++i) {
      if (inputs[i] != outputs[i]) RETURN_IF_ERROR(copies_[i].Run(inputs[i], outputs[i], context));
    }
    if (nothing_) return absl::OkStatus();
    const int64_t count = starts_.count(), work = update_elements_ * (function_ != nullptr ? 8 : 1);
    const Memory memory{inputs, outputs, context.run};
    if (side_by_side_) {
      return ParallelPieces(context, window_dst_.count(), work,
                            [&](int64_t begin, int64_t end, int) { ApplySideBySide(memory, begin, end); });
    }
    if (unique_) {
      ParallelRanges(context.threads, count, work, [&](int64_t begin, int64_t end, int) {
        Apply(memory, begin, end, 0, operand_elements_, 0, inner_.size);
      });
    } else if (divisible_ && !points_ && inner_.size * widths_[0] >= 16) {
      ParallelRanges(context.threads, operand_elements_ / inner_.size, work,
                     [&](int64_t begin, int64_t end, int) {
                       Apply(memory, 0, count, begin * inner_.size, end * inner_.size, 0, inner_.size);
                     });
    } else if (inner_.size >= 256) {
      ParallelRanges(context.threads, inner_.size, work, [&](int64_t begin, int64_t end, int) {
        Apply(memory, 0, count, 0, operand_elements_, begin, end);
      });
    } else {
      Apply(memory, 0, count, 0, operand_elements_, 0, inner_.size);
    }
    return StopCheck::Verdict(context.run);
  }

 private:
  struct Loop {
    int64_t size = 1, src_stride = 1, dst_stride = 1;  // In elements.
  };
  static constexpr int kOperandsMax = 16;
  static constexpr int64_t kSideBySideMin = 8;
  // The row length above which a separate check per run of elements is worthwhile.
  static constexpr int64_t kRowMax = 1024;
  friend MaybeStep hlod::engine::MakeScatterStep(const hlo::Module&, hlo::Instruction, int);

  // Returns the sizes of a window along the operand's dimensions.
  static hlo::Dims Window(hlo::Instruction instruction) {
    const auto& scatter = instruction.attributes<hlo::ScatterAttributes>();
    const hlo::Shape& operand = instruction.operand(0).shape();
    const hlo::Shape& updates = instruction.operand(instruction.operand_count() / 2 + 1).shape();
    hlo::Dims window(operand.dims.size(), 1);
    size_t next = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (Contains(scatter.inserted_window_dims, d) || Contains(scatter.input_batching_dims, d)) continue;
      window[d] = updates.dims[scatter.update_window_dims[next++]];
    }
    return window;
  }

  static WindowStarts Starts(hlo::Instruction instruction) {
    const auto& scatter = instruction.attributes<hlo::ScatterAttributes>();
    const uint32_t count = instruction.operand_count() / 2;
    return WindowStarts({instruction.operand(0).shape(), instruction.operand(count).shape(),
                         scatter.index_vector_dim, scatter.scatter_dims_to_operand_dims,
                         scatter.input_batching_dims, scatter.scatter_indices_batching_dims,
                         Window(instruction)});
  }

  void AppendLoop(Loop loop) {
    if (loop.size == 1) return;
    if (!loops_.empty() && loops_.back().src_stride == loop.src_stride * loop.size &&
        loops_.back().dst_stride == loop.dst_stride * loop.size) {
      loops_.back() = {loops_.back().size * loop.size, loop.src_stride, loop.dst_stride};
    } else {
      loops_.push_back(loop);
    }
  }

  // The memory that one run works on.
  struct Memory {
    const std::byte* const* inputs;
    std::byte* const* outputs;
    const RunContext& run;
  };

  // Applies the elements [begin, end) of all windows.
  void ApplySideBySide(const Memory& memory, int64_t begin, int64_t end) const {
    int64_t starts[kStartsAtOnce];
    for (int64_t b = 0; b < starts_.count(); b += kStartsAtOnce) {
      const int64_t count = std::min(kStartsAtOnce, starts_.count() - b);
      starts_.Resolve<false>(memory.inputs[1], b, count, starts);
      for (int64_t element = begin; element < end; ++element) {
        combine_.points(memory.outputs[0] + window_dst_.Offset(element) * widths_[0],
                        memory.inputs[2] + (window_src_.Offset(element) + b) * widths_[0], starts, count, 1);
      }
    }
  }

  // Applies the updates [begin, end) whose windows start in [low, high) of the operand, and of the window's
  // inner loop only [inner_begin, inner_end). Returns early when the run has to stop.
  void Apply(const Memory& memory, int64_t begin, int64_t end, int64_t low, int64_t high, int64_t inner_begin,
             int64_t inner_end) const {
    StopCheck stop(memory.run);
    if (points_ || rows_) {
      int64_t starts[kStartsAtOnce];
      for (int64_t b = begin; b < end; b += kStartsAtOnce) {
        const int64_t count = std::min(kStartsAtOnce, end - b);
        if (stop.Stops(count * (8 + inner_.size))) return;
        starts_.Resolve<false>(memory.inputs[count_], b, count, starts);
        const std::byte* updates = memory.inputs[count_ + 1] + b * sources_.innermost_stride() * widths_[0];
        if (points_) {
          combine_.points(memory.outputs[0], updates, starts, count, sources_.innermost_stride());
          continue;
        }
        combine_.rows(memory.outputs[0] + inner_begin * widths_[0], updates + inner_begin * widths_[0],
                      starts, count, sources_.innermost_stride(), inner_end - inner_begin, low, high);
      }
      return;
    }
    for (int64_t b = begin; b < end; ++b) {
      if (stop.Stops(8)) return;
      const int64_t start = starts_.Checked(memory.inputs[count_], b);
      if (start < low || start >= high) continue;
      const int64_t dst = start + inner_begin * inner_.dst_stride,
                    src = sources_.Offset(b) + inner_begin * inner_.src_stride;
      if (!Walk(memory, 0, dst, src, inner_end - inner_begin, stop)) return;
    }
  }

  // Runs the window's loops from `depth` on. Returns false when it was interrupted.
  bool Walk(const Memory& memory, size_t depth, int64_t dst, int64_t src, int64_t n, StopCheck& stop) const {
    if (depth == loops_.size()) {
      return stop.ForPieces(n, function_ != nullptr ? 8 : 1, [&](int64_t begin, int64_t end) {
        CombineAt(memory, dst + begin * inner_.dst_stride, src + begin * inner_.src_stride, end - begin);
      });
    }
    const Loop& loop = loops_[depth];
    for (int64_t i = 0; i < loop.size; ++i) {
      if (!Walk(memory, depth + 1, dst + i * loop.dst_stride, src + i * loop.src_stride, n, stop))
        return false;
    }
    return true;
  }

  void CombineAt(const Memory& memory, int64_t dst, int64_t src, int64_t n) const {
    if (function_ == nullptr) {
      combine_.run(memory.outputs[0] + dst * widths_[0], memory.inputs[count_ + 1] + src * widths_[0], n,
                   inner_.dst_stride, inner_.src_stride);
      return;
    }
    const bool dense = inner_.dst_stride == 1 && inner_.src_stride == 1;
    const int64_t iterations = dense ? 1 : n, block = dense ? n : 1;
    for (int64_t t = 0; t < iterations; ++t) {
      const std::byte* parameters[2 * kOperandsMax];
      std::byte* results[kOperandsMax];
      for (int i = 0; i < count_; ++i) {
        results[i] = memory.outputs[i] + (dst + t * inner_.dst_stride) * widths_[i];
        parameters[i] = results[i];
        parameters[count_ + i] = memory.inputs[count_ + 1 + i] + (src + t * inner_.src_stride) * widths_[i];
      }
      function_->Run(parameters, results, block);
    }
  }

  int count_;
  Combine combine_;
  std::unique_ptr<ScalarFunction> function_;
  WindowStarts starts_;
  std::vector<int> widths_;
  std::vector<CopyNd> copies_;
  StridedIndex sources_, window_src_, window_dst_;
  std::vector<Loop> loops_;
  Loop inner_;
  // True when no start is right: the largest one in a dimension of size 0 is -1, which bounds no index.
  bool nothing_ = false;
  bool unique_ = false, divisible_ = false;
  bool points_ = false;        // True when windows are single elements. The whole operand is then one share.
  bool side_by_side_ = false;  // True when the updates have each element of all windows side by side.
  bool rows_ = false;  // True when windows are one short run. Updates are then applied one after the other.
  int64_t operand_elements_ = 0, update_elements_ = 0;
};

}  // namespace

MaybeStep MakeScatterStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const int count = static_cast<int>(instruction.operand_count() / 2);
  if (count == 0 || count > ScatterStep::kOperandsMax) return nullptr;
  const hlo::Computation& combiner = module.computation(instruction.called()[0]);
  Combine combine;
  const ScalarReducer reducer = count == 1 ? RecogniseReducer(combiner) : ScalarReducer::kNone;
  if (count == 1) combine = FindCombine(reducer, instruction.operand(0).shape().type);
  std::unique_ptr<ScalarFunction> function;
  if (combine.run == nullptr) {
    function = MakeScalarFunction(module, instruction.called()[0]);
    if (function == nullptr || function->result_count() != count || function->parameter_count() != 2 * count)
      return nullptr;
  }
  auto step = std::make_unique<ScatterStep>(instruction, combine, std::move(function));
  if (reducer == ScalarReducer::kSecond) step->OfferAssignment(instruction);
  return step;
}

}  // namespace hlod::engine

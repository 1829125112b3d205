// reduce-window with a recognised reducer and a small window (pooling): each output reads its whole window,
// with many outputs side by side.
#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/engine/reduce/reducer_ops.h"
#include "server/engine/reduce/window.h"
#include "server/engine/run/parallel.h"

namespace hlod::engine {
namespace {

constexpr int64_t kBlock = 1024;  // The number of outputs side by side in one block.
// The limit on the positions of a window whose outputs are computed in registers.
constexpr int64_t kRegisterPositionsMax = 128;
// The fewest lanes for which a call per column is worth it.
constexpr int64_t kLanesMin = 8;

// Combines elements 2 i and 2 i + 1 into accumulator i, so that each cache line is read once.
template <typename Op>
struct JoinPairsKernel {
  static HLOD_ALWAYS_INLINE void Run(const typename Op::Element* from, int64_t n, typename Op::Acc* acc) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i)
      acc[i] = Op::Apply(Op::Apply(acc[i], Op::Load(from[2 * i])), Op::Load(from[2 * i + 1]));
  }
};

// Combines runs of `lanes` elements, `step` elements apart, into the accumulators, one run after the other.
template <typename Op>
struct JoinLanesKernel {
  static HLOD_ALWAYS_INLINE void Run(const typename Op::Element* from, int64_t step, int64_t runs,
                                     int64_t lanes, typename Op::Acc* acc) {
    for (int64_t r = 0; r < runs; ++r, from += step, acc += lanes) {
#pragma omp simd
      for (int64_t i = 0; i < lanes; ++i) acc[i] = Op::Apply(acc[i], Op::Load(from[i]));
    }
  }
};

template <typename Op>
struct StoreKernel {
  static HLOD_ALWAYS_INLINE void Run(const typename Op::Acc* acc, int64_t n, typename Op::Element* to) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = Op::Store(acc[i]);
  }
};

// Combines every `step`-th element into the accumulators.
template <typename Op>
struct JoinKernel {
  static HLOD_ALWAYS_INLINE void Run(const typename Op::Element* from, int64_t step, int64_t n,
                                     typename Op::Acc* acc) {
    if (step == 1) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) acc[i] = Op::Apply(acc[i], Op::Load(from[i]));
    } else if (step == 2) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) acc[i] = Op::Apply(acc[i], Op::Load(from[2 * i]));
    } else {
      for (int64_t i = 0; i < n; ++i) acc[i] = Op::Apply(acc[i], Op::Load(from[step * i]));
    }
  }
};

// Combines, for each i < n of each run, the elements from[offsets[p] + i] of all positions p, in registers.
// The elements of a run begin `step` after those of the run before, the results follow them.
template <typename Op>
struct JoinPositionsKernel {
  using Element = typename Op::Element;
  using Acc = typename Op::Acc;

  template <int64_t kPart>
  static HLOD_ALWAYS_INLINE void Part(const Element* from, const int64_t* offsets, int64_t positions,
                                      Acc init, Element* to) {
    Acc acc[kPart];
    for (int64_t j = 0; j < kPart; ++j) acc[j] = init;
    for (int64_t p = 0; p < positions; ++p) {
      const Element* const x = from + offsets[p];
#pragma omp simd
      for (int64_t j = 0; j < kPart; ++j) acc[j] = Op::Apply(acc[j], Op::Load(x[j]));
    }
#pragma omp simd
    for (int64_t j = 0; j < kPart; ++j) to[j] = Op::Store(acc[j]);
  }

  static HLOD_ALWAYS_INLINE void Run(const Element* from, int64_t step, int64_t runs, const int64_t* offsets,
                                     int64_t positions, Acc init, int64_t n, Element* to) {
    for (; runs > 0; --runs, from += step, to += n) {
      int64_t i = 0;
      for (; i + 32 <= n; i += 32) Part<32>(from + i, offsets, positions, init, to + i);
      for (; i + 8 <= n; i += 8) Part<8>(from + i, offsets, positions, init, to + i);
      for (; i < n; ++i) Part<1>(from + i, offsets, positions, init, to + i);
    }
  }
};

// The functions of one reducer for one type of elements. The step is compiled once for all of them:
// accumulators are in memory whose type only these functions know.
struct WindowFunctions {
  int64_t element_bytes, acc_bytes;
  void (*begin)(const std::byte* init, int64_t count, std::byte* acc);
  // Joins every `step`-th of n elements.
  void (*join)(const std::byte* elements, int64_t step, int64_t n, std::byte* acc);
  // Joins runs of `lanes` elements, `step` elements apart.
  void (*join_lanes)(const std::byte* elements, int64_t step, int64_t runs, int64_t lanes, std::byte* acc);
  // Joins elements 2 i and 2 i + 1 into accumulator i.
  void (*join_pairs)(const std::byte* elements, int64_t n, std::byte* acc);
  void (*store)(const std::byte* acc, int64_t n, std::byte* elements);
  // Sets n results of each run to what each joins at all positions: the elements that begin at their offsets,
  // `step` elements further on for each run.
  void (*join_positions)(const std::byte* elements, int64_t step, int64_t runs,
                         absl::Span<const int64_t> offsets, const std::byte* init, int64_t n,
                         std::byte* results);
};

constexpr int64_t kAccBytesMax = 16;

template <typename Op>
struct WindowFunctionsOf {
  using Element = typename Op::Element;
  using Acc = typename Op::Acc;
  static_assert(sizeof(Acc) <= kAccBytesMax);

  static const Element* ElementsIn(const std::byte* memory) {
    return reinterpret_cast<const Element*>(memory);
  }
  static Acc* AccIn(std::byte* memory) { return reinterpret_cast<Acc*>(memory); }

  static void Begin(const std::byte* init, int64_t count, std::byte* acc) {
    std::fill_n(AccIn(acc), count, Acc{Op::Load(*ElementsIn(init))});
  }
  static void Join(const std::byte* elements, int64_t step, int64_t n, std::byte* acc) {
    RunBest<JoinKernel<Op>>(ElementsIn(elements), step, n, AccIn(acc));
  }
  static void JoinLanes(const std::byte* elements, int64_t step, int64_t runs, int64_t lanes,
                        std::byte* acc) {
    // Runs that follow one another are one.
    if (step == lanes) lanes *= runs, runs = 1;
    RunBest<JoinLanesKernel<Op>>(ElementsIn(elements), step, runs, lanes, AccIn(acc));
  }
  static void JoinPairs(const std::byte* elements, int64_t n, std::byte* acc) {
    RunBest<JoinPairsKernel<Op>>(ElementsIn(elements), n, AccIn(acc));
  }
  static void Store(const std::byte* acc, int64_t n, std::byte* elements) {
    RunBest<StoreKernel<Op>>(reinterpret_cast<const Acc*>(acc), n, reinterpret_cast<Element*>(elements));
  }

  static void JoinPositions(const std::byte* elements, int64_t step, int64_t runs,
                            absl::Span<const int64_t> offsets, const std::byte* init, int64_t n,
                            std::byte* results) {
    RunBest<JoinPositionsKernel<Op>>(ElementsIn(elements), step, runs, offsets.data(),
                                     static_cast<int64_t>(offsets.size()), Acc{Op::Load(*ElementsIn(init))},
                                     n, reinterpret_cast<Element*>(results));
  }

  static constexpr WindowFunctions kFunctions = {sizeof(Element), sizeof(Acc), Begin, Join,
                                                 JoinLanes,       JoinPairs,   Store, JoinPositions};
};

// Returns true if an output and the next one have elements next to each other at every position.
bool IsContiguous(const WindowAxis& last) {
  return last.window.stride == 1 && last.window.base_dilation == 1;
}

class DirectWindowStep final : public Step {
 public:
  DirectWindowStep(hlo::Instruction instruction, WindowAxes axes, const WindowFunctions& functions)
      : Step(StepKind::kLibrary, DescribeStep(instruction)), f_(functions) {
    outputs_ = Elements(instruction.shape());
    positions_ = WindowPositions(axes);
    in_registers_ = ReadsWindowInVectors(axes);
    // Trailing dimensions that the window does not change are lanes; the inner loop iterates over the last
    // dimension that it changes.
    while (!axes.empty() && axes.back().IsTrivial()) {
      lanes_ *= axes.back().out;
      axes.pop_back();
    }
    if (!axes.empty()) {
      last_ = axes.back();
      axes.pop_back();
      contiguous_ = IsContiguous(last_);
    } else {
      last_.in_stride = last_.out_stride = lanes_;
    }
    outer_ = std::move(axes);
    for (const WindowAxis& axis : outer_) rows_ *= axis.out;
    lanes_a_block_ = std::clamp<int64_t>(lanes_, 1, kBlock);
    columns_a_block_ = std::max<int64_t>(1, kBlock / lanes_a_block_);
    set_flops(static_cast<double>(outputs_) * static_cast<double>(positions_));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (outputs_ == 0) return absl::OkStatus();
    const int64_t column_blocks = (last_.out + columns_a_block_ - 1) / columns_a_block_;
    const int64_t lane_blocks = (lanes_ + lanes_a_block_ - 1) / lanes_a_block_;
    const int64_t jobs_a_row = column_blocks * lane_blocks;
    ParallelRanges(context.threads, rows_ * jobs_a_row, WorkOf(outputs_, positions_),
                   [&](int64_t begin, int64_t end, int) {
                     StopCheck stop(context.run);
                     for (int64_t job = begin; job < end; ++job) {
                       const int64_t column = job % jobs_a_row / lane_blocks * columns_a_block_,
                                     lane = job % lane_blocks * lanes_a_block_;
                       const Block block = {column, std::min(columns_a_block_, last_.out - column), lane,
                                            std::min(lanes_a_block_, lanes_ - lane)};
                       if (!RunBlock(inputs[0], inputs[1], outputs[0], job / jobs_a_row, block, stop)) return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  // The outputs of one job: columns of a row, and some of their lanes.
  struct Block {
    int64_t column, columns, lane, lanes;
  };

  // Returns false when it was interrupted.
  bool RunBlock(const std::byte* in, const std::byte* init, std::byte* out, int64_t row, const Block& block,
                StopCheck& stop) const {
    int64_t index[hlo::kMaxRank];
    WindowWalk position;
    position.Start(outer_.size());
    int64_t out_base = block.column * last_.out_stride + block.lane;
    for (size_t d = outer_.size(); d-- > 0;) {
      index[d] = row % outer_[d].out;
      row /= outer_[d].out;
      position.Limit(d, outer_[d].Positions(index[d], index[d]));
      out_base += index[d] * outer_[d].out_stride;
    }
    std::byte* const to = out + out_base * f_.element_bytes;
    if (in_registers_) return RunInRegisters(in, init, to, index, position, block, stop);
    return RunAccumulated(in, init, to, index, position, block, stop);
  }

  // Returns the offset of the block's elements at a position of the outer axes, or -1 for padding.
  int64_t OuterOffset(const int64_t* index, const WindowWalk& position, int64_t lane) const {
    int64_t offset = lane;
    for (size_t d = 0; d < outer_.size(); ++d) {
      const int64_t source = outer_[d].Source(index[d], position[d]);
      if (source < 0) return -1;
      offset += source * outer_[d].in_stride;
    }
    return offset;
  }

  // Returns those of the columns [begin, end) that have an element at every position of the last axis.
  WindowAxis::Range ColumnsInside(int64_t begin, int64_t end) const {
    const hlo::WindowDimension& w = last_.window;
    if (w.base_dilation != 1) return {end, end};
    // The limit on a column times the stride.
    const int64_t most = last_.in - 1 + w.padding_low - (w.size - 1) * w.window_dilation;
    const int64_t first = std::clamp(CeilDiv(w.padding_low, w.stride), begin, end);
    return {first, most < 0 ? first : std::clamp(most / w.stride + 1, first, end)};
  }

  // Computes each output in registers, from the offsets of all its elements.
  bool RunInRegisters(const std::byte* in, const std::byte* init, std::byte* out, const int64_t* index,
                      WindowWalk& position, const Block& block, StopCheck& stop) const {
    absl::InlinedVector<int64_t, kRegisterPositionsMax> outer, offsets;
    for (; position.valid(); position.Next()) {
      if (const int64_t offset = OuterOffset(index, position, block.lane); offset >= 0)
        outer.push_back(offset);
    }
    const hlo::WindowDimension& w = last_.window;
    const int64_t end = block.column + block.columns;
    const auto run = [&](int64_t column, int64_t step, int64_t runs, int64_t n) {
      f_.join_positions(in, step, runs, offsets, init, n,
                        out + (column - block.column) * last_.out_stride * f_.element_bytes);
    };
    const auto list = [&](int64_t column) {
      offsets.clear();
      for (const int64_t offset : outer) {
        for (int64_t k = 0; k < w.size; ++k) {
          if (const int64_t source = last_.Source(column, k); source >= 0)
            offsets.push_back(offset + source * last_.in_stride);
        }
      }
    };
    const auto run_at_edges = [&](int64_t column, int64_t columns_end) {
      for (; column < columns_end; ++column) {
        list(column);
        run(column, 0, 1, block.lanes);
      }
    };
    const WindowAxis::Range inside = ColumnsInside(block.column, end);
    run_at_edges(block.column, inside.begin);
    const int64_t count = inside.end - inside.begin;
    if (count > 0) list(inside.begin);
    const bool all_lanes = block.lanes == last_.in_stride;
    if (count > 0 && contiguous_ && all_lanes) {
      run(inside.begin, 0, 1, count * block.lanes);
    } else if (count > 0 && all_lanes) {
      run(inside.begin, w.stride * last_.in_stride, count, block.lanes);
    } else if (count > 0) {
      // Lanes that several blocks divide: a block has one column.
      run(inside.begin, 0, 1, block.lanes);
    }
    run_at_edges(inside.end, end);
    return !stop.Stops(block.columns * block.lanes * positions_ / 4 + 1);
  }

  // Computes the outputs in accumulators, one position of the window after the other.
  bool RunAccumulated(const std::byte* in, const std::byte* init, std::byte* out, const int64_t* index,
                      WindowWalk& position, const Block& block, StopCheck& stop) const {
    const auto [column, columns, lane, lanes] = block;
    alignas(64) std::byte acc[kBlock * kAccBytesMax];
    f_.begin(init, columns * lanes, acc);
    const WindowAxis::Range inner = last_.Positions(column, column + columns - 1);
    for (; position.valid(); position.Next()) {
      const int64_t base = OuterOffset(index, position, lane);
      if (base < 0) continue;
      for (int64_t k = inner.begin; k < inner.end; ++k) {
        const std::byte* const from = in + base * f_.element_bytes;
        const bool pair = k + 1 < inner.end && AccumulatePair(from, k, column, columns, lanes, acc);
        if (pair) ++k;
        else Accumulate(from, k, column, columns, lanes, acc);
        if (stop.Stops(columns * lanes)) return false;
      }
    }
    // All lanes of neighbouring columns are one contiguous run.
    const bool dense = lanes == last_.out_stride;
    for (int64_t c = 0; c < (dense ? 1 : columns); ++c) {
      f_.store(acc + c * lanes * f_.acc_bytes, dense ? columns * lanes : lanes,
               out + c * last_.out_stride * f_.element_bytes);
    }
    return true;
  }

  // Accumulates window positions k and k + 1 of the inner dimension at once. Returns false without doing so
  // if one of them reaches padding, or the elements of the block's columns are not contiguous.
  bool AccumulatePair(const std::byte* in, int64_t k, int64_t column, int64_t columns, int64_t lanes,
                      std::byte* acc) const {
    const hlo::WindowDimension& w = last_.window;
    if (lanes != 1 || w.base_dilation != 1 || w.window_dilation != 1 || w.stride != 2 || last_.in_stride != 1)
      return false;
    const int64_t first = column * 2 + k - w.padding_low;
    if (first < 0 || first + 2 * columns > last_.in) return false;
    f_.join_pairs(in + first * f_.element_bytes, columns, acc);
    return true;
  }

  // Accumulates window position k of the inner dimension for all columns of the block.
  void Accumulate(const std::byte* in, int64_t k, int64_t column, int64_t columns, int64_t lanes,
                  std::byte* acc) const {
    const hlo::WindowDimension& w = last_.window;
    if (w.base_dilation == 1) {
      // The columns whose element is not padding are a range.
      const int64_t at = k * w.window_dilation - w.padding_low;  // The source index of column 0.
      const int64_t low = at >= 0 ? 0 : CeilDiv(-at, w.stride);
      const int64_t high = last_.in - 1 - at < 0 ? 0 : (last_.in - 1 - at) / w.stride + 1;
      const int64_t begin = std::max(column, low), end = std::min(column + columns, high);
      if (begin >= end) return;
      const std::byte* const from = in + (begin * w.stride + at) * last_.in_stride * f_.element_bytes;
      const int64_t step = w.stride * last_.in_stride;
      std::byte* const to = acc + (begin - column) * lanes * f_.acc_bytes;
      if (lanes == 1) f_.join(from, step, end - begin, to);
      else f_.join_lanes(from, step, end - begin, lanes, to);
      return;
    }
    for (int64_t c = column; c < column + columns; ++c) {
      const int64_t source = last_.Source(c, k);
      if (source >= 0) AccumulateLanes(in, source, lanes, acc, c - column);
    }
  }

  // Accumulates the lanes of place `source` of the operand into column `column` of the block.
  void AccumulateLanes(const std::byte* in, int64_t source, int64_t lanes, std::byte* acc,
                       int64_t column) const {
    f_.join(in + source * last_.in_stride * f_.element_bytes, 1, lanes, acc + column * lanes * f_.acc_bytes);
  }

  const WindowFunctions& f_;

  WindowAxes outer_;
  WindowAxis last_;
  int64_t lanes_ = 1, rows_ = 1, outputs_ = 0, positions_ = 1;
  int64_t lanes_a_block_ = 1, columns_a_block_ = 1;
  bool contiguous_ = false;    // As IsContiguous(last_).
  bool in_registers_ = false;  // True if outputs are computed in registers.
};

}  // namespace

bool ReadsWindowInVectors(const WindowAxes& axes) {
  int64_t lanes = 1;
  size_t changed = axes.size();
  while (changed > 0 && axes[changed - 1].IsTrivial()) lanes *= axes[--changed].out;
  if (changed == 0 || WindowPositions(axes) > kRegisterPositionsMax) return false;
  return IsContiguous(axes[changed - 1]) || lanes >= kLanesMin;
}

MaybeStep MakeDirectWindowStep(hlo::Instruction instruction, const WindowAxes& axes, ScalarReducer reducer) {
  MaybeStep step;
  VisitReducer(reducer, instruction.shape().type, [&]<typename Op>() {
    step = std::make_unique<DirectWindowStep>(instruction, axes, WindowFunctionsOf<Op>::kFunctions);
  });
  return step;
}

}  // namespace hlod::engine

// reduce-window with a recognised reducer and a small window (pooling): each output reads its whole window,
// with many outputs side by side.
#include "server/engine/reduce/window.h"

#include <algorithm>
#include <vector>

#include "server/engine/reduce/reduce_steps.h"
#include "server/engine/reduce/reducer_ops.h"
#include "server/engine/run/parallel.h"

namespace hlod::engine {
namespace {

constexpr int64_t kBlock = 1024;  // The number of outputs side by side in one block.
// The number of positions up to which reading each one is as fast as any other method.
constexpr int64_t kSmallWindow = 32;

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

  static constexpr WindowFunctions kFunctions = {sizeof(Element), sizeof(Acc), Begin, Join,
                                                 JoinLanes,       JoinPairs,   Store};
};

class DirectWindowStep final : public Step {
 public:
  DirectWindowStep(hlo::Instruction instruction, WindowAxes axes, const WindowFunctions& functions)
      : Step(StepKind::kLibrary, DescribeStep(instruction)), f_(functions) {
    outputs_ = Elements(instruction.shape());
    positions_ = WindowPositions(axes);
    // Trailing dimensions that the window does not change are lanes; the inner loop iterates over the last
    // dimension that it changes.
    while (!axes.empty() && axes.back().IsTrivial()) {
      lanes_ *= axes.back().out;
      axes.pop_back();
    }
    if (!axes.empty()) {
      last_ = axes.back();
      axes.pop_back();
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
                       const bool done = RunBlock(inputs[0], inputs[1], outputs[0], job / jobs_a_row, column,
                                                  std::min(columns_a_block_, last_.out - column), lane,
                                                  std::min(lanes_a_block_, lanes_ - lane), stop);
                       if (!done) return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  // Returns false when it was interrupted.
  bool RunBlock(const std::byte* in, const std::byte* init, std::byte* out, int64_t row, int64_t column,
                int64_t columns, int64_t lane, int64_t lanes, StopCheck& stop) const {
    int64_t index[hlo::kMaxRank];
    WindowWalk position;
    position.Start(outer_.size());
    int64_t out_base = column * last_.out_stride + lane;
    for (size_t d = outer_.size(); d-- > 0;) {
      index[d] = row % outer_[d].out;
      row /= outer_[d].out;
      position.Limit(d, outer_[d].Positions(index[d], index[d]));
      out_base += index[d] * outer_[d].out_stride;
    }
    alignas(64) std::byte acc[kBlock * kAccBytesMax];
    f_.begin(init, columns * lanes, acc);
    const WindowAxis::Range inner = last_.Positions(column, column + columns - 1);
    for (; position.valid(); position.Next()) {
      int64_t base = lane;
      bool inside = true;
      for (size_t d = 0; d < outer_.size() && inside; ++d) {
        const int64_t source = outer_[d].Source(index[d], position[d]);
        inside = source >= 0;
        base += source * outer_[d].in_stride;
      }
      if (!inside) continue;
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
               out + (out_base + c * last_.out_stride) * f_.element_bytes);
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
};

MaybeStep MakeReduceWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const hlo::PrimitiveType type = instruction.operand(0).shape().type;
  MaybeStep step;
  if (instruction.operand_count() == 2 && instruction.shape().type == type &&
      instruction.operand(1).shape().type == type) {
    const ScalarReducer reducer = RecogniseReducer(module.computation(instruction.called()[0]));
    const hlo::Window& window = instruction.attributes<hlo::WindowAttributes>().window;
    const WindowAxes axes = MakeWindowAxes(instruction.operand(0).shape(), instruction.shape(), window);
    if (WindowPositions(axes) > kSmallWindow) step = MakeScanWindowStep(instruction, axes, reducer, threads);
    if (step == nullptr) {
      VisitReducer(reducer, type, [&]<typename Op>() {
        step = std::make_unique<DirectWindowStep>(instruction, axes, WindowFunctionsOf<Op>::kFunctions);
      });
    }
  }
  return step != nullptr ? std::move(step) : MakeGeneralWindowStep(module, instruction, threads);
}

}  // namespace

WindowAxes MakeWindowAxes(const hlo::Shape& in, const hlo::Shape& out, const hlo::Window& window) {
  const hlo::Dims in_strides = hlo::RowMajorStrides(in.dims), out_strides = hlo::RowMajorStrides(out.dims);
  WindowAxes axes;
  for (size_t d = 0; d < window.size(); ++d) {
    axes.push_back({in.dims[d], out.dims[d], in_strides[d], out_strides[d], window[d]});
  }
  return axes;
}

int64_t WindowPositions(const WindowAxes& axes) {
  int64_t positions = 1;
  for (const WindowAxis& axis : axes) {
    positions = CheckedMultiply(positions, axis.window.size).value_or(INT64_MAX);
  }
  return positions;
}

MaybeStep MakeWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (!AllStatic(instruction)) return nullptr;
  if (instruction.opcode() == hlo::kReduceWindow) return MakeReduceWindowStep(module, instruction, threads);
  if (instruction.opcode() == hlo::kSelectAndScatter)
    return MakeSelectAndScatterStep(module, instruction, threads);
  return nullptr;
}

}  // namespace hlod::engine

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

constexpr int64_t kBlock = 1024;      // The number of outputs side by side in one block.
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

template <typename Op>
class DirectWindowStep final : public Step {
 public:
  using Element = typename Op::Element;
  using Acc = typename Op::Acc;

  DirectWindowStep(hlo::Instruction instruction, WindowAxes axes)
      : Step(StepKind::kLibrary, DescribeStep(instruction)) {
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
    const auto* in = reinterpret_cast<const Element*>(inputs[0]);
    const Acc init = Op::Load(*reinterpret_cast<const Element*>(inputs[1]));
    auto* out = reinterpret_cast<Element*>(outputs[0]);
    const int64_t column_blocks = (last_.out + columns_a_block_ - 1) / columns_a_block_;
    const int64_t lane_blocks = (lanes_ + lanes_a_block_ - 1) / lanes_a_block_;
    const int64_t jobs_a_row = column_blocks * lane_blocks;
    ParallelRanges(context.threads, rows_ * jobs_a_row, WorkOf(outputs_, positions_),
                   [&](int64_t begin, int64_t end, int) {
                     StopCheck stop(context.run);
                     for (int64_t job = begin; job < end; ++job) {
                       const int64_t column = job % jobs_a_row / lane_blocks * columns_a_block_,
                                     lane = job % lane_blocks * lanes_a_block_;
                       const bool done = RunBlock(in, init, out, job / jobs_a_row, column,
                                                  std::min(columns_a_block_, last_.out - column), lane,
                                                  std::min(lanes_a_block_, lanes_ - lane), stop);
                       if (!done) return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  // Returns false when it was interrupted.
  bool RunBlock(const Element* in, Acc init, Element* out, int64_t row, int64_t column, int64_t columns,
                int64_t lane, int64_t lanes, StopCheck& stop) const {
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
    Acc acc[kBlock];
    std::fill_n(acc, columns * lanes, init);
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
        const bool pair = k + 1 < inner.end && AccumulatePair(in + base, k, column, columns, lanes, acc);
        if (pair) ++k;
        else Accumulate(in + base, k, column, columns, lanes, acc);
        if (stop.Stops(columns * lanes)) return false;
      }
    }
    // All lanes of neighbouring columns are one contiguous run.
    const bool dense = lanes == last_.out_stride;
    for (int64_t c = 0; c < (dense ? 1 : columns); ++c) {
      RunBest<StoreKernel<Op>>(static_cast<const Acc*>(acc + c * lanes), dense ? columns * lanes : lanes,
                               out + out_base + c * last_.out_stride);
    }
    return true;
  }

  // Accumulates window positions k and k + 1 of the inner dimension at once. Returns false without doing so
  // if one of them reaches padding, or the elements of the block's columns are not contiguous.
  bool AccumulatePair(const Element* in, int64_t k, int64_t column, int64_t columns, int64_t lanes,
                      Acc* acc) const {
    const hlo::WindowDimension& w = last_.window;
    if (lanes != 1 || w.base_dilation != 1 || w.window_dilation != 1 || w.stride != 2 || last_.in_stride != 1)
      return false;
    const int64_t first = column * 2 + k - w.padding_low;
    if (first < 0 || first + 2 * columns > last_.in) return false;
    RunBest<JoinPairsKernel<Op>>(in + first, columns, acc);
    return true;
  }

  // Accumulates window position k of the inner dimension for all columns of the block.
  void Accumulate(const Element* in, int64_t k, int64_t column, int64_t columns, int64_t lanes,
                  Acc* acc) const {
    const hlo::WindowDimension& w = last_.window;
    if (w.base_dilation == 1) {
      // The columns whose element is not padding are a range.
      const int64_t at = k * w.window_dilation - w.padding_low;  // The source index of column 0.
      const int64_t low = at >= 0 ? 0 : CeilDiv(-at, w.stride);
      const int64_t high = last_.in - 1 - at < 0 ? 0 : (last_.in - 1 - at) / w.stride + 1;
      const int64_t begin = std::max(column, low), end = std::min(column + columns, high);
      if (lanes == 1) {
        const Element* from = in + (begin * w.stride + at) * last_.in_stride;
        const int64_t step = w.stride * last_.in_stride;
        if (begin < end) RunBest<JoinKernel<Op>>(from, step, end - begin, acc + (begin - column));
        return;
      }
      for (int64_t c = begin; c < end; ++c)
        AccumulateLanes(in + (c * w.stride + at) * last_.in_stride, lanes, acc + (c - column) * lanes);
      return;
    }
    for (int64_t c = column; c < column + columns; ++c) {
      const int64_t source = last_.Source(c, k);
      if (source >= 0) AccumulateLanes(in + source * last_.in_stride, lanes, acc + (c - column) * lanes);
    }
  }

  static void AccumulateLanes(const Element* from, int64_t lanes, Acc* acc) {
    RunBest<JoinKernel<Op>>(from, int64_t{1}, lanes, acc);
  }

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
      VisitReducer(reducer, type,
                   [&]<typename Op>() { step = std::make_unique<DirectWindowStep<Op>>(instruction, axes); });
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

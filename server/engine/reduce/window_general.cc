// reduce-window of several operands or with any reducer: blocks of outputs, one window position at a time.
//
// A block is a stretch of the last dimension when that is long enough. The elements under one window position
// are then a stretch of the operand, too, and the reducer runs on both in place. Otherwise outputs are
// gathered one by one.
#include <algorithm>
#include <cstring>
#include <vector>

#include "server/engine/reduce/window.h"
#include "server/engine/run/parallel.h"
#include "server/engine/tile/scalar_function.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

constexpr int64_t kLanes = 512;
// The length below which a stretch is not worth a separate run of the reducer.
constexpr int64_t kStretchMin = 32;
constexpr int kOperandsMax = 16;

class GeneralWindowStep final : public Step {
 public:
  GeneralWindowStep(hlo::Instruction instruction, std::unique_ptr<ScalarFunction> function, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        function_(std::move(function)),
        count_(static_cast<int>(instruction.operand_count() / 2)),
        workers_(std::max(1, threads)) {
    const hlo::Shape& result =
        instruction.shape().IsTuple() ? instruction.shape().tuple[0] : instruction.shape();
    axes_ = MakeWindowAxes(instruction.operand(0).shape(), result,
                           instruction.attributes<hlo::WindowAttributes>().window);
    outputs_ = Elements(result);
    positions_ = WindowPositions(axes_);
    JoinTrivialAxes();
    by_stretches_ = !axes_.empty() && axes_.back().out >= kStretchMin;
    for (const WindowAxis& axis : axes_) by_stretches_ = by_stretches_ && axis.window.base_dilation == 1;
    if (by_stretches_) blocks_a_row_ = (axes_.back().out + kLanes - 1) / kLanes;
    for (int i = 0; i < count_; ++i) {
      widths_.push_back(Width(instruction.operand(i).shape()));
      worker_bytes_ += 3 * ScratchAlign(kLanes * widths_.back());
    }
    index_offset_ = worker_bytes_;
    worker_bytes_ += ScratchAlign(kLanes * static_cast<int64_t>(axes_.size() * sizeof(int64_t)));
    set_scratch_bytes(workers_ * worker_bytes_);
    set_flops(static_cast<double>(outputs_) * static_cast<double>(positions_));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (outputs_ == 0) return absl::OkStatus();
    const int64_t blocks =
        by_stretches_ ? outputs_ / axes_.back().out * blocks_a_row_ : (outputs_ + kLanes - 1) / kLanes;
    ParallelRanges(std::min(context.threads, workers_), blocks, WorkOf(outputs_ * 8, positions_),
                   [&](int64_t begin, int64_t end, int worker) {
                     std::byte* scratch = context.scratch + worker * worker_bytes_;
                     StopCheck stop(context.run);
                     for (int64_t block = begin; block < end; ++block) {
                       const bool done =
                           by_stretches_
                               ? RunStretch(inputs, outputs, block / blocks_a_row_,
                                            block % blocks_a_row_ * kLanes, scratch, stop)
                               : RunBlock(inputs, outputs, block * kLanes,
                                          std::min(kLanes, outputs_ - block * kLanes), scratch, stop);
                       if (!done) return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  // Joins trailing dimensions that the window does not change to one.
  void JoinTrivialAxes() {
    while (axes_.size() > 1 && axes_.back().IsTrivial() && axes_[axes_.size() - 2].IsTrivial()) {
      const WindowAxis last = axes_.back();
      axes_.pop_back();
      axes_.back().in *= last.in;
      axes_.back().out *= last.out;
      axes_.back().in_stride = last.in_stride;
      axes_.back().out_stride = last.out_stride;
    }
  }

  // Computes outputs [column, column + kLanes) of a row of the last dimension. Returns false when it was
  // interrupted.
  bool RunStretch(const std::byte* const* inputs, std::byte* const* outputs, int64_t row, int64_t column,
                  std::byte* scratch, StopCheck& stop) const {
    const WindowAxis& last = axes_.back();
    const hlo::WindowDimension& w = last.window;
    const int64_t lanes = std::min(kLanes, last.out - column), first = row * last.out + column;
    const size_t outer = axes_.size() - 1;
    std::byte *acc[kOperandsMax], *elements[kOperandsMax];
    for (int i = 0; i < count_; ++i) {
      acc[i] = scratch;
      elements[i] = scratch + ScratchAlign(kLanes * widths_[i]);
      scratch += 2 * ScratchAlign(kLanes * widths_[i]);
      Fill(inputs[count_ + i], widths_[i], lanes, acc[i]);
    }
    int64_t index[hlo::kMaxRank];
    WindowWalk position;
    position.Start(outer);
    for (size_t d = outer; d-- > 0; row /= axes_[d].out) {
      index[d] = row % axes_[d].out;
      position.Limit(d, axes_[d].Positions(index[d], index[d]));
    }
    const WindowAxis::Range inner = last.Positions(column, column + lanes - 1);
    const int64_t step = w.stride * last.in_stride;
    for (; position.valid(); position.Next()) {
      int64_t base = 0;
      for (size_t d = 0; d < outer; ++d) base += axes_[d].Source(index[d], position[d]) * axes_[d].in_stride;
      for (int64_t k = inner.begin; k < inner.end; ++k) {
        if (stop.Stops(lanes * 4)) return false;
        // The columns whose element is not padding are a range.
        const int64_t at = k * w.window_dilation - w.padding_low;  // The source index of column 0.
        const int64_t low = at >= 0 ? 0 : CeilDiv(-at, w.stride);
        const int64_t high = last.in - 1 - at < 0 ? 0 : (last.in - 1 - at) / w.stride + 1;
        const int64_t begin = std::max(column, low), end = std::min(column + lanes, high);
        if (begin >= end) continue;
        const int64_t from = base + (begin * w.stride + at) * last.in_stride;
        const std::byte* parameters[2 * kOperandsMax];
        std::byte* results[kOperandsMax];
        for (int i = 0; i < count_; ++i) {
          parameters[i] = results[i] = acc[i] + (begin - column) * widths_[i];
          parameters[count_ + i] = inputs[i] + from * widths_[i];
          if (step == 1) continue;
          VisitWidth(widths_[i], [&]<typename T>() {
            const auto* spread = reinterpret_cast<const T*>(inputs[i]) + from;
            auto* dense = reinterpret_cast<T*>(elements[i]);
            for (int64_t l = 0; l < end - begin; ++l) dense[l] = spread[l * step];
          });
          parameters[count_ + i] = elements[i];
        }
        function_->Run(parameters, results, end - begin);
      }
    }
    for (int i = 0; i < count_; ++i)
      std::memcpy(outputs[i] + first * widths_[i], acc[i], static_cast<size_t>(lanes * widths_[i]));
    return true;
  }

  // A block of outputs, and its scratch memory.
  struct Block {
    int64_t first, lanes;
    int64_t* index;  // The outputs' indices as [axis][lane].
    std::byte* acc[kOperandsMax];
    std::byte* parameters[2 * kOperandsMax];  // The lanes whose window position has an element.
  };

  // Sets the accumulators to the initial values, and finds the outputs' indices.
  Block Prepare(const std::byte* const* inputs, int64_t first, int64_t lanes, std::byte* scratch) const {
    Block block{first, lanes, reinterpret_cast<int64_t*>(scratch + index_offset_), {}, {}};
    for (int i = 0; i < count_; ++i) {
      const int64_t bytes = ScratchAlign(kLanes * widths_[i]);
      block.acc[i] = scratch;
      block.parameters[i] = scratch + bytes;
      block.parameters[count_ + i] = scratch + 2 * bytes;
      scratch += 3 * bytes;
      for (int64_t l = 0; l < lanes; ++l)
        std::memcpy(block.acc[i] + l * widths_[i], inputs[count_ + i], widths_[i]);
    }
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t rest = first + l;
      for (size_t d = axes_.size(); d-- > 0; rest /= axes_[d].out)
        block.index[d * kLanes + l] = rest % axes_[d].out;
    }
    return block;
  }

  // Returns false when it was interrupted.
  bool RunBlock(const std::byte* const* inputs, std::byte* const* outputs, int64_t first, int64_t lanes,
                std::byte* scratch, StopCheck& stop) const {
    const Block block = Prepare(inputs, first, lanes, scratch);
    WindowWalk position;
    position.Start(axes_.size());
    for (size_t d = 0; d < axes_.size(); ++d) {
      const int64_t* const index = block.index + d * kLanes;
      const auto [low, high] = std::minmax_element(index, index + lanes);
      position.Limit(d, axes_[d].Positions(*low, *high));
    }
    for (; position.valid(); position.Next()) {
      if (stop.Stops(lanes * 10)) return false;
      ReducePosition(inputs, block, position);
    }
    for (int i = 0; i < count_; ++i)
      std::memcpy(outputs[i] + first * widths_[i], block.acc[i], static_cast<size_t>(lanes * widths_[i]));
    return true;
  }

  // Reduces the elements at one position of the window into the accumulators of the lanes that have one
  // there.
  void ReducePosition(const std::byte* const* inputs, const Block& block, const WindowWalk& position) const {
    int64_t lane_of[kLanes], offset[kLanes], active = 0;
    for (int64_t l = 0; l < block.lanes; ++l) {
      int64_t at = 0;
      bool inside = true;
      for (size_t d = 0; d < axes_.size() && inside; ++d) {
        const int64_t source = axes_[d].Source(block.index[d * kLanes + l], position[d]);
        inside = source >= 0;
        at += source * axes_[d].in_stride;
      }
      if (!inside) continue;
      lane_of[active] = l;
      offset[active++] = at;
    }
    if (active == 0) return;
    for (int i = 0; i < count_; ++i) {
      const int width = widths_[i];
      for (int64_t a = 0; a < active; ++a) {
        std::memcpy(block.parameters[i] + a * width, block.acc[i] + lane_of[a] * width, width);
        std::memcpy(block.parameters[count_ + i] + a * width, inputs[i] + offset[a] * width, width);
      }
    }
    function_->Run(block.parameters, block.parameters, active);
    for (int i = 0; i < count_; ++i) {
      const int width = widths_[i];
      for (int64_t a = 0; a < active; ++a)
        std::memcpy(block.acc[i] + lane_of[a] * width, block.parameters[i] + a * width, width);
    }
  }

  std::unique_ptr<ScalarFunction> function_;
  int count_, workers_;
  WindowAxes axes_;
  std::vector<int> widths_;
  int64_t outputs_ = 0, positions_ = 1, worker_bytes_ = 0, index_offset_ = 0;
  bool by_stretches_ = false;
  int64_t blocks_a_row_ = 1;
};

}  // namespace

MaybeStep MakeGeneralWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const int count = static_cast<int>(instruction.operand_count() / 2);
  if (count == 0 || count > kOperandsMax) return nullptr;
  std::unique_ptr<ScalarFunction> function = MakeScalarFunction(module, instruction.called()[0]);
  if (function == nullptr || function->result_count() != count || function->parameter_count() != 2 * count)
    return nullptr;
  const hlo::Shape& result =
      instruction.shape().IsTuple() ? instruction.shape().tuple[0] : instruction.shape();
  const WindowAxes axes = MakeWindowAxes(instruction.operand(0).shape(), result,
                                         instruction.attributes<hlo::WindowAttributes>().window);
  if (MaybeStep running = MakeRunningWindowStep(instruction, axes, function, threads)) return running;
  return std::make_unique<GeneralWindowStep>(instruction, std::move(function), threads);
}

}  // namespace hlod::engine

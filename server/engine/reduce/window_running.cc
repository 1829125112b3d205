// reduce-window whose windows all begin at the first element of a dimension, or all end at the last one, with
// any reducer: a running result, such as JAX's cumlogsumexp. Each output is the one before it and one
// element.
//
// Lanes are lines along the dimension, side by side. If they are contiguous, the reducer reads the operand
// and the output before in place, and writes the output in place; else both are transposed in blocks.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/engine/reduce/window.h"
#include "server/engine/run/copy_kernels.h"
#include "server/engine/run/parallel.h"
#include "server/engine/tile/scalar_function.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

constexpr int64_t kRunningLanes = 512, kRunningLanesMin = 32;
constexpr int64_t kRunningPositions = 16;  // The elements of a line that are transposed together.
constexpr int kRunningOperandsMax = 16;

bool IsRunning(const WindowAxis& axis) {
  const hlo::WindowDimension& w = axis.window;
  return w.stride == 1 && w.base_dilation == 1 && w.window_dilation == 1 && axis.in == axis.out &&
         axis.in >= 2 && w.size >= axis.in && w.padding_low == w.size - 1;
}

class RunningWindowStep final : public Step {
 public:
  RunningWindowStep(hlo::Instruction instruction, std::unique_ptr<ScalarFunction> function,
                    const WindowAxes& axes, size_t along, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        function_(std::move(function)),
        count_(static_cast<int>(instruction.operand_count() / 2)),
        workers_(std::max(1, threads)),
        length_(axes[along].in) {
    for (size_t d = 0; d < axes.size(); ++d)
      if (d != along) (d < along ? outer_ : inner_) *= axes[d].in;
    in_place_ = inner_ >= kRunningLanesMin;
    // In place, a block of lanes is within one of the `outer` matrices.
    const int64_t lines = in_place_ ? inner_ : outer_ * inner_;
    lanes_ = std::clamp(CeilDiv(outer_ * inner_, int64_t{workers_}), kRunningLanesMin, kRunningLanes);
    blocks_ = CeilDiv(lines, lanes_);
    jobs_ = in_place_ ? outer_ * blocks_ : blocks_;
    for (int i = 0; i < count_; ++i) {
      widths_.push_back(Width(instruction.operand(i).shape()));
      // Totals twice and, unless in place, the transposed elements and outputs.
      worker_bytes_ += ScratchAlign(lanes_ * widths_[i]) * (in_place_ ? 2 : 2 + 2 * kRunningPositions);
    }
    set_scratch_bytes(workers_ * worker_bytes_);
    set_flops(static_cast<double>(outer_ * length_ * inner_));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    ParallelRanges(std::min(context.threads, workers_), jobs_, WorkOf(outer_ * length_ * inner_, 8),
                   [&](int64_t begin, int64_t end, int worker) {
                     StopCheck stop(context.run);
                     std::byte* const scratch = context.scratch + worker * worker_bytes_;
                     for (int64_t job = begin; job < end; ++job) {
                       if (!RunJob(inputs, outputs, job, scratch, stop)) return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  // One operand in a job's memory: position t of lane l is at t * stride + l * width.
  struct Memory {
    const std::byte* from;
    std::byte* to;
    int64_t stride;
    std::byte *total, *kept;  // The total of each lane, and room for it between blocks.
  };

  // Returns false when it was interrupted.
  bool RunJob(const std::byte* const* inputs, std::byte* const* outputs, int64_t job, std::byte* scratch,
              StopCheck& stop) const {
    const int64_t first = job % blocks_ * lanes_;
    const int64_t lines = in_place_ ? inner_ : outer_ * inner_, lanes = std::min(lanes_, lines - first);
    Memory memory[kRunningOperandsMax];
    for (int i = 0; i < count_; ++i) {
      Memory& m = memory[i];
      const int64_t bytes = ScratchAlign(lanes_ * widths_[i]);
      m.total = scratch;
      m.kept = scratch + bytes;
      scratch += 2 * bytes;
      Fill(inputs[count_ + i], static_cast<int>(widths_[i]), lanes, m.total);
      if (in_place_) {
        const int64_t at = (job / blocks_ * length_ * inner_ + first) * widths_[i];
        m.from = inputs[i] + at;
        m.to = outputs[i] + at;
        m.stride = inner_ * widths_[i];
      } else {
        m.from = scratch;
        m.to = scratch + kRunningPositions * bytes;
        m.stride = bytes;
        scratch += 2 * kRunningPositions * bytes;
      }
    }
    const int64_t positions = in_place_ ? length_ : kRunningPositions;
    for (int64_t done = 0; done < length_; done += positions) {
      const int64_t n = std::min(positions, length_ - done);
      if (!in_place_) Transpose(inputs, memory, first, lanes, done, n);
      if (!RunPositions(memory, lanes, n, stop)) return false;
      if (!in_place_) TransposeBack(outputs, memory, first, lanes, done, n);
    }
    return true;
  }

  // Computes n positions of the lanes. Returns false when it was interrupted.
  bool RunPositions(Memory* memory, int64_t lanes, int64_t n, StopCheck& stop) const {
    for (int64_t position = 0; position < n; ++position) {
      const std::byte* parameters[2 * kRunningOperandsMax];
      std::byte* results[kRunningOperandsMax];
      for (int o = 0; o < count_; ++o) {
        const Memory& m = memory[o];
        parameters[o] = m.total;
        parameters[count_ + o] = m.from + position * m.stride;
        results[o] = m.to + position * m.stride;
      }
      // The total, which begins with the initial value, is the output before.
      function_->Run(parameters, results, lanes);
      for (int o = 0; o < count_; ++o) memory[o].total = results[o];
      if (stop.Stops(lanes * 8)) return false;
    }
    for (int o = 0; !in_place_ && o < count_; ++o) Keep(memory[o], lanes * widths_[o]);
    return true;
  }
  // Moves the total out of the block, which the next positions overwrite.
  void Keep(Memory& m, int64_t bytes) const {
    std::copy_n(m.total, bytes, m.kept);
    m.total = m.kept;
  }

  void Transpose(const std::byte* const* inputs, Memory* memory, int64_t first, int64_t lanes, int64_t begin,
                 int64_t n) const {
    for (int i = 0; i < count_; ++i) {
      const Memory& m = memory[i];
      auto* const block = const_cast<std::byte*>(m.from);
      ForLines(first, lanes, [&](int64_t lane, int64_t line, int64_t count) {
        const std::byte* const from = inputs[i] + (LineAt(line) + begin * inner_) * widths_[i];
        std::byte* const to = block + lane * widths_[i];
        if (inner_ == 1) {
          TransposeBlock(from, to, n, m.stride, count, length_ * widths_[i], static_cast<int>(widths_[i]));
        } else {
          for (int64_t t = 0; t < n; ++t)
            std::copy_n(from + t * inner_ * widths_[i], count * widths_[i], to + t * m.stride);
        }
      });
    }
  }
  void TransposeBack(std::byte* const* outputs, const Memory* memory, int64_t first, int64_t lanes,
                     int64_t begin, int64_t n) const {
    for (int i = 0; i < count_; ++i) {
      const Memory& m = memory[i];
      ForLines(first, lanes, [&](int64_t lane, int64_t line, int64_t count) {
        const std::byte* const from = m.to + lane * widths_[i];
        std::byte* const to = outputs[i] + (LineAt(line) + begin * inner_) * widths_[i];
        if (inner_ == 1) {
          TransposeBlock(from, to, count, length_ * widths_[i], n, m.stride, static_cast<int>(widths_[i]));
        } else {
          for (int64_t t = 0; t < n; ++t)
            std::copy_n(from + t * m.stride, count * widths_[i], to + t * inner_ * widths_[i]);
        }
      });
    }
  }
  // The first element of a line.
  int64_t LineAt(int64_t line) const { return line / inner_ * length_ * inner_ + line % inner_; }
  // Calls body(lane, line, count) for lines that are next to each other: all of them if there is one
  // dimension outside, else those of one row.
  template <typename Body>
  void ForLines(int64_t first, int64_t lanes, Body body) const {
    for (int64_t lane = 0; lane < lanes;) {
      const int64_t line = first + lane;
      const int64_t count = inner_ == 1 ? lanes : std::min(lanes - lane, inner_ - line % inner_);
      body(lane, line, count);
      lane += count;
    }
  }

  const std::unique_ptr<ScalarFunction> function_;
  const int count_, workers_;
  const int64_t length_;
  int64_t outer_ = 1, inner_ = 1;
  bool in_place_ = false;  // True if the lanes of a position are next to each other.
  int64_t lanes_ = 1, blocks_ = 1, jobs_ = 1, worker_bytes_ = 0;
  std::vector<int64_t> widths_;
};

}  // namespace

MaybeStep MakeRunningWindowStep(hlo::Instruction instruction, const WindowAxes& axes,
                                std::unique_ptr<ScalarFunction>& function, int threads) {
  const int count = static_cast<int>(instruction.operand_count() / 2);
  std::optional<size_t> along;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].in == 0) return nullptr;
    if (axes[d].IsTrivial()) continue;
    if (along.has_value() || !IsRunning(axes[d])) return nullptr;
    along = d;
  }
  if (!along.has_value() || count > kRunningOperandsMax) return nullptr;
  return std::make_unique<RunningWindowStep>(instruction, std::move(function), axes, *along, threads);
}

}  // namespace hlod::engine

// reduce-window of several operands or with any reducer: blocks of outputs, one window position at a time.
#include <algorithm>
#include <cstring>
#include <vector>

#include "server/engine/reduce/window.h"
#include "server/engine/run/parallel.h"
#include "server/engine/tile/scalar_function.h"

namespace hlod::engine {
namespace {

constexpr int64_t kLanes = 256;
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
    const int64_t blocks = (outputs_ + kLanes - 1) / kLanes;
    ParallelRanges(std::min(context.threads, workers_), blocks, WorkOf(outputs_ * 8, positions_),
                   [&](int64_t begin, int64_t end, int worker) {
                     StopCheck stop(context.run);
                     for (int64_t block = begin; block < end; ++block) {
                       const bool done = RunBlock(inputs, outputs, block * kLanes,
                                                  std::min(kLanes, outputs_ - block * kLanes),
                                                  context.scratch + worker * worker_bytes_, stop);
                       if (!done) return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  // False when it was interrupted.
  bool RunBlock(const std::byte* const* inputs, std::byte* const* outputs, int64_t first, int64_t lanes,
                std::byte* scratch, StopCheck& stop) const {
    auto* index = reinterpret_cast<int64_t*>(scratch + index_offset_);  // [axis][lane]: the output's indices.
    std::byte* acc[kOperandsMax];
    std::byte* parameters[2 * kOperandsMax];  // Of the lanes whose window position holds an element.
    for (int i = 0; i < count_; ++i) {
      const int64_t bytes = ScratchAlign(kLanes * widths_[i]);
      acc[i] = scratch;
      parameters[i] = scratch + bytes;
      parameters[count_ + i] = scratch + 2 * bytes;
      scratch += 3 * bytes;
      for (int64_t l = 0; l < lanes; ++l)
        std::memcpy(acc[i] + l * widths_[i], inputs[count_ + i], widths_[i]);
    }
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t rest = first + l;
      for (size_t d = axes_.size(); d-- > 0; rest /= axes_[d].out)
        index[d * kLanes + l] = rest % axes_[d].out;
    }
    WindowWalk position;
    position.Start(axes_.size());
    for (size_t d = 0; d < axes_.size(); ++d) {
      const auto [low, high] = std::minmax_element(index + d * kLanes, index + d * kLanes + lanes);
      position.Limit(d, axes_[d].Positions(*low, *high));
    }
    for (; position.valid(); position.Next()) {
      if (stop.Stops(lanes * 10)) return false;
      int64_t lane_of[kLanes], offset[kLanes], active = 0;
      for (int64_t l = 0; l < lanes; ++l) {
        int64_t at = 0;
        bool inside = true;
        for (size_t d = 0; d < axes_.size() && inside; ++d) {
          const int64_t source = axes_[d].Source(index[d * kLanes + l], position[d]);
          inside = source >= 0;
          at += source * axes_[d].in_stride;
        }
        if (!inside) continue;
        lane_of[active] = l;
        offset[active++] = at;
      }
      if (active > 0) {
        for (int i = 0; i < count_; ++i) {
          const int width = widths_[i];
          for (int64_t a = 0; a < active; ++a) {
            std::memcpy(parameters[i] + a * width, acc[i] + lane_of[a] * width, width);
            std::memcpy(parameters[count_ + i] + a * width, inputs[i] + offset[a] * width, width);
          }
        }
        function_->Run(parameters, parameters, active);
        for (int i = 0; i < count_; ++i) {
          const int width = widths_[i];
          for (int64_t a = 0; a < active; ++a)
            std::memcpy(acc[i] + lane_of[a] * width, parameters[i] + a * width, width);
        }
      }
    }
    for (int i = 0; i < count_; ++i)
      std::memcpy(outputs[i] + first * widths_[i], acc[i], static_cast<size_t>(lanes * widths_[i]));
    return true;
  }

  std::unique_ptr<ScalarFunction> function_;
  int count_, workers_;
  WindowAxes axes_;
  std::vector<int> widths_;
  int64_t outputs_ = 0, positions_ = 1, worker_bytes_ = 0, index_offset_ = 0;
};

}  // namespace

MaybeStep MakeGeneralWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const int count = static_cast<int>(instruction.operand_count() / 2);
  if (count == 0 || count > kOperandsMax) return nullptr;
  std::unique_ptr<ScalarFunction> function = MakeScalarFunction(module, instruction.called()[0]);
  if (function == nullptr || function->result_count() != count || function->parameter_count() != 2 * count)
    return nullptr;
  return std::make_unique<GeneralWindowStep>(instruction, std::move(function), threads);
}

}  // namespace hlod::engine

// sort by any comparator that is a computation of elementwise opcodes, run on blocks of pairs. An
// inconsistent comparator results in an arbitrary order, but never in an access out of bounds.
#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/block_sort.h"
#include "server/engine/run/parallel.h"
#include "server/engine/sort/lines.h"
#include "server/engine/sort/sort.h"
#include "server/engine/tile/scalar_function.h"

namespace hlod::engine {
namespace {

constexpr int kOperandsMax = 16;

class GeneralSortStep final : public Step {
 public:
  GeneralSortStep(hlo::Instruction instruction, std::unique_ptr<ScalarFunction> less, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)), lines_(instruction), less_(std::move(less)) {
    workers_ = static_cast<int>(std::clamp<int64_t>(lines_.lines(), 1, std::max(1, threads)));
    block_bytes_ = ScratchAlign(BlockSorter::kBlock * 16);
    sorter_bytes_ = ScratchAlign(BlockSorter::ScratchBytes(lines_.length()));
    worker_bytes_ = sorter_bytes_ + lines_.ScratchBytes() + 2 * lines_.operands() * block_bytes_;
    set_scratch_bytes(workers_ * worker_bytes_);
    set_slow_reason("its comparator is not an order of keys");
    for (int i = 0; i < lines_.operands(); ++i) Share(i, i);
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    return lines_.Run(context, workers_, worker_bytes_, /*element_ns=*/64,
                      [&](int64_t line, std::byte* scratch, StopCheck& stop) {
                        return SortLine(inputs, outputs, line, scratch, stop);
                      });
  }

 private:
  static constexpr int64_t kMoveNs = 2, kQuestionNs = 20;

  // Returns false when it was interrupted.
  bool SortLine(const std::byte* const* inputs, std::byte* const* outputs, int64_t line, std::byte* scratch,
                StopCheck& stop) const {
    std::byte* const blocks = scratch + sorter_bytes_ + lines_.ScratchBytes();
    BlockSorter sorter(scratch, lines_.length());
    const auto less = [&](const uint32_t* x, const uint32_t* y, int64_t count, uint8_t* answers) {
      Ask(inputs, line, x, y, count, answers, blocks);
      return !stop.Stops(count * kQuestionNs);
    };
    return sorter.Sort(less, [&](int64_t count) { return stop.Stops(count * kMoveNs); }) &&
           lines_.Apply(inputs, outputs, line, sorter.order(), scratch + sorter_bytes_, stop);
  }

  // Evaluates the comparator on pairs of elements of a line.
  void Ask(const std::byte* const* inputs, int64_t line, const uint32_t* x, const uint32_t* y, int64_t count,
           uint8_t* answers, std::byte* blocks) const {
    std::byte* parameters[2 * kOperandsMax];
    for (int p = 0; p < 2 * lines_.operands(); ++p) parameters[p] = blocks + p * block_bytes_;
    for (int o = 0; o < lines_.operands(); ++o) {
      VisitWidth(lines_.width(o), [&]<typename T>() {
        constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
        const std::byte* const from = inputs[o] + lines_.Start(line) * kWidth;
        const int64_t step = lines_.stride() * kWidth;
        for (int64_t i = 0; i < count; ++i) {
          std::memcpy(parameters[2 * o] + i * kWidth, from + x[i] * step, kWidth);
          std::memcpy(parameters[2 * o + 1] + i * kWidth, from + y[i] * step, kWidth);
        }
      });
    }
    auto* const results = reinterpret_cast<std::byte*>(answers);
    less_->Run(parameters, &results, count);
  }

  SortLines lines_;
  std::unique_ptr<ScalarFunction> less_;
  int workers_ = 1;
  int64_t block_bytes_ = 0, sorter_bytes_ = 0, worker_bytes_ = 0;
};

}  // namespace

MaybeStep MakeGeneralSortStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const int count = static_cast<int>(instruction.operand_count());
  if (count > kOperandsMax) return nullptr;
  std::unique_ptr<ScalarFunction> less = MakeScalarFunction(module, instruction.called()[0]);
  if (less == nullptr || less->result_count() != 1 || less->parameter_count() != 2 * count) return nullptr;
  return std::make_unique<GeneralSortStep>(instruction, std::move(less), threads);
}

}  // namespace hlod::engine

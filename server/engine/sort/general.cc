// sort by any comparator: a merge sort whose every level ranks blocks of elements at once, so that the
// comparator runs on blocks.
//
// The place of an element in the merge of two sorted runs is its place in its own run plus its rank in the
// other, which a binary search finds; the searches of a block of elements go in step. An inconsistent
// comparator gives some order, never an access out of bounds.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "server/engine/run/parallel.h"
#include "server/engine/sort/lines.h"
#include "server/engine/sort/sort.h"
#include "server/engine/tile/scalar_function.h"

namespace hlod::engine {
namespace {

constexpr int64_t kLanes = 256;
constexpr int kOperandsMax = 16;

class GeneralSortStep final : public Step {
 public:
  GeneralSortStep(hlo::Instruction instruction, std::unique_ptr<ScalarFunction> less, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)), lines_(instruction), less_(std::move(less)) {
    workers_ = static_cast<int>(std::clamp<int64_t>(lines_.lines(), 1, std::max(1, threads)));
    order_bytes_ = ScratchAlign(lines_.length() * static_cast<int64_t>(sizeof(uint32_t)));
    block_bytes_ = ScratchAlign(kLanes * 16);
    worker_bytes_ = 2 * order_bytes_ + lines_.ScratchBytes() + (2 * lines_.operands() + 1) * block_bytes_;
    set_scratch_bytes(workers_ * worker_bytes_);
    for (int i = 0; i < lines_.operands(); ++i) Share(i, i);
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    ParallelRanges(std::min(context.threads, workers_), lines_.lines(), lines_.lines() * lines_.length() * 64,
                   [&](int64_t begin, int64_t end, int worker) {
                     std::byte* scratch = context.scratch + worker * worker_bytes_;
                     std::byte* blocks = scratch + 2 * order_bytes_ + lines_.ScratchBytes();
                     StopCheck stop(context.run);
                     for (int64_t line = begin; line < end; ++line) {
                       if (!SortLine(inputs, outputs, line, scratch, blocks, stop)) return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  static constexpr int64_t kRankNs = 100;  // Of an element: a binary search of the other run.

  // False when it was interrupted.
  bool SortLine(const std::byte* const* inputs, std::byte* const* outputs, int64_t line, std::byte* scratch,
                std::byte* blocks, StopCheck& stop) const {
    auto* order = reinterpret_cast<uint32_t*>(scratch);
    auto* merged = reinterpret_cast<uint32_t*>(scratch + order_bytes_);
    const int64_t n = lines_.length();
    const bool numbered = stop.ForPieces(n, 1, [&](int64_t begin, int64_t end) {
      std::iota(order + begin, order + end, static_cast<uint32_t>(begin));
      std::iota(merged + begin, merged + end, static_cast<uint32_t>(begin));
    });
    if (!numbered) return false;
    for (int64_t run = 1; run < n; run *= 2) {
      for (int64_t i = 0; i < n; i += kLanes) {
        const int64_t lanes = std::min(kLanes, n - i);
        RankBlock(inputs, line, order, merged, run, i, lanes, blocks);
        if (stop.Stops(lanes * kRankNs)) return false;
      }
      std::swap(order, merged);
    }
    return lines_.Apply(inputs, outputs, line, order, scratch + 2 * order_bytes_, stop);
  }

  // Places elements [first, first + lanes) of `order`, whose runs of `run` elements are sorted, into
  // `merged`.
  void RankBlock(const std::byte* const* inputs, int64_t line, const uint32_t* order, uint32_t* merged,
                 int64_t run, int64_t first, int64_t lanes, std::byte* blocks) const {
    const int64_t n = lines_.length();
    int64_t low[kLanes], high[kLanes], begin[kLanes];
    for (int64_t l = 0; l < lanes; ++l) {
      const int64_t pair = (first + l) / (2 * run) * (2 * run), middle = std::min(n, pair + run);
      const bool left = first + l < middle;
      low[l] = begin[l] = left ? middle : pair;
      high[l] = left ? std::min(n, pair + 2 * run) : middle;
    }
    std::byte* parameters[2 * kOperandsMax];
    for (int p = 0; p < 2 * lines_.operands(); ++p) parameters[p] = blocks + p * block_bytes_;
    std::byte* answers = blocks + 2 * lines_.operands() * block_bytes_;
    while (true) {
      bool searching = false;
      for (int64_t l = 0; l < lanes; ++l) searching = searching || low[l] < high[l];
      if (!searching) break;
      for (int o = 0; o < lines_.operands(); ++o) {
        const int width = lines_.width(o);
        const std::byte* base = inputs[o] + lines_.Start(line) * width;
        for (int64_t l = 0; l < lanes; ++l) {
          const bool left = begin[l] > first + l;  // The other run comes after.
          const uint32_t own = order[first + l],
                         other = order[low[l] < high[l] ? (low[l] + high[l]) / 2 : first + l];
          std::memcpy(parameters[2 * o] + l * width, base + (left ? other : own) * lines_.stride() * width,
                      width);
          std::memcpy(parameters[2 * o + 1] + l * width,
                      base + (left ? own : other) * lines_.stride() * width, width);
        }
      }
      less_->Run(parameters, &answers, lanes);
      for (int64_t l = 0; l < lanes; ++l) {
        if (low[l] >= high[l]) continue;
        const bool left = begin[l] > first + l, less = answers[l] != std::byte{0};
        // Equal elements of the left run come before those of the right.
        const int64_t middle = (low[l] + high[l]) / 2;
        if (left == less) {
          low[l] = middle + 1;
        } else {
          high[l] = middle;
        }
      }
    }
    for (int64_t l = 0; l < lanes; ++l) {
      const bool left = begin[l] > first + l;
      // Own place, plus how many of the other run go before; a left run lies before the other, a right one
      // after.
      merged[left ? first + l + (low[l] - begin[l])
                  : begin[l] + (first + l - Middle(first + l, run)) + (low[l] - begin[l])] = order[first + l];
    }
  }
  static int64_t Middle(int64_t i, int64_t run) { return i / (2 * run) * (2 * run) + run; }

  SortLines lines_;
  std::unique_ptr<ScalarFunction> less_;
  int workers_ = 1;
  int64_t order_bytes_ = 0, block_bytes_ = 0, worker_bytes_ = 0;
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

// The sort step for recognised comparators: makes keys, sorts positions with a stable radix sort, and
// reorders every operand.
#include "server/engine/sort/sort.h"

#include <algorithm>
#include <cstring>

#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/sort/lines.h"
#include "server/engine/sort/sort_steps.h"

namespace hlod::engine {
namespace {

class KeySortStep final : public Step {
 public:
  KeySortStep(hlo::Instruction instruction, std::vector<SortKey> keys, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)), lines_(instruction), keys_(std::move(keys)) {
    for (const SortKey& key : keys_) functions_.push_back(FindKeyFunction(key.type));
    workers_ = static_cast<int>(std::clamp<int64_t>(lines_.lines(), 1, std::max(1, threads)));
    worker_bytes_ = SortScratchBytes(lines_.length()) + lines_.ScratchBytes();
    set_scratch_bytes(workers_ * worker_bytes_);
    for (int i = 0; i < lines_.operands(); ++i) Share(i, i);
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    return lines_.Run(context, workers_, worker_bytes_, /*element_ns=*/16,
                      [&](int64_t line, std::byte* scratch, StopCheck& stop) {
                        return SortLine(inputs, outputs, line, scratch, stop);
                      });
  }

 private:
  // Returns false when it was interrupted.
  bool SortLine(const std::byte* const* inputs, std::byte* const* outputs, int64_t line, std::byte* scratch,
                StopCheck& stop) const {
    KeySorter sorter(scratch, lines_.length(), stop);
    // The least significant key comes first, because each sort is stable.
    for (size_t k = keys_.size(); k-- > 0;) {
      const int operand = keys_[k].operand, width = lines_.width(operand);
      if (!sorter.SortBy(functions_[k], keys_[k], inputs[operand] + lines_.Start(line) * width,
                         lines_.stride() * width, width)) {
        return false;
      }
    }
    return lines_.Apply(inputs, outputs, line, sorter.order(), scratch + SortScratchBytes(lines_.length()),
                        stop);
  }

  SortLines lines_;
  std::vector<SortKey> keys_;
  std::vector<KeyFunction> functions_;
  int workers_ = 1;
  int64_t worker_bytes_ = 0;
};

}  // namespace

MaybeStep MakeSortStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (!AllStatic(instruction)) return nullptr;
  if (instruction.opcode() == hlo::kTopK || instruction.opcode() == hlo::kCustomCall) {
    return MakeTopKStep(module, instruction, threads);
  }
  if (instruction.opcode() != hlo::kSort || SortLines(instruction).length() > SortLines::kLengthMax)
    return nullptr;
  const int operands = static_cast<int>(instruction.operand_count());
  std::optional<std::vector<SortKey>> keys = RecogniseComparator(module.computation(instruction.called()[0]));
  const bool usable = keys && std::all_of(keys->begin(), keys->end(), [&](const SortKey& key) {
                        return key.operand < operands && FindKeyFunction(key.type) != nullptr;
                      });
  if (usable) return std::make_unique<KeySortStep>(instruction, *std::move(keys), threads);
  return MakeGeneralSortStep(module, instruction, threads);
}

}  // namespace hlod::engine

// A computation of scalars, prepared for application to millions of elements: reducers, combiners,
// comparators, map's function.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/evaluator/evaluation.h"
#include "common/evaluator/kernel.h"
#include "common/evaluator/wide.h"

namespace hlod::evaluator {

// A computation of elementwise opcodes, tuples and calls is flattened to a list of kernels over registers.
// Any other one (with a loop inside a comparator, say) is run by the evaluation for each call. Not
// thread-safe.
class ScalarFunction {
 public:
  // `evaluation` must outlive it. INVALID_ARGUMENT when a parameter or a leaf of the result is not a scalar
  // array.
  static absl::StatusOr<ScalarFunction> Make(Evaluation& evaluation, hlo::ComputationId id);

  // Takes one argument per parameter, and writes one result per leaf of the root; in and out may be the same
  // memory.
  absl::Status Call(const Wide* arguments, Wide* results);

  // Does the same for `n` sets of arguments at once, at most kBlock: arguments[p] and results[r] are blocks
  // of the carriers of their types. Faster than n calls when the function is flat.
  static constexpr int64_t kBlock = 512;
  absl::Status CallBlock(const void* const* arguments, void* const* results, int64_t n);

  // The opcode when the function is one binary opcode of its two parameters, all of one type, so that loops
  // can apply it themselves; nullopt otherwise.
  std::optional<hlo::Opcode> binary_opcode() const { return binary_opcode_; }

 private:
  // The limit of instructions visited: inlined calls could grow without bound.
  static constexpr size_t kStepsMax = 4096;
  static constexpr int kInlineDepthMax = 8;
  static constexpr size_t kBlocksMax = 256;  // The limit of registers for blocks: 2 MiB.
  using Slots = std::vector<uint32_t>;       // The registers of a value's leaves.
  struct Step {
    Kernel kernel;
    uint32_t in[3] = {0, 0, 0};
    uint32_t out = 0;
  };

  ScalarFunction(Evaluation& evaluation, hlo::ComputationId id) : evaluation_(&evaluation), id_(id) {}
  // Appends the steps of a computation. Returns its result's registers, or nullopt when it cannot be
  // flattened.
  std::optional<Slots> Flatten(hlo::ComputationId id, const std::vector<Slots>& arguments, int depth);
  std::optional<Slots> FlattenInstruction(hlo::Instruction instruction, const std::vector<Slots>& slots,
                                          const std::vector<Slots>& arguments, int depth);
  uint32_t NewRegister();
  absl::Status CallByEvaluation(const Wide* arguments, Wide* results);
  absl::Status CallOneByOne(const void* const* arguments, void* const* results, int64_t n);
  void MakeBlocks();

  Evaluation* evaluation_;
  hlo::ComputationId id_;
  std::vector<hlo::PrimitiveType> parameter_types_, result_types_;
  std::optional<hlo::Opcode> binary_opcode_;
  bool is_flat_ = false;
  size_t visited_ = 0;
  std::vector<Step> steps_;
  std::vector<Wide> registers_;                                     // Parameters first.
  std::vector<std::pair<uint32_t, hlo::PrimitiveType>> constants_;  // Registers that are written once.
  std::vector<Wide> blocks_;  // kBlock elements per register, allocated at the first CallBlock.
  Slots results_;
};

}  // namespace hlod::evaluator

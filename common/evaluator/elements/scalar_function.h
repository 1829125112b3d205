// A computation of scalars, prepared to be applied to millions of elements: reducers, combiners, comparators,
// map's function.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/evaluator/elements/kernel.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/evaluation.h"

namespace hlod::evaluator {

// A computation of elementwise opcodes, tuples and calls is flattened to a list of kernels over registers.
// Any other (a comparator with a loop, for example) is interpreted by the evaluation at each call. Not
// thread-safe.
class ScalarFunction {
 public:
  // `evaluation` must outlive it. INVALID_ARGUMENT when a parameter or a leaf of the result is not a scalar
  // array.
  static absl::StatusOr<ScalarFunction> Make(Evaluation& evaluation, hlo::ComputationId id);

  // Takes one argument per parameter, and writes one result per leaf of the root; arguments and results may
  // be the same memory.
  absl::Status Call(const Wide* arguments, Wide* results);

  // Does the same for `n` sets of arguments, at most kBlock: arguments[p] and results[r] are blocks of the
  // carriers of their types. Faster than n calls if the function is flat.
  static constexpr int64_t kBlock = 512;
  absl::Status CallBlock(const void* const* arguments, void* const* results, int64_t n);

  // Returns the opcode if the function is a single binary opcode of its two parameters, all of the same type,
  // so that loops can apply it directly; nullopt otherwise.
  std::optional<hlo::Opcode> binary_opcode() const { return binary_opcode_; }

 private:
  // The limit on visited instructions, because inlined calls could grow without bound.
  static constexpr size_t kStepsMax = 4096;
  static constexpr int kInlineDepthMax = 8;
  static constexpr size_t kBlocksMax = 256;  // The limit on registers for blocks: 2 MiB.
  using Slots = std::vector<uint32_t>;       // The registers of a value's leaves.
  struct Step {
    Kernel kernel;
    uint32_t in[3] = {0, 0, 0};
    uint32_t out = 0;
  };

  ScalarFunction(Evaluation& evaluation, hlo::ComputationId id) : evaluation_(&evaluation), id_(id) {}
  // Appends the steps of a computation. Returns the registers of its result, or nullopt if it cannot be
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
  std::vector<Wide> registers_;  // The registers, those of the parameters first.
  // Registers of constants, which are written once.
  std::vector<std::pair<uint32_t, hlo::PrimitiveType>> constants_;
  std::vector<Wide> blocks_;  // Blocks of kBlock elements per register, allocated at the first CallBlock.
  Slots results_;
};

}  // namespace hlod::evaluator

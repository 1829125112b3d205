// Copies operands into literals, evaluates, and copies the leaves of the result out.
#include "server/engine/run/reference_step.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/evaluator/evaluator.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

// Returns a literal of `shape` read from `leaves`, which is advanced past them.
absl::StatusOr<Literal> ReadLiteral(const hlo::Shape& shape, const std::byte* const*& leaves,
                                    const RunContext& run) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    elements.reserve(shape.tuple.size());
    for (const hlo::Shape& element : shape.tuple) {
      ASSIGN_OR_RETURN(Literal literal, ReadLiteral(element, leaves, run));
      elements.push_back(std::move(literal));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  Literal literal(shape);
  const absl::Span<std::byte> bytes = literal.bytes();
  if (!bytes.empty())
    RETURN_IF_ERROR(CopyBytes(*leaves, bytes.data(), static_cast<int64_t>(bytes.size()), run));
  ++leaves;
  return literal;
}

// Returns the heap memory that the evaluator needs: a copy of each operand, the result, and for each of their
// elements a number of the width of the computation. An array that is passed twice is copied twice.
int64_t EvaluatorBytes(hlo::Instruction instruction) {
  static constexpr int64_t kWideBytes = 16;
  // More than any memory, but small enough to be rounded up without overflow.
  static constexpr int64_t kMost = int64_t{1} << 62;
  int64_t sum = 0;
  const auto add = [&sum](const hlo::Shape& shape) {
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(shape)) {
      const int64_t wide = CheckedMultiply(Elements(*leaf.shape), kWideBytes).value_or(kMost);
      for (const int64_t bytes : {Bytes(*leaf.shape), wide})
        sum = std::min(kMost, CheckedAdd(sum, bytes).value_or(kMost));
    }
  };
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) add(instruction.operand(i).shape());
  add(instruction.shape());
  return sum;
}

// Returns true when the evaluator's copies are what takes time: a result without elements, or single numbers,
// such as the sizes that a program of dynamic shapes checks, take as good as none.
bool TakesTime(hlo::Instruction instruction) {
  const auto elements = [](const hlo::Shape& shape) {
    int64_t sum = 0;
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(shape)) sum += Elements(*leaf.shape);
    return sum;
  };
  bool large = elements(instruction.shape()) > 1;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i)
    large = large || elements(instruction.operand(i).shape()) > 1;
  return large && hlo::ByteSize(instruction.shape()).value_or(1) > 0;
}

// The step's scratch is never written. It represents the heap memory that the evaluator uses at that time, so
// that this is charged.
class ReferenceStep final : public Step {
 public:
  ReferenceStep(std::shared_ptr<const hlo::Module> module, hlo::Instruction instruction,
                std::shared_ptr<RandomCounters> random)
      : Step(StepKind::kReference, "reference " + DescribeStep(instruction)),
        module_(std::move(module)),
        instruction_(instruction),
        random_(std::move(random)) {
    set_scratch_bytes(ScratchAlign(EvaluatorBytes(instruction)));
    if (TakesTime(instruction)) set_slow_reason("it is left to the evaluator");
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    std::vector<Literal> operands;
    operands.reserve(instruction_.operand_count());
    std::vector<const Literal*> pointers;
    for (uint32_t i = 0; i < instruction_.operand_count(); ++i) {
      ASSIGN_OR_RETURN(Literal operand, ReadLiteral(instruction_.operand(i).shape(), inputs, context.run));
      operands.push_back(std::move(operand));
      pointers.push_back(&operands.back());
    }
    EvaluateOptions options;
    options.deadline = context.run.deadline;
    options.cancel = context.run.cancel;
    options.random = random_.get();
    ASSIGN_OR_RETURN(const Literal result, EvaluateInstruction(*module_, instruction_, pointers, options));
    size_t o = 0;
    for (const Literal* leaf : result.Leaves()) {
      const absl::Span<const std::byte> bytes = leaf->bytes();
      if (!bytes.empty()) {
        RETURN_IF_ERROR(CopyBytes(bytes.data(), outputs[o], static_cast<int64_t>(bytes.size()), context.run));
      }
      ++o;
    }
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<const hlo::Module> module_;
  const hlo::Instruction instruction_;
  const std::shared_ptr<RandomCounters> random_;
};

}  // namespace

std::unique_ptr<Step> MakeReferenceStep(std::shared_ptr<const hlo::Module> module,
                                        hlo::Instruction instruction,
                                        std::shared_ptr<RandomCounters> random) {
  return std::make_unique<ReferenceStep>(std::move(module), instruction, std::move(random));
}

}  // namespace hlod::engine

// Copies operands into literals, evaluates, copies the leaves of the result out.
#include "server/engine/run/reference_step.h"

#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/evaluator/evaluator.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

// A literal of `shape` whose leaves are filled from `leaves`, which is moved past them.
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

class ReferenceStep final : public Step {
 public:
  ReferenceStep(std::shared_ptr<const hlo::Module> module, hlo::Instruction instruction)
      : Step(StepKind::kReference, "reference " + DescribeStep(instruction)),
        module_(std::move(module)),
        instruction_(instruction) {}

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
};

}  // namespace

std::unique_ptr<Step> MakeReferenceStep(std::shared_ptr<const hlo::Module> module,
                                        hlo::Instruction instruction) {
  return std::make_unique<ReferenceStep>(std::move(module), instruction);
}

}  // namespace hlod::engine

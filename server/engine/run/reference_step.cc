// Copies operands into literals, evaluates, copies the leaves of the result out.
#include "server/engine/run/reference_step.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/evaluator/evaluator.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

// A literal of `shape` whose leaves are filled from `leaves`, which is moved past them.
Literal ReadLiteral(const hlo::Shape& shape, const std::byte* const*& leaves) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    elements.reserve(shape.tuple.size());
    for (const hlo::Shape& element : shape.tuple) elements.push_back(ReadLiteral(element, leaves));
    return Literal::MakeTuple(std::move(elements));
  }
  Literal literal(shape);
  const absl::Span<std::byte> bytes = literal.bytes();
  if (!bytes.empty()) std::memcpy(bytes.data(), *leaves, bytes.size());
  ++leaves;
  return literal;
}

class ReferenceStep final : public Step {
 public:
  ReferenceStep(std::shared_ptr<const hlo::Module> module, hlo::Instruction instruction)
      : module_(std::move(module)), instruction_(instruction) {}

  StepKind kind() const override { return StepKind::kReference; }

  std::string Describe() const override {
    std::string text = absl::StrCat("reference ", ToAbsl(hlo::Name(instruction_.opcode())), " ",
                                    hlo::ToStringNoLayout(instruction_.shape()));
    for (uint32_t i = 0; i < instruction_.operand_count(); ++i) {
      absl::StrAppend(&text, i == 0 ? " of " : ", ", hlo::ToStringNoLayout(instruction_.operand(i).shape()));
    }
    return text;
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    std::vector<Literal> operands;
    operands.reserve(instruction_.operand_count());
    std::vector<const Literal*> pointers;
    for (uint32_t i = 0; i < instruction_.operand_count(); ++i) {
      operands.push_back(ReadLiteral(instruction_.operand(i).shape(), inputs));
      pointers.push_back(&operands.back());
    }
    EvaluateOptions options;
    options.deadline = context.run.deadline;
    options.cancel = context.run.cancel;
    ASSIGN_OR_RETURN(const Literal result, EvaluateInstruction(*module_, instruction_, pointers, options));
    size_t o = 0;
    for (const Literal* leaf : result.Leaves()) {
      const absl::Span<const std::byte> bytes = leaf->bytes();
      if (!bytes.empty()) std::memcpy(outputs[o], bytes.data(), bytes.size());
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

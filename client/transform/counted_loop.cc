// Counted loops.
#include "client/transform/counted_loop.h"

#include <algorithm>

#include "common/hlo/literal.h"

namespace hlod::lazy {
namespace {

using Order = hlo::ComparisonDirection;

// The value of an integer constant.
std::optional<int64_t> IntegerOf(const hlo::Instruction& instruction) {
  if (instruction.opcode() != hlo::kConstant || !instruction.shape().dims.empty() ||
      !hlo::IsInteger(instruction.shape().type)) {
    return std::nullopt;
  }
  const absl::StatusOr<Literal> converted = hlo::Convert(instruction.literal(), hlo::kS64);
  if (!converted.ok()) return std::nullopt;
  return converted->data<int64_t>()[0];
}

// The element of the only parameter that the instruction is.
std::optional<size_t> StateIndex(const hlo::Instruction& instruction) {
  if (instruction.opcode() != hlo::kGetTupleElement || instruction.operand(0).opcode() != hlo::kParameter) {
    return std::nullopt;
  }
  return static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
}

class Counter {
 public:
  explicit Counter(const WhileLoop& loop)
      : init_(loop.computation[loop.init]),
        body_(Tracer::Get().callees().computation(loop.body)),
        condition_(Tracer::Get().callees().computation(loop.condition)) {}

  std::optional<int64_t> Count() const {
    const hlo::Instruction test = condition_.root();
    if (init_.opcode() != hlo::kTuple || body_.root().opcode() != hlo::kTuple ||
        test.opcode() != hlo::kCompare) {
      return std::nullopt;
    }
    Order order = test.attributes<hlo::CompareAttributes>().direction;
    hlo::Instruction counter = test.operand(0), limit = test.operand(1);
    if (order == Order::kGt || order == Order::kGe) {  // The limit stands first.
      std::swap(counter, limit);
      order = order == Order::kGt ? Order::kLt : Order::kLe;
    }
    const std::optional<size_t> index = StateIndex(counter);
    if (!index.has_value() || (order != Order::kLt && order != Order::kLe)) return std::nullopt;
    const std::optional<int64_t> begin = IntegerOf(init_.operand(static_cast<uint32_t>(*index)));
    std::optional<int64_t> end = Limit(limit);
    const std::optional<int64_t> step = Step(*index);
    if (!begin.has_value() || !end.has_value() || !step.has_value()) return std::nullopt;
    if (order == Order::kLe) ++*end;
    return *end <= *begin ? 0 : (*end - *begin + *step - 1) / *step;
  }

 private:
  // A constant, or an element of the state that begins as one and stays.
  std::optional<int64_t> Limit(const hlo::Instruction& limit) const {
    const std::optional<size_t> index = StateIndex(limit);
    if (!index.has_value()) return IntegerOf(limit);
    const hlo::Instruction next = body_.root().operand(static_cast<uint32_t>(*index));
    if (StateIndex(next) != index) return std::nullopt;
    return IntegerOf(init_.operand(static_cast<uint32_t>(*index)));
  }
  std::optional<int64_t> Step(size_t index) const {
    const hlo::Instruction next = body_.root().operand(static_cast<uint32_t>(index));
    if (next.opcode() != hlo::kAdd) return std::nullopt;
    for (const uint32_t side : {0u, 1u}) {
      const std::optional<int64_t> step = IntegerOf(next.operand(1 - side));
      if (StateIndex(next.operand(side)) == index && step.has_value() && *step > 0) return step;
    }
    return std::nullopt;
  }

  const hlo::Instruction init_;
  const hlo::Computation& body_;
  const hlo::Computation& condition_;
};

}  // namespace

std::optional<int64_t> TripCountOf(const WhileLoop& loop) { return Counter(loop).Count(); }

std::optional<hlo::ComputationId> ScanBodyOf(const WhileLoop& loop) {
  try {
    const CalleeBody body = BodyOf(loop.body);
    if (body.single) return std::nullopt;
    Callee callee("scan_body");
    callee.Parameter(Shape::Scalar(hlo::kPred));
    std::vector<NodeId> parameters;
    for (size_t i = 0; i < body.parameters.size(); ++i) {
      parameters.push_back(callee.Parameter(body.ParameterShape(i)));
    }
    return callee.FinishTuple(callee.Append(body.computation, parameters, body.outputs));
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

}  // namespace hlod::lazy

// Flattens a scalar computation into steps, and runs them.
#include "common/evaluator/elements/scalar_function.h"

#include <algorithm>
#include <cstring>

#include "common/base/errors/status.h"

namespace hlod::evaluator {

using hlo::Computation;
using hlo::Instruction;
using hlo::Literal;

namespace {

// Returns the opcode of a root that joins parameters 0 and 1, in either order when the opcode is commutative.
std::optional<hlo::Opcode> BinaryOpcode(const Computation& computation) {
  const Instruction root = computation.root();
  if (computation.parameters().size() != 2 || root.operand_count() != 2) return std::nullopt;
  const hlo::NodeId first = computation.parameters()[0], second = computation.parameters()[1];
  const hlo::NodeId a = root.operands()[0], b = root.operands()[1];
  if (!((a == first && b == second) || (a == second && b == first))) return std::nullopt;
  const hlo::PrimitiveType type = root.shape().type;
  if (computation[first].shape().type != type || computation[second].shape().type != type)
    return std::nullopt;
  switch (root.opcode()) {
    case hlo::kAdd:
    case hlo::kMultiply:
    case hlo::kMaximum:
    case hlo::kMinimum:
    case hlo::kAnd:
    case hlo::kOr:
    case hlo::kXor: return root.opcode();
    default: return std::nullopt;
  }
}

}  // namespace

absl::StatusOr<ScalarFunction> ScalarFunction::Make(Evaluation& evaluation, hlo::ComputationId id) {
  ScalarFunction function(evaluation, id);
  const Computation& computation = evaluation.module().computation(id);
  const hlo::ProgramShape shape = computation.program_shape();
  std::vector<Slots> arguments;
  for (const hlo::Shape& parameter : shape.parameters) {
    if (!parameter.IsScalar()) {
      return InvalidArgument("Parameter of %s is %s, but it is applied to scalars", computation.name(),
                             ToStringNoLayout(parameter));
    }
    function.parameter_types_.push_back(parameter.type);
    arguments.push_back({function.NewRegister()});
  }
  for (const hlo::ShapeLeaf& leaf : Leaves(shape.result)) {
    if (!leaf.shape->IsScalar()) {
      return InvalidArgument("Result of %s is %s, but it must consist of scalars", computation.name(),
                             ToStringNoLayout(shape.result));
    }
    function.result_types_.push_back(leaf.shape->type);
  }
  function.binary_opcode_ = BinaryOpcode(computation);
  if (std::optional<Slots> results = function.Flatten(id, arguments, 0); results.has_value()) {
    function.is_flat_ = true;
    function.results_ = *std::move(results);
  }
  return function;
}

uint32_t ScalarFunction::NewRegister() {
  registers_.emplace_back();
  return static_cast<uint32_t>(registers_.size() - 1);
}

std::optional<ScalarFunction::Slots> ScalarFunction::Flatten(hlo::ComputationId id,
                                                             const std::vector<Slots>& arguments, int depth) {
  const Computation& computation = evaluation_->module().computation(id);
  if (computation.size() > kStepsMax || depth > kInlineDepthMax) return std::nullopt;
  std::vector<Slots> slots(computation.size());
  for (hlo::NodeId node = 0; node <= computation.root_id(); ++node) {
    if (++visited_ > kStepsMax) return std::nullopt;
    std::optional<Slots> found = FlattenInstruction(computation[node], slots, arguments, depth);
    if (!found.has_value()) return std::nullopt;
    slots[node] = *std::move(found);
  }
  return slots[computation.root_id()];
}

std::optional<ScalarFunction::Slots> ScalarFunction::FlattenInstruction(Instruction instruction,
                                                                        const std::vector<Slots>& slots,
                                                                        const std::vector<Slots>& arguments,
                                                                        int depth) {
  const absl::Span<const hlo::NodeId> operands = instruction.operands();
  switch (instruction.opcode()) {
    case hlo::kParameter: return arguments[instruction.parameter_number()];
    case hlo::kTuple: {
      Slots all;
      for (hlo::NodeId operand : operands)
        all.insert(all.end(), slots[operand].begin(), slots[operand].end());
      return all.size() > kStepsMax ? std::nullopt : std::optional<Slots>(std::move(all));
    }
    case hlo::kGetTupleElement: {
      const hlo::Shape& tuple = instruction.operand(0).shape();
      size_t skip = 0;
      const int64_t index = instruction.attributes<hlo::TupleIndexAttributes>().index;
      for (int64_t i = 0; i < index; ++i) skip += Leaves(tuple.tuple[i]).size();
      const auto begin = slots[operands[0]].begin() + static_cast<int64_t>(skip);
      return Slots(begin, begin + static_cast<int64_t>(Leaves(instruction.shape()).size()));
    }
    case hlo::kOptBarrier: return slots[operands[0]];
    case hlo::kCall:
    case hlo::kFusion: {
      std::vector<Slots> inner;
      for (hlo::NodeId operand : operands) inner.push_back(slots[operand]);
      return Flatten(instruction.called()[0], inner, depth + 1);
    }
    default: break;
  }
  if (!instruction.shape().IsScalar()) return std::nullopt;
  switch (instruction.opcode()) {
    case hlo::kConstant: {
      const uint32_t slot = NewRegister();
      Load(instruction.shape().type, instruction.literal().bytes().data(), 1, registers_[slot].bytes);
      constants_.emplace_back(slot, instruction.shape().type);
      return Slots{slot};
    }
    case hlo::kCopy:
    case hlo::kReshape:
    case hlo::kBroadcast:
    case hlo::kTranspose:
      if (!instruction.operand(0).shape().IsScalar()) return std::nullopt;
      return slots[operands[0]];
    default: break;
  }
  Step step{.kernel = FindKernel(instruction)};
  if (!step.kernel || operands.size() > 3) return std::nullopt;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (slots[operands[i]].size() != 1) return std::nullopt;
    step.in[i] = slots[operands[i]][0];
  }
  step.out = NewRegister();
  steps_.push_back(step);
  return Slots{step.out};
}

absl::Status ScalarFunction::Call(const Wide* arguments, Wide* results) {
  RETURN_IF_ERROR(evaluation_->Tick(static_cast<int64_t>(steps_.size()) + 1));
  if (!is_flat_) return CallByEvaluation(arguments, results);
  std::copy_n(arguments, parameter_types_.size(), registers_.begin());
  for (const Step& step : steps_) {
    const void* const in[3] = {registers_[step.in[0]].bytes, registers_[step.in[1]].bytes,
                               registers_[step.in[2]].bytes};
    step.kernel.run(in, registers_[step.out].bytes, 1, step.kernel.context);
    Normalize(step.kernel.context.result, registers_[step.out].bytes, 1);
  }
  for (size_t i = 0; i < results_.size(); ++i) results[i] = registers_[results_[i]];
  return absl::OkStatus();
}

void ScalarFunction::MakeBlocks() {
  blocks_.resize(registers_.size() * kBlock);
  for (const auto& [slot, type] : constants_) {
    const int64_t width = CarrierBytes(CarrierOf(type));
    auto* const block = reinterpret_cast<std::byte*>(&blocks_[slot * kBlock]);
    for (int64_t i = 0; i < kBlock; ++i) std::memcpy(block + i * width, registers_[slot].bytes, width);
  }
}

absl::Status ScalarFunction::CallBlock(const void* const* arguments, void* const* results, int64_t n) {
  if (!is_flat_ || registers_.size() > kBlocksMax) return CallOneByOne(arguments, results, n);
  RETURN_IF_ERROR(evaluation_->Tick((static_cast<int64_t>(steps_.size()) + 1) * n));
  if (blocks_.empty()) MakeBlocks();
  const auto block = [&](uint32_t slot) -> const void* {
    return slot < parameter_types_.size() ? arguments[slot] : &blocks_[slot * kBlock];
  };
  for (const Step& step : steps_) {
    const void* const in[3] = {block(step.in[0]), block(step.in[1]), block(step.in[2])};
    void* const out = &blocks_[step.out * kBlock];
    step.kernel.run(in, out, n, step.kernel.context);
    Normalize(step.kernel.context.result, out, n);
  }
  for (size_t r = 0; r < results_.size(); ++r)
    std::memcpy(results[r], block(results_[r]), n * CarrierBytes(CarrierOf(result_types_[r])));
  return absl::OkStatus();
}

absl::Status ScalarFunction::CallOneByOne(const void* const* arguments, void* const* results, int64_t n) {
  std::vector<Wide> in(parameter_types_.size()), out(result_types_.size());
  const auto width = [](hlo::PrimitiveType type) { return CarrierBytes(CarrierOf(type)); };
  for (int64_t i = 0; i < n; ++i) {
    for (size_t p = 0; p < in.size(); ++p) {
      const int64_t bytes = width(parameter_types_[p]);
      std::memcpy(in[p].bytes, static_cast<const std::byte*>(arguments[p]) + i * bytes, bytes);
    }
    RETURN_IF_ERROR(Call(in.data(), out.data()));
    for (size_t r = 0; r < out.size(); ++r) {
      const int64_t bytes = width(result_types_[r]);
      std::memcpy(static_cast<std::byte*>(results[r]) + i * bytes, out[r].bytes, bytes);
    }
  }
  return absl::OkStatus();
}

absl::Status ScalarFunction::CallByEvaluation(const Wide* arguments, Wide* results) {
  std::vector<Value> values;
  for (size_t i = 0; i < parameter_types_.size(); ++i) {
    Literal literal(hlo::Shape::Scalar(parameter_types_[i]));
    Store(parameter_types_[i], arguments[i].bytes, 1, literal.bytes().data());
    values.push_back(Value::Own(std::move(literal)));
  }
  ASSIGN_OR_RETURN(Value value, evaluation_->Call(id_, std::move(values)));
  const Literal literal = ToLiteral(std::move(value));
  const std::vector<const Literal*> leaves = literal.Leaves();
  for (size_t i = 0; i < result_types_.size(); ++i)
    Load(result_types_[i], leaves[i]->bytes().data(), 1, results[i].bytes);
  return absl::OkStatus();
}

}  // namespace hlod::evaluator

// Constant folding by the evaluator, within a budget of bytes.
#include <algorithm>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "common/evaluator/evaluator.h"
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

using Value = std::shared_ptr<const Literal>;

bool IsSmall(const Shape& shape) {
  const std::optional<int64_t> bytes = ByteSize(shape);
  return shape.IsArray() && bytes && *bytes <= kFoldedBytesMax && !shape.HasDynamicDimension();
}

// Returns true for a small computation of elementwise instructions without loops, such as reducers.
bool IsSimple(const Computation& computation) {
  constexpr uint32_t kInstructionsMax = 8;
  if (computation.size() > kInstructionsMax) return false;
  for (NodeId id = 0; id < computation.size(); ++id) {
    const Opcode opcode = computation[id].opcode();
    if (opcode != kParameter && opcode != kConstant && !(HasTrait(opcode, kElementwise) && opcode != kMap))
      return false;
  }
  return true;
}

// Returns true for instructions whose cost is about the size of their operands and result, which excludes
// contractions and loops.
bool IsCheap(const Module& module, Instruction instruction) {
  const Opcode opcode = instruction.opcode();
  const bool simple_reduce = opcode == kReduce && IsSimple(module.computation(instruction.called()[0]));
  return (HasTrait(opcode, kElementwise) || HasTrait(opcode, kDataMovement) || simple_reduce) &&
         (simple_reduce || instruction.called().empty()) && !HasTrait(opcode, kOptimizedOnly) &&
         opcode != kStochasticConvert && opcode != kDynamicReshape && CanEvaluate(instruction);
}

// Returns true when all elements have the same bytes.
bool IsSplat(const Literal& literal) {
  const absl::Span<const std::byte> bytes = literal.bytes();
  const auto width = static_cast<size_t>(ByteWidth(literal.shape().type));
  return literal.element_count() > 1 &&
         std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

// Folds the constants of one computation.
class Folder {
 public:
  Folder(const Module& module, ComputationCopy& copy, int64_t& budget)
      : module_(module), copy_(copy), budget_(budget) {}

  NodeId Fold(Instruction instruction) {
    const Opcode opcode = instruction.opcode();
    // Iotas and broadcasts are cheaper than the constants that they would become. They are evaluated only as
    // operands of instructions that are folded.
    const bool source = opcode == kConstant || opcode == kIota || opcode == kBroadcast;
    if (source || !IsCheap(module_, instruction) || !IsSmall(instruction.shape()) ||
        instruction.operands().empty()) {
      return copy_.Clone(instruction);
    }
    for (const NodeId operand : instruction.operands()) {
      if (!IsKnown(copy_.to()[copy_.node(operand)])) return copy_.Clone(instruction);
    }
    std::vector<const Literal*> operands;
    for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
      const Literal* value = ValueOf(copy_.node(instruction.operands()[i]));
      if (value == nullptr) return copy_.Clone(instruction);
      operands.push_back(value);
    }
    const Value result = Evaluated(instruction, operands);
    return result == nullptr ? copy_.Clone(instruction) : Emit(instruction, result);
  }

 private:
  // Returns true for a small constant, iota, or broadcast constant.
  static bool IsKnown(Instruction instruction) {
    const Opcode opcode = instruction.opcode();
    const bool source = opcode == kConstant || opcode == kIota ||
                        (opcode == kBroadcast && instruction.operand(0).opcode() == kConstant);
    return source && IsSmall(instruction.shape());
  }

  // Returns the known value of a new instruction; null when the budget is used up.
  const Literal* ValueOf(NodeId id) {
    if (const auto found = values_.find(id); found != values_.end()) return found->second.get();
    const Instruction instruction = copy_.to()[id];
    Value value;
    if (instruction.opcode() == kConstant) {
      value = copy_.tables().shared_literal(instruction.attributes<ConstantAttributes>().literal);
    } else if (instruction.opcode() == kIota) {
      value = Evaluated(instruction, {});
    } else if (const Literal* operand = ValueOf(instruction.operands()[0])) {
      value = Evaluated(instruction, {&operand, 1});
    }
    return (values_[id] = std::move(value)).get();
  }

  Value Evaluated(Instruction instruction, absl::Span<const Literal* const> operands) {
    // A reduce reads more bytes than it writes.
    int64_t bytes = ByteSize(instruction.shape()).value_or(INT64_MAX);
    for (const Literal* operand : operands)
      bytes = std::max(bytes, static_cast<int64_t>(operand->bytes().size()));
    if (bytes > budget_) return nullptr;
    budget_ -= bytes;
    absl::StatusOr<Literal> literal = EvaluateInstruction(module_, instruction, operands);
    return literal.ok() ? std::make_shared<const Literal>(*std::move(literal)) : nullptr;
  }

  NodeId Emit(Instruction instruction, const Value& value) {
    Tables& tables = copy_.tables();
    if (!IsSplat(*value)) {
      return copy_.Replace(instruction, kConstant, instruction.shape_id(),
                           ConstantAttributes{tables.Intern(value)}, {});
    }
    Literal scalar(Shape::Scalar(value->shape().type));
    std::memcpy(scalar.bytes().data(), value->bytes().data(), scalar.bytes().size());
    const ShapeId shape = tables.Intern(scalar.shape());
    const LiteralId literal = tables.Intern(std::make_shared<const Literal>(std::move(scalar)));
    const NodeId constant = copy_.Replace(instruction, kConstant, shape, ConstantAttributes{literal}, {});
    return copy_.Replace(instruction, kBroadcast, instruction.shape_id(), DimensionsAttributes{}, {constant});
  }

  const Module& module_;
  ComputationCopy& copy_;
  int64_t& budget_;
  absl::flat_hash_map<NodeId, Value> values_;
};

}  // namespace

std::unique_ptr<Module> FoldConstants(const Module& module, PassWatch* watch) {
  int64_t budget = kFoldedBytesTotal;
  std::unique_ptr<Folder> folder;
  return Rewritten(module, watch, [&](ComputationCopy& copy, Instruction instruction) {
    if (instruction.id() == 0) folder = std::make_unique<Folder>(module, copy, budget);
    return folder->Fold(instruction);
  });
}

}  // namespace hlod::passes

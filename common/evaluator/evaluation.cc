// Iterates over a computation: gathers operands, applies the rule, frees dead values.
#include "common/evaluator/evaluation.h"

#include "absl/time/clock.h"
#include "common/base/errors/status.h"
#include "common/evaluator/custom_calls.h"
#include "common/evaluator/dynamic_shapes.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/collectives/collective.h"

namespace hlod::evaluator {

using hlo::Computation;
using hlo::Literal;
using hlo::NodeId;

Value Value::Own(Literal literal) {
  if (!literal.shape().IsTuple()) return {.array = std::make_shared<Literal>(std::move(literal))};
  std::vector<Value> elements;
  for (Literal& element : literal.elements()) elements.push_back(Own(std::move(element)));
  return Tuple(std::move(elements));
}

Value Value::Borrow(const Literal& literal) {
  if (!literal.shape().IsTuple()) {
    return {.array = std::shared_ptr<Literal>(std::shared_ptr<void>(), const_cast<Literal*>(&literal))};
  }
  std::vector<Value> elements;
  for (const Literal& element : literal.elements()) elements.push_back(Borrow(element));
  return Tuple(std::move(elements));
}

Value Value::Tuple(std::vector<Value> elements) {
  return {.tuple = std::make_shared<const std::vector<Value>>(std::move(elements))};
}

namespace {

// Returns the array of a value. It is moved if this is its only owner; a borrowed array has no owner and is
// copied.
Literal TakeArray(Value& value) {
  if (value.array.use_count() == 1) return std::move(*value.array);
  return *value.array;
}

}  // namespace

Literal ToLiteral(Value value) {
  if (value.array != nullptr) return TakeArray(value);
  std::vector<Literal> elements;
  const bool sole_owner = value.tuple.use_count() == 1;
  std::vector<Value> parts = *value.tuple;
  if (sole_owner) value.tuple.reset();
  for (Value& part : parts) elements.push_back(ToLiteral(std::move(part)));
  return Literal::MakeTuple(std::move(elements));
}

Literal Operands::Take(size_t index) { return TakeArray(values_[index]); }

absl::Status Evaluation::CheckInterrupt() const {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
    return Cancelled("Evaluation of %s was cancelled", module_.name());
  }
  if (options_.deadline != absl::InfiniteFuture() && absl::Now() > options_.deadline) {
    return DeadlineExceeded("Evaluation of %s ran past its deadline", module_.name());
  }
  return absl::OkStatus();
}

const std::vector<NodeId>& Evaluation::LastUses(hlo::ComputationId id) {
  std::unique_ptr<std::vector<NodeId>>& last = last_uses_[id];
  if (last != nullptr) return *last;
  const Computation& computation = module_.computation(id);
  last = std::make_unique<std::vector<NodeId>>(computation.size());
  for (NodeId node = 0; node < computation.size(); ++node) (*last)[node] = node;
  (*last)[computation.root_id()] = Computation::kNoNode;
  // Users have larger ids, so in a backward iteration the first needed user is the last use.
  for (NodeId user = computation.size(); user-- > 0;) {
    if (Transfers(computation[user])) (*last)[user] = Computation::kNoNode;
    if ((*last)[user] == user) continue;
    for (NodeId operand : computation[user].operands()) {
      if ((*last)[operand] == operand) (*last)[operand] = user;
    }
  }
  return *last;
}

bool Evaluation::Transfers(hlo::Instruction instruction) {
  return hlo::IsTransfer(instruction.opcode()) ||
         std::ranges::any_of(instruction.called(), [this](hlo::ComputationId id) { return Transfers(id); });
}

bool Evaluation::Transfers(hlo::ComputationId id) {
  if (const auto found = transfers_.find(id); found != transfers_.end()) return found->second;
  const Computation& computation = module_.computation(id);
  bool any = false;
  for (NodeId node = 0; node < computation.size() && !any; ++node) any = Transfers(computation[node]);
  return transfers_[id] = any;
}

absl::StatusOr<Value> Evaluation::Call(hlo::ComputationId id, std::vector<Value> arguments) {
  if (depth_ >= kCallDepthMax)
    return ResourceExhausted("Calls in %s nest deeper than %d", module_.name(), kCallDepthMax);
  struct Depth {
    int& depth;
    explicit Depth(int& depth) : depth(depth) { ++depth; }
    ~Depth() { --depth; }
  } depth(depth_);

  const Computation& computation = module_.computation(id);
  const std::vector<NodeId>& last_uses = LastUses(id);
  std::vector<Value> values(computation.size());
  for (NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction instruction = computation[node];
    if (last_uses[node] == node) {  // Nothing uses the result, so it is freed.
      if (instruction.opcode() == hlo::kParameter) arguments[instruction.parameter_number()] = {};
      continue;
    }
    if (instruction.opcode() == hlo::kParameter) {
      values[node] = std::move(arguments[instruction.parameter_number()]);
    } else if (instruction.opcode() == hlo::kConstant) {
      values[node] = Value::Borrow(instruction.literal());
    } else {
      std::vector<Value> operands;
      operands.reserve(instruction.operand_count());
      for (NodeId operand : instruction.operands()) operands.push_back(values[operand]);
      for (NodeId operand : instruction.operands()) {
        if (last_uses[operand] == node) values[operand] = {};
      }
      ASSIGN_OR_RETURN(values[node], Run(instruction, std::move(operands)));
    }
  }
  return std::move(values[computation.root_id()]);
}

namespace {

// Returns true for opcodes with a value rule that makes arrays of the stated shapes, instead of passing its
// operands on.
bool MakesArrays(hlo::Opcode opcode) {
  return opcode == hlo::kScan || opcode == hlo::kAsyncStart || opcode == hlo::kCopyStart ||
         HasTrait(opcode, hlo::kCollective);
}

}  // namespace

absl::StatusOr<Value> Evaluation::Run(hlo::Instruction instruction, std::vector<Value> operands) {
  RETURN_IF_ERROR(Tick(16));
  const bool dynamic = HasDynamicShapes(instruction);
  if (HasTrait(instruction.opcode(), hlo::kCollective) && !hlo::IsCollectiveEnd(instruction.opcode()) &&
      !dynamic) {
    if (options_.participant != nullptr) return MeetParticipants(*this, instruction, operands);
    if (hlo::ParticipantsOf(module_).count() > 1) {
      return Unimplemented("%s: %s is for (%d) participants, and one runs", instruction.name(),
                           module_.name(), hlo::ParticipantsOf(module_).count());
    }
  }
  if (hlo::IsTransfer(instruction.opcode())) return RunTransfer(*this, instruction, operands);
  const Rule rule = FindRule(instruction);
  if (rule.value != nullptr) {
    if (dynamic && MakesArrays(instruction.opcode())) {
      return Unimplemented("%s: %s is not run on dynamic dimensions, and this is %s", instruction.name(),
                           Name(instruction.opcode()), ToStringNoLayout(instruction.shape()));
    }
    return rule.value(*this, instruction, operands);
  }
  if (dynamic) {
    ASSIGN_OR_RETURN(Literal result, RunOnActualShapes(*this, instruction, operands));
    return Value::Own(std::move(result));
  }
  if (rule.array == nullptr) {
    if (instruction.opcode() == hlo::kCustomCall) {
      const std::string& target = instruction.attributes<hlo::CustomCallAttributes>().target;
      if (IsOwnCustomCallTarget(target)) RETURN_IF_ERROR(CheckOwnCustomCall(instruction));
      return Unimplemented("%s: no rule for the custom-call target \"%s\"", instruction.name(), target);
    }
    return Unimplemented("%s: the evaluator has no rule for %s of these types", instruction.name(),
                         Name(instruction.opcode()));
  }
  ASSIGN_OR_RETURN(Literal result, rule.array(*this, instruction, Operands(absl::MakeSpan(operands))));
  return Value::Own(std::move(result));
}

}  // namespace hlod::evaluator

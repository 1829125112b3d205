// The table of rules by opcode, and functions that run a module or one instruction.
#include "common/evaluator/evaluator.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <string_view>

#include "common/base/errors/status.h"
#include "common/evaluator/custom_calls.h"
#include "common/evaluator/dynamic_shapes.h"
#include "common/evaluator/elements/kernel.h"
#include "common/evaluator/evaluation.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/lapack/call.h"

namespace hlod {
namespace evaluator {
namespace {

using RuleTable = std::array<Rule, hlo::kOpcodeCount>;

// Sets the rules of opcodes with arrays as operands and results.
void SetArrayRules(RuleTable& table) {
  using namespace hlo;  // NOLINT: the opcodes.
  const auto array = [&](Opcode opcode, ArrayRule rule) { table[static_cast<size_t>(opcode)].array = rule; };
  array(kBitcastConvert, BitcastConvert);
  array(kMap, evaluator::Map);
  array(kIota, evaluator::Iota);
  array(kBroadcast, Broadcast);
  array(kReshape, Reshape);
  array(kBitcast, Bitcast);
  array(kTranspose, Transpose);
  array(kReverse, Reverse);
  array(kSlice, Slice);
  array(kDynamicSlice, DynamicSlice);
  array(kDynamicUpdateSlice, DynamicUpdateSlice);
  array(kPad, Pad);
  array(kConcatenate, Concatenate);
  array(kGetDimensionSize, GetDimensionSize);
  array(kGather, Gather);
  array(kScatter, Scatter);
  array(kReduce, Reduce);
  array(kReduceWindow, ReduceWindow);
  array(kSelectAndScatter, SelectAndScatter);
  array(kSort, Sort);
  array(kTopK, TopK);
  array(kBatchNormTraining, BatchNormTraining);
  array(kBatchNormInference, BatchNormInference);
  array(kBatchNormGrad, BatchNormGrad);
  array(kDot, Dot);
  array(kRaggedDot, RaggedDot);
  array(kScaledDot, ScaledDot);
  array(kConvolution, Convolution);
  array(kFft, Fft);
  array(kCholesky, Cholesky);
  array(kTriangularSolve, TriangularSolve);
  array(kRngBitGenerator, RngBitGenerator);
  array(kRng, Rng);
  array(kRngGetAndUpdateState, RngState);
  array(kRaggedAllToAll, RaggedAllToAll);
}

// Sets the rules of opcodes whose operands or results are tuples, and of those that call computations.
void SetValueRules(RuleTable& table) {
  using namespace hlo;  // NOLINT: the opcodes.
  const auto value = [&](Opcode opcode, ValueRule rule) { table[static_cast<size_t>(opcode)].value = rule; };
  value(kCopy, Identity);
  value(kOptBarrier, Identity);
  value(kDomain, Identity);
  value(kAddDependency, Identity);
  value(kTuple, TupleOf);
  value(kGetTupleElement, evaluator::GetTupleElement);
  value(kAfterAll, AfterAll);
  value(kCopyStart, CopyStart);
  value(kCopyDone, FirstElement);
  value(kAsyncStart, AsyncStart);
  value(kAsyncUpdate, Identity);
  value(kAsyncDone, SecondElement);
  for (const Opcode opcode :
       {kAllReduce, kAllReduceStart, kAllGather, kReduceScatter, kCollectiveBroadcast, kCollectiveReduce})
    value(opcode, EachOperand);
  value(kAllReduceDone, Identity);
  value(kAllGatherStart, AllGatherStart);
  value(kAllGatherDone, SecondElement);
  value(kAllToAll, PiecesOf);
  value(kCollectivePermute, CollectivePermute);
  value(kCollectivePermuteStart, CollectivePermuteStart);
  value(kCollectivePermuteDone, SecondElement);
  value(kReplicaId, DeviceId);
  value(kPartitionId, DeviceId);
  value(kCall, CallRule);
  value(kFusion, CallRule);
  value(kWhile, While);
  value(kConditional, Conditional);
  value(kScan, Scan);
}

// Returns the rules of the opcodes that have their own; elementwise opcodes use kernels.
RuleTable MakeTable() {
  RuleTable table;
  SetArrayRules(table);
  SetValueRules(table);
  return table;
}

// Custom-calls that one device can run: hints of placement, layout and sharding, which are identities, top-k
// and LAPACK's routines.
constexpr std::string_view kTopKTarget = "TopK";
constexpr std::string_view kHints[] = {"Sharding",
                                       "SPMDFullToShardShape",
                                       "SPMDShardToFullShape",
                                       "LocalToGlobalShape",
                                       "GlobalToLocalShape",
                                       "annotate_device_placement",
                                       "MoveToHost",
                                       "MoveToDevice",
                                       "LayoutConstraint",
                                       "Pin",
                                       "Unpin"};
bool IsHint(std::string_view target) {
  return std::ranges::find(kHints, target) != std::end(kHints) || target.starts_with("xla.sdy.");
}

Rule FindCustomCall(hlo::Instruction instruction) {
  const std::string_view target = instruction.attributes<hlo::CustomCallAttributes>().target;
  if (lapack::IsTarget(target)) return {.value = LapackCall};
  if (IsSizeCheck(instruction)) return {.array = SizeCheck};
  if (hlo::StoredShape(instruction).has_value()) return {.array = StoreResult};
  if (target == kTopKTarget && instruction.operand_count() == 1) return {.array = TopK};
  if (IsIdentityCustomCall(instruction)) return {.value = Identity};
  return {};
}

}  // namespace

Rule FindRule(hlo::Instruction instruction) {
  static const RuleTable table = MakeTable();
  const Rule& rule = table[static_cast<size_t>(instruction.opcode())];
  if (rule.array != nullptr || rule.value != nullptr) return rule;
  if (instruction.opcode() == hlo::kCustomCall) return FindCustomCall(instruction);
  if (FindKernel(instruction)) return {.array = Elementwise};
  return {};
}

namespace {

// Runs `f`, and converts std::bad_alloc, the only exception that the rules may throw, to a status.
template <typename F>
absl::StatusOr<hlo::Literal> WithinMemory(const hlo::Module& module, F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("The host has no memory left for evaluating %s", module.name());
  }
}

}  // namespace
}  // namespace evaluator

absl::StatusOr<hlo::Literal> Evaluate(const hlo::Module& module,
                                      absl::Span<const hlo::Literal* const> arguments,
                                      const EvaluateOptions& options) {
  const hlo::Computation& entry = module.entry();
  if (arguments.size() != entry.parameters().size()) {
    return InvalidArgument("%s takes %d arguments, and %d were given", module.name(),
                           entry.parameters().size(), arguments.size());
  }
  std::vector<evaluator::Value> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const hlo::Shape& wanted = entry[entry.parameters()[i]].shape();
    if (!evaluator::FitsWithin(arguments[i]->shape(), wanted)) {
      return InvalidArgument("Argument %d of %s is %s, and the parameter is %s", i, module.name(),
                             ToStringNoLayout(arguments[i]->shape()), ToStringNoLayout(wanted));
    }
    values.push_back(evaluator::Value::Borrow(*arguments[i]));
  }
  return evaluator::WithinMemory(module, [&]() -> absl::StatusOr<hlo::Literal> {
    evaluator::Evaluation evaluation(module, options);
    RETURN_IF_ERROR(evaluation.CheckInterrupt());
    ASSIGN_OR_RETURN(evaluator::Value result, evaluation.Call(module.entry_id(), std::move(values)));
    return evaluator::ToLiteral(std::move(result));
  });
}

absl::StatusOr<hlo::Literal> EvaluateInstruction(const hlo::Module& module, hlo::Instruction instruction,
                                                 absl::Span<const hlo::Literal* const> operands,
                                                 const EvaluateOptions& options) {
  if (instruction.opcode() == hlo::kConstant) return instruction.literal();
  if (instruction.opcode() == hlo::kParameter) {
    return InvalidArgument("%s is a parameter: it has a value only in a run of its computation",
                           instruction.name());
  }
  if (operands.size() != instruction.operand_count()) {
    return InvalidArgument("%s has %d operands, and %d were given", instruction.name(),
                           instruction.operand_count(), operands.size());
  }
  std::vector<evaluator::Value> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    const hlo::Shape& wanted = instruction.operand(static_cast<uint32_t>(i)).shape();
    if (!evaluator::FitsWithin(operands[i]->shape(), wanted)) {
      return InvalidArgument("Operand %d of %s is %s, and %s was given", i, instruction.name(),
                             ToStringNoLayout(wanted), ToStringNoLayout(operands[i]->shape()));
    }
    values.push_back(evaluator::Value::Borrow(*operands[i]));
  }
  return evaluator::WithinMemory(module, [&]() -> absl::StatusOr<hlo::Literal> {
    evaluator::Evaluation evaluation(module, options);
    RETURN_IF_ERROR(evaluation.CheckInterrupt());
    ASSIGN_OR_RETURN(evaluator::Value result, evaluation.Run(instruction, std::move(values)));
    return evaluator::ToLiteral(std::move(result));
  });
}

bool IsOwnCustomCallTarget(std::string_view target) {
  return target == evaluator::kTopKTarget || target == hlo::kDynamicResultTarget ||
         evaluator::IsSizeCheckTarget(target) || evaluator::IsHint(target) || lapack::IsTarget(target);
}

std::vector<std::string> OwnCustomCallTargets() {
  std::vector<std::string> targets = lapack::Targets();
  targets.insert(targets.end(), std::begin(evaluator::kHints), std::end(evaluator::kHints));
  targets.emplace_back(evaluator::kTopKTarget);
  return targets;
}

bool IsIdentityCustomCall(hlo::Instruction instruction) {
  // The shapes of an identity must be equal, which shape inference does not check for custom-calls.
  return evaluator::IsHint(instruction.attributes<hlo::CustomCallAttributes>().target) &&
         instruction.operand_count() == 1 && Compatible(instruction.shape(), instruction.operand(0).shape());
}

absl::Status CheckOwnCustomCall(hlo::Instruction instruction) {
  const std::string& target = instruction.attributes<hlo::CustomCallAttributes>().target;
  if (lapack::IsTarget(target)) return lapack::Call::Make(instruction).status();
  if (CanEvaluate(instruction)) return absl::OkStatus();
  if (target.ends_with("GlobalToLocalShape") || target.ends_with("LocalToGlobalShape")) {
    return Unimplemented(
        "%s cuts arrays up among partitions or joins them, and the program does not say how many there are: "
        "num_partitions, or the mesh in its frontend attributes.",
        target);
  }
  if (target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") {
    return FailedPrecondition(
        "%s cuts an array up among partitions or joins it, and this program is compiled for one partition. It "
        "runs on a daemon with as many devices as its shardings divide arrays among (hlod --devices).",
        target);
  }
  return InvalidArgument("%s takes one operand%s, and %s of %d operands is not that", target,
                         evaluator::IsHint(target) ? " and returns it" : "",
                         ToStringNoLayout(instruction.shape()), instruction.operand_count());
}

bool CanEvaluate(hlo::Instruction instruction) {
  if (instruction.shape().HasDynamicDimension()) return false;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (instruction.operand(i).shape().HasDynamicDimension()) return false;
  }
  if (instruction.opcode() == hlo::kParameter || instruction.opcode() == hlo::kConstant) return true;
  const evaluator::Rule rule = evaluator::FindRule(instruction);
  return rule.array != nullptr || rule.value != nullptr;
}

}  // namespace hlod

// Dispatches opcodes to step factories.
#include "server/engine/plan/lowering/lowering_steps.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "common/evaluator/custom_calls.h"
#include "common/hlo/bitcast.h"
#include "common/hlo/shape.h"
#include "server/engine/contraction/contraction_steps.h"
#include "server/engine/fft/fft_steps.h"
#include "server/engine/linalg/linalg_steps.h"
#include "server/engine/movement/movement_steps.h"
#include "server/engine/reduce/reduce_steps.h"
#include "server/engine/run/step_util.h"
#include "server/engine/sort/sort_steps.h"
#include "server/engine/tile/random.h"

namespace hlod::engine {
namespace {

// Runs partition-id and replica-id, whose values are known only when a run starts.
class DeviceIdStep final : public Step {
 public:
  explicit DeviceIdStep(bool replica)
      : Step(StepKind::kMovement, replica ? "replica-id u32[]" : "partition-id u32[]"), replica_(replica) {}
  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const uint32_t id = replica_ ? context.run.replica_id : context.run.partition_id;
    std::memcpy(outputs[0], &id, sizeof(id));
    return absl::OkStatus();
  }

 private:
  const bool replica_;
};

bool SameBytes(hlo::Instruction instruction) {
  return hlo::ByteSize(instruction.shape()) == hlo::ByteSize(instruction.operand(0).shape());
}

// A sub-byte element is stored in a whole byte, so only whole-byte types keep their bytes when they are
// reinterpreted.
bool IsWholeByte(hlo::PrimitiveType type) { return hlo::Info(type).bits >= 8; }

// Returns true for broadcasts that add dimensions of size 1 only, so that no element moves.
bool AddsOnlyOnes(hlo::Instruction broadcast) {
  return std::ranges::is_sorted(broadcast.dimensions()) && AllStatic(broadcast) &&
         hlo::ElementCount(broadcast.shape()) == hlo::ElementCount(broadcast.operand(0).shape());
}

}  // namespace

bool IsAlias(hlo::Instruction instruction) {
  switch (instruction.opcode()) {
    case hlo::kReshape:
    case hlo::kCopy:
    case hlo::kOptBarrier:
    case hlo::kDomain:
    case hlo::kAddDependency: return true;
    case hlo::kBitcast:  // Keeps the physical order, and is a reshape when both layouts are row-major.
      return hlo::IsRowMajor(instruction.shape()) && hlo::IsRowMajor(instruction.operand(0).shape()) &&
             SameBytes(instruction);
    case hlo::kBitcastConvert:
      return IsWholeByte(instruction.shape().type) && IsWholeByte(instruction.operand(0).shape().type) &&
             SameBytes(instruction);
    case hlo::kConvert: return instruction.shape().type == instruction.operand(0).shape().type;
    case hlo::kBroadcast: return AddsOnlyOnes(instruction);
    case hlo::kCustomCall: return IsIdentityCustomCall(instruction);
    default: return false;
  }
}

bool IsStructural(hlo::Instruction instruction) {
  switch (instruction.opcode()) {
    case hlo::kParameter:
    case hlo::kConstant:
    case hlo::kTuple:
    case hlo::kGetTupleElement:
    case hlo::kAfterAll:
    case hlo::kCall:
    case hlo::kFusion:
    case hlo::kWhile:
    case hlo::kConditional:
    case hlo::kGetDimensionSize:
    case hlo::kPartitionId:
    case hlo::kReplicaId: return true;
    default: return IsAlias(instruction);
  }
}

MaybeStep MakeSingleStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  switch (instruction.opcode()) {
    case hlo::kPartitionId:
    case hlo::kReplicaId: return std::make_unique<DeviceIdStep>(instruction.opcode() == hlo::kReplicaId);
    case hlo::kDot: return MakeDotStep(module, instruction, threads);
    case hlo::kRaggedDot: return MakeRaggedDotStep(module, instruction, threads);
    case hlo::kConvolution: return MakeConvolutionStep(module, instruction, threads);
    case hlo::kFft: return MakeFftStep(module, instruction, threads);
    case hlo::kTranspose:
    case hlo::kBroadcast:
    case hlo::kReverse:
    case hlo::kSlice:
    case hlo::kDynamicSlice:
    case hlo::kDynamicUpdateSlice:
    case hlo::kPad:
    case hlo::kConcatenate:
    case hlo::kIota:
    case hlo::kBitcastConvert: return MakeMovementStep(module, instruction, threads);
    case hlo::kGather:
    case hlo::kScatter: return MakeGatherScatterStep(module, instruction, threads);
    case hlo::kCustomCall:
      if (instruction.attributes<hlo::CustomCallAttributes>().target == "TopK")
        return MakeSortStep(module, instruction, threads);
      [[fallthrough]];
    case hlo::kCholesky:
    case hlo::kTriangularSolve: return MakeLinalgStep(module, instruction, threads);
    case hlo::kSort:
    case hlo::kTopK: return MakeSortStep(module, instruction, threads);
    case hlo::kReduceWindow:
    case hlo::kSelectAndScatter: return MakeWindowStep(module, instruction, threads);
    case hlo::kReduce: return MakeReduceStep(module, instruction, threads);
    case hlo::kRngBitGenerator: return MakeRandomStep(module, instruction, threads);
    default: return nullptr;
  }
}

}  // namespace hlod::engine

// The rules: one function per opcode, one file per family. All assume that the instruction has passed the
// verifier.
#pragma once

#include "absl/status/statusor.h"
#include "common/evaluator/evaluation.h"

namespace hlod::evaluator {

// Computes an instruction whose operands are arrays (or tokens).
using ArrayRule = absl::StatusOr<hlo::Literal> (*)(Evaluation& evaluation, hlo::Instruction instruction,
                                                   Operands operands);
// Computes an instruction that handles tuples or runs computations. It may move from its operands.
using ValueRule = absl::StatusOr<Value> (*)(Evaluation& evaluation, hlo::Instruction instruction,
                                            std::vector<Value>& operands);

struct Rule {
  ArrayRule array = nullptr;
  ValueRule value = nullptr;
};
// Returns the rule for an instruction (for a custom-call, that of its target); both members are null if there
// is none.
Rule FindRule(hlo::Instruction instruction);

#define HLOD_ARRAY_RULE(name) absl::StatusOr<hlo::Literal> name(Evaluation&, hlo::Instruction, Operands);
#define HLOD_VALUE_RULE(name) absl::StatusOr<Value> name(Evaluation&, hlo::Instruction, std::vector<Value>&);
// elementwise.cc
HLOD_ARRAY_RULE(Elementwise)
HLOD_ARRAY_RULE(Map)
HLOD_ARRAY_RULE(BitcastConvert)
// movement.cc
HLOD_ARRAY_RULE(Iota)
HLOD_ARRAY_RULE(Broadcast)
HLOD_ARRAY_RULE(Reshape)
HLOD_ARRAY_RULE(Bitcast)
HLOD_ARRAY_RULE(Transpose)
HLOD_ARRAY_RULE(Reverse)
HLOD_ARRAY_RULE(Slice)
HLOD_ARRAY_RULE(DynamicSlice)
HLOD_ARRAY_RULE(DynamicUpdateSlice)
HLOD_ARRAY_RULE(Pad)
HLOD_ARRAY_RULE(Concatenate)
HLOD_ARRAY_RULE(GetDimensionSize)
// gather_scatter.cc
HLOD_ARRAY_RULE(Gather)
HLOD_ARRAY_RULE(Scatter)
// reduction.cc, windows.cc, normalization.cc
HLOD_ARRAY_RULE(Reduce)
HLOD_ARRAY_RULE(ReduceWindow)
HLOD_ARRAY_RULE(SelectAndScatter)
HLOD_ARRAY_RULE(BatchNormTraining)
HLOD_ARRAY_RULE(BatchNormInference)
HLOD_ARRAY_RULE(BatchNormGrad)
// sort.cc
HLOD_ARRAY_RULE(Sort)
HLOD_ARRAY_RULE(TopK)
// dot.cc, convolution.cc, linear_algebra.cc, fft.cc
HLOD_ARRAY_RULE(Dot)
HLOD_ARRAY_RULE(RaggedDot)
HLOD_ARRAY_RULE(ScaledDot)
HLOD_ARRAY_RULE(Convolution)
HLOD_ARRAY_RULE(Cholesky)
HLOD_ARRAY_RULE(TriangularSolve)
HLOD_ARRAY_RULE(Fft)
// random.cc
HLOD_ARRAY_RULE(RngBitGenerator)
HLOD_ARRAY_RULE(Rng)
HLOD_ARRAY_RULE(RngState)
// collectives.cc
HLOD_VALUE_RULE(EachOperand)
HLOD_VALUE_RULE(AllGatherStart)
HLOD_VALUE_RULE(PiecesOf)
HLOD_VALUE_RULE(CollectivePermute)
HLOD_VALUE_RULE(CollectivePermuteStart)
HLOD_ARRAY_RULE(RaggedAllToAll)
// control.cc
HLOD_VALUE_RULE(Identity)
HLOD_VALUE_RULE(TupleOf)
HLOD_VALUE_RULE(GetTupleElement)
HLOD_VALUE_RULE(AfterAll)
HLOD_VALUE_RULE(CopyStart)
HLOD_VALUE_RULE(AsyncStart)
HLOD_VALUE_RULE(FirstElement)
HLOD_VALUE_RULE(SecondElement)
// participants.cc
HLOD_VALUE_RULE(MeetParticipants)
HLOD_VALUE_RULE(DeviceId)
// transfers.cc
HLOD_VALUE_RULE(RunTransfer)
// dynamic_shapes.cc
HLOD_ARRAY_RULE(SizeCheck)
HLOD_ARRAY_RULE(StoreResult)
// linear_algebra_calls.cc
HLOD_VALUE_RULE(LapackCall)
// scan.cc
HLOD_VALUE_RULE(Scan)
HLOD_VALUE_RULE(CallRule)
HLOD_VALUE_RULE(While)
HLOD_VALUE_RULE(Conditional)
#undef HLOD_ARRAY_RULE
#undef HLOD_VALUE_RULE

}  // namespace hlod::evaluator

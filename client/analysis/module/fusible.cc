// Each list is written once here. The models add what their backend treats differently, where they do.
#include "client/analysis/module/fusible.h"

#include "client/analysis/module/cost.h"

namespace hlod::analysis {

bool IsElementByElement(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kBitcast:
    case hlo::kBitcastConvert:
    case hlo::kBroadcast:
    case hlo::kConcatenate:
    case hlo::kCopy:
    case hlo::kDynamicSlice:
    case hlo::kIota:
    case hlo::kPad:
    case hlo::kReshape:
    case hlo::kReverse:
    case hlo::kSlice:
    case hlo::kTranspose: return true;
    default: return hlo::HasTrait(opcode, hlo::kElementwise);
  }
}

bool IsExpensive(hlo::Instruction i) {
  switch (i.opcode()) {
    case hlo::kReduce:
    case hlo::kGather:
    case hlo::kMap: return true;
    case hlo::kAbs:
    case hlo::kSign:
    case hlo::kCosine:
    case hlo::kSine:
    case hlo::kTan: return hlo::IsComplex(i.shape().type);
    // Divisions of integers by a constant become multiplications.
    case hlo::kDivide:
    case hlo::kRemainder: return !hlo::IsInteger(i.shape().type) || i.operand(1).opcode() != hlo::kConstant;
    default: return IsTranscendental(i);
  }
}

}  // namespace hlod::analysis

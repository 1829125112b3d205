// Finds the kernel of an instruction: the family of its opcode, and the kernel's context.
#include "common/evaluator/elements/kernel.h"

namespace hlod::evaluator {

Kernel FindKernel(hlo::Instruction instruction) {
  using namespace hlo;  // NOLINT: the opcodes, in one switch.
  if (instruction.operand_count() == 0 || !instruction.shape().IsArray()) return {};
  const PrimitiveType result = instruction.shape().type;
  const PrimitiveType operand = instruction.operand(0).shape().type;
  if (!IsArrayType(operand)) return {};
  Kernel kernel;
  kernel.context = {.operand = operand, .result = result, .bits = Info(operand).bits};
  const Opcode opcode = instruction.opcode();
  switch (opcode) {
    case kConvert: kernel.run = FindConvertKernel(operand, result); break;
    case kBitcastConvert:
      if (Info(operand).bits == Info(result).bits) kernel.run = BitcastKernel();
      break;
    case kReducePrecision: {
      const auto& attributes = instruction.attributes<ReducePrecisionAttributes>();
      kernel.context.format = {attributes.exponent_bits, attributes.mantissa_bits};
      if (IsFloat(operand)) kernel.run = ReducePrecisionKernel();
      break;
    }
    case kCompare:
      kernel.run = FindCompareKernel(instruction.attributes<CompareAttributes>(), operand);
      break;
    case kStochasticConvert:
      if (IsFloat(operand)) kernel.run = FindStochasticConvertKernel(result);
      break;
    case kSelect:
    case kClamp: kernel.run = FindTernaryKernel(opcode, result); break;
    default:
      if (instruction.operand_count() == 1) kernel.run = FindUnaryKernel(opcode, operand);
      if (instruction.operand_count() == 2) kernel.run = FindBinaryKernel(opcode, operand);
  }
  return kernel;
}

}  // namespace hlod::evaluator

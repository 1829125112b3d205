// Small helpers of the step factories.
#include "server/engine/run/step_util.h"

#include <limits>

namespace hlod::engine {
namespace {

bool IsStatic(const hlo::Shape& shape) { return !shape.HasDynamicDimension(); }

}  // namespace

bool AllStatic(hlo::Instruction instruction) {
  if (!IsStatic(instruction.shape())) return false;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (!IsStatic(instruction.operand(i).shape())) return false;
  }
  return true;
}

int64_t ReadInteger(const std::byte* element, hlo::PrimitiveType type) {
  const auto read = [element]<typename T>() {
    T value;
    std::memcpy(&value, element, sizeof(T));
    return value;
  };
  switch (type) {
    case hlo::kU8:
    case hlo::kU4:
    case hlo::kU2:
    case hlo::kU1:
    case hlo::kPred: return read.operator()<uint8_t>();
    case hlo::kS8:
    case hlo::kS4:
    case hlo::kS2:
    case hlo::kS1: return read.operator()<int8_t>();
    case hlo::kU16: return read.operator()<uint16_t>();
    case hlo::kS16: return read.operator()<int16_t>();
    case hlo::kU32: return read.operator()<uint32_t>();
    case hlo::kS32: return read.operator()<int32_t>();
    case hlo::kS64: return read.operator()<int64_t>();
    case hlo::kU64: {
      const uint64_t value = read.operator()<uint64_t>();
      constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
      return static_cast<int64_t>(value > kMax ? kMax : value);
    }
    default: return 0;
  }
}

std::string DescribeStep(hlo::Instruction instruction) {
  std::string text(hlo::Name(instruction.opcode()));
  if (instruction.opcode() == hlo::kCustomCall)
    text += " " + instruction.attributes<hlo::CustomCallAttributes>().target;
  text += " " + hlo::ToStringNoLayout(instruction.shape());
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    text += (i == 0 ? " <- " : ", ") + hlo::ToStringNoLayout(instruction.operand(i).shape());
  }
  return text;
}

}  // namespace hlod::engine

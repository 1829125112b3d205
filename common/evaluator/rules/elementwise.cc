// Applies kernels and scalar functions to whole arrays, a block at a time.
#include <algorithm>
#include <vector>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/kernel.h"
#include "common/evaluator/elements/scalar_function.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Literal;
using hlo::PrimitiveType;

namespace {
// Elements per block: a few blocks of 16-byte carriers fit into the first-level cache.
constexpr int64_t kBlock = 512;
}  // namespace

absl::StatusOr<Literal> Elementwise(Evaluation& evaluation, hlo::Instruction instruction, Operands operands) {
  const Kernel kernel = FindKernel(instruction);
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const int64_t n = result.element_count();
  std::vector<std::vector<Wide>> blocks(operands.size(), std::vector<Wide>(kBlock));
  std::vector<Wide> out(kBlock);
  const void* in[3] = {};
  for (size_t k = 0; k < operands.size(); ++k) {
    in[k] = blocks[k].data();
    // A scalar bound of a clamp, or predicate of a select, applies to every element.
    if (!operands[k].shape().IsScalar() || operands[k].shape().dims == result.shape().dims) continue;
    const PrimitiveType type = operands[k].shape().type;
    std::byte* block = reinterpret_cast<std::byte*>(blocks[k].data());
    const int64_t width = CarrierBytes(CarrierOf(type));
    for (int64_t i = 0; i < std::min(n, kBlock); ++i)
      Load(type, operands[k].bytes().data(), 1, block + i * width);
  }
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    RETURN_IF_ERROR(evaluation.Tick(count));
    for (size_t k = 0; k < operands.size(); ++k) {
      const hlo::Shape& shape = operands[k].shape();
      if (shape.dims != result.shape().dims) continue;
      Load(shape.type, operands[k].bytes().data() + start * hlo::ByteWidth(shape.type), count,
           blocks[k].data());
    }
    kernel.run(in, out.data(), count, kernel.context);
    Store(result.shape().type, out.data(), count,
          result.bytes().data() + start * hlo::ByteWidth(result.shape().type));
  }
  return result;
}

absl::StatusOr<Literal> Map(Evaluation& evaluation, hlo::Instruction instruction, Operands operands) {
  ASSIGN_OR_RETURN(ScalarFunction function, ScalarFunction::Make(evaluation, instruction.called()[0]));
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  std::vector<Wide> arguments(operands.size());
  Wide value;
  const PrimitiveType type = result.shape().type;
  for (int64_t i = 0; i < result.element_count(); ++i) {
    for (size_t k = 0; k < operands.size(); ++k) {
      const PrimitiveType operand = operands[k].shape().type;
      Load(operand, operands[k].bytes().data() + i * hlo::ByteWidth(operand), 1, arguments[k].bytes);
    }
    RETURN_IF_ERROR(function.Call(arguments.data(), &value));
    Store(type, value.bytes, 1, result.bytes().data() + i * hlo::ByteWidth(type));
  }
  return result;
}

namespace {

// The byte and the shift at which bit `bit` of an array is stored. Bits are counted over the elements, `bits`
// per element, lowest first; each element occupies whole bytes.
struct BitAddress {
  int64_t byte;
  int shift;
};
BitAddress AddressOf(int64_t bit, int bits) {
  const int64_t element = bit / bits;
  const auto within = static_cast<int>(bit % bits);
  return {element * ((bits + 7) / 8) + within / 8, within % 8};
}

}  // namespace

// Returns the same bits in another type: a wide element consists of narrow ones, from the lowest bits up.
absl::StatusOr<Literal> BitcastConvert(Evaluation& evaluation, hlo::Instruction instruction,
                                       Operands operands) {
  const Literal& operand = operands[0];
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const int from = hlo::Info(operand.shape().type).bits, to = hlo::Info(result.shape().type).bits;
  if (from % 8 == 0 && to % 8 == 0) {
    std::copy_n(operand.bytes().begin(), std::min(operand.bytes().size(), result.bytes().size()),
                result.bytes().begin());
    return result;
  }
  const int64_t total = std::min(operand.element_count() * from, result.element_count() * to);
  RETURN_IF_ERROR(evaluation.InBlocks(total, 8, [&](int64_t begin, int64_t end) {
    for (int64_t bit = begin; bit < end; ++bit) {
      const BitAddress source = AddressOf(bit, from), target = AddressOf(bit, to);
      const auto value = (operand.bytes()[source.byte] >> source.shift) & std::byte{1};
      result.bytes()[target.byte] |= value << target.shift;
    }
  }));
  // Sub-byte signed integers are stored sign-extended.
  const PrimitiveType type = result.shape().type;
  if (to < 8 && hlo::IsSigned(type)) {
    std::vector<int64_t> values = LoadAs<int64_t>(result);
    StoreAll(values, result);
  }
  return result;
}

}  // namespace hlod::evaluator

// scan: runs a computation on one slice after another, and passes carries from each run to the next.
#include <cstring>

#include "common/base/errors/status.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

namespace {

// The bytes of an array at one index of `dimension`: `count` blocks of `size` bytes, `stride` bytes apart.
struct Blocks {
  int64_t count = 1, size, stride;

  Blocks(const hlo::Shape& array, int64_t dimension) : size(hlo::ByteWidth(array.type)) {
    for (size_t d = 0; d < array.dims.size(); ++d) {
      if (static_cast<int64_t>(d) < dimension) count *= array.dims[d];
      if (static_cast<int64_t>(d) > dimension) size *= array.dims[d];
    }
    stride = size * array.dims[static_cast<size_t>(dimension)];
  }
};

void CopySlice(const Literal& from, int64_t dimension, int64_t index, Literal& slice) {
  const Blocks blocks(from.shape(), dimension);
  for (int64_t i = 0; i < blocks.count; ++i) {
    std::memcpy(slice.bytes().data() + i * blocks.size,
                from.bytes().data() + i * blocks.stride + index * blocks.size,
                static_cast<size_t>(blocks.size));
  }
}

void StoreSlice(const Literal& slice, int64_t dimension, int64_t index, Literal& to) {
  const Blocks blocks(to.shape(), dimension);
  for (int64_t i = 0; i < blocks.count; ++i) {
    std::memcpy(to.bytes().data() + i * blocks.stride + index * blocks.size,
                slice.bytes().data() + i * blocks.size, static_cast<size_t>(blocks.size));
  }
}

}  // namespace

absl::StatusOr<Value> Scan(Evaluation& evaluation, Instruction instruction, std::vector<Value>& operands) {
  const auto& scan = instruction.attributes<hlo::ScanAttributes>();
  const size_t carries = static_cast<size_t>(scan.num_carries), inputs = operands.size() - carries;
  const int64_t length = operands[0].array->shape().dims[scan.dimension];
  const bool tuple = instruction.shape().IsTuple();
  const size_t outputs = tuple ? instruction.shape().tuple.size() - carries : 1 - carries;
  std::vector<Value> state(std::make_move_iterator(operands.begin() + static_cast<ptrdiff_t>(inputs)),
                           std::make_move_iterator(operands.end()));
  std::vector<Literal> stacks;
  for (size_t i = 0; i < outputs; ++i) {
    ASSIGN_OR_RETURN(Literal stack,
                     evaluation.Allocate(tuple ? instruction.shape().tuple[i] : instruction.shape()));
    stacks.push_back(std::move(stack));
  }
  for (int64_t turn = 0; turn < length; ++turn) {
    RETURN_IF_ERROR(evaluation.CheckInterrupt());
    const int64_t index = scan.is_reverse ? length - 1 - turn : turn;
    std::vector<Value> arguments;
    for (size_t i = 0; i < inputs; ++i) {
      const Literal& input = *operands[i].array;
      hlo::Shape shape = input.shape();
      shape.dims.erase(shape.dims.begin() + scan.dimension);
      ASSIGN_OR_RETURN(Literal slice, evaluation.Allocate(shape));
      CopySlice(input, scan.dimension, index, slice);
      arguments.push_back(Value::Own(std::move(slice)));
    }
    for (Value& carry : state) arguments.push_back(std::move(carry));
    ASSIGN_OR_RETURN(const Value result, evaluation.Call(instruction.called()[0], std::move(arguments)));
    const std::vector<Value> results = tuple ? *result.tuple : std::vector<Value>{result};
    for (size_t i = 0; i < outputs; ++i) StoreSlice(*results[i].array, scan.dimension, index, stacks[i]);
    for (size_t i = 0; i < carries; ++i) state[i] = results[outputs + i];
  }
  std::vector<Value> results;
  for (Literal& stack : stacks) results.push_back(Value::Own(std::move(stack)));
  for (Value& carry : state) results.push_back(std::move(carry));
  if (!tuple) return std::move(results[0]);
  return Value::Tuple(std::move(results));
}

}  // namespace hlod::evaluator

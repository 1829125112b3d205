// Opcodes that move elements: each is a copy between two strided views.
#include <algorithm>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/bitcast.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::RowMajorStrides;

namespace {

int64_t Width(const Literal& literal) { return hlo::ByteWidth(literal.shape().type); }

// Returns a result of the instruction's shape filled through `source`, a view of `operand` with the result's
// dimensions.
absl::StatusOr<Literal> FromView(Evaluation& evaluation, Instruction instruction, const Literal& operand,
                                 const View& source) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const Dims& dims = result.shape().dims;
  RETURN_IF_ERROR(CopyElements(evaluation, dims, Width(operand), operand.bytes().data(), source,
                               result.bytes().data(), {0, RowMajorStrides(dims)}));
  return result;
}

// Returns an array of the shape that consists of these bytes.
absl::StatusOr<Literal> OfBytes(Evaluation& evaluation, const hlo::Shape& shape,
                                absl::Span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(shape));
  const auto count = static_cast<int64_t>(std::min(bytes.size(), result.bytes().size()));
  RETURN_IF_ERROR(evaluation.InBlocks(count, 1, [&](int64_t begin, int64_t end) {
    std::copy(bytes.begin() + begin, bytes.begin() + end, result.bytes().begin() + begin);
  }));
  return result;
}

// Returns start indices from the scalar operands [first, first + rank), clamped so that `sizes` fits into
// `dims`.
Dims ClampedStarts(const Operands& operands, size_t first, absl::Span<const int64_t> dims,
                   absl::Span<const int64_t> sizes) {
  Dims starts;
  for (size_t d = 0; d < dims.size(); ++d) {
    starts.push_back(std::clamp<int64_t>(IndexAt(operands[first + d], 0), 0, dims[d] - sizes[d]));
  }
  return starts;
}

}  // namespace

absl::StatusOr<Literal> Iota(Evaluation& evaluation, Instruction instruction, Operands) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const hlo::Shape& shape = result.shape();
  const int64_t dimension = instruction.dimensions()[0], size = shape.dims[dimension];
  if (result.element_count() == 0) return result;
  // Makes one vector along the dimension, from which every element takes the number at its index.
  Literal run(hlo::Shape::Array(shape.type, {size}));
  VisitCarrier(CarrierOf(shape.type), [&]<typename C>() {
    std::vector<C> numbers(size);
    for (int64_t i = 0; i < size; ++i) numbers[i] = C(static_cast<double>(i));
    if constexpr (std::is_integral_v<C>) {
      for (int64_t i = 0; i < size; ++i) numbers[i] = static_cast<C>(i);
    }
    StoreAll(numbers, run);
  });
  View source{0, Dims(shape.dims.size(), 0)};
  source.strides[dimension] = 1;
  RETURN_IF_ERROR(CopyElements(evaluation, shape.dims, Width(result), run.bytes().data(), source,
                               result.bytes().data(), {0, RowMajorStrides(shape.dims)}));
  return result;
}

absl::StatusOr<Literal> Broadcast(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const Dims& dimensions = instruction.dimensions();
  const Dims strides = RowMajorStrides(operands[0].shape().dims);
  View source{0, Dims(instruction.shape().dims.size(), 0)};
  for (size_t i = 0; i < dimensions.size(); ++i) source.strides[dimensions[i]] = strides[i];
  return FromView(evaluation, instruction, operands[0], source);
}

absl::StatusOr<Literal> Reshape(Evaluation& evaluation, Instruction instruction, Operands operands) {
  return OfBytes(evaluation, instruction.shape(), operands[0].bytes());
}

absl::StatusOr<Literal> Bitcast(Evaluation& evaluation, Instruction instruction, Operands operands) {
  ASSIGN_OR_RETURN(const hlo::BitcastForm form, hlo::BitcastFormOf(instruction));
  if (form.to_memory.empty() && form.from_memory.empty()) return Reshape(evaluation, instruction, operands);
  std::optional<Literal> now;
  const auto reorder = [&](const std::vector<hlo::Reordering>& steps,
                           hlo::PrimitiveType type) -> absl::Status {
    for (const hlo::Reordering& step : steps) {
      const Dims dims = Pick(step.dims, step.permutation);
      ASSIGN_OR_RETURN(Literal next, evaluation.Allocate(hlo::Shape::Array(type, dims)));
      const Literal& before = now.has_value() ? *now : operands[0];
      RETURN_IF_ERROR(CopyElements(evaluation, dims, hlo::ByteWidth(type), before.bytes().data(),
                                   {0, Pick(RowMajorStrides(step.dims), step.permutation)},
                                   next.bytes().data(), {0, RowMajorStrides(dims)}));
      now = std::move(next);
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reorder(form.to_memory, operands[0].shape().type));
  RETURN_IF_ERROR(reorder(form.from_memory, instruction.shape().type));
  return OfBytes(evaluation, instruction.shape(), now->bytes());
}

absl::StatusOr<Literal> Transpose(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const View source{0, Pick(RowMajorStrides(operands[0].shape().dims), instruction.dimensions())};
  return FromView(evaluation, instruction, operands[0], source);
}

absl::StatusOr<Literal> Reverse(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const Dims& dims = operands[0].shape().dims;
  View source{0, RowMajorStrides(dims)};
  for (int64_t d : instruction.dimensions()) {
    source.offset += (dims[d] - 1) * source.strides[d];
    source.strides[d] = -source.strides[d];
  }
  return FromView(evaluation, instruction, operands[0], source);
}

absl::StatusOr<Literal> Slice(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const auto& slice = instruction.attributes<hlo::SliceAttributes>();
  View source{0, RowMajorStrides(operands[0].shape().dims)};
  source.offset = Offset(slice.start, source.strides);
  for (size_t d = 0; d < source.strides.size(); ++d) {
    // A slice of one element may have any step; others overflow only for empty arrays.
    if (!slice.stride.empty() && instruction.shape().dims[d] > 1 &&
        __builtin_mul_overflow(source.strides[d], slice.stride[d], &source.strides[d]))
      source.strides[d] = 0;
  }
  return FromView(evaluation, instruction, operands[0], source);
}

absl::StatusOr<Literal> DynamicSlice(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const Dims& dims = operands[0].shape().dims;
  const Dims strides = RowMajorStrides(dims);
  const Dims starts = ClampedStarts(operands, 1, dims, instruction.shape().dims);
  return FromView(evaluation, instruction, operands[0], {Offset(starts, strides), strides});
}

absl::StatusOr<Literal> DynamicUpdateSlice(Evaluation& evaluation, Instruction instruction,
                                           Operands operands) {
  const Literal& update = operands[1];
  const Dims& dims = instruction.shape().dims;
  const Dims strides = RowMajorStrides(dims);
  const Dims starts = ClampedStarts(operands, 2, dims, update.shape().dims);
  Literal result = operands.Take(0);  // Done in place if a loop is the only owner of its state.
  RETURN_IF_ERROR(CopyElements(evaluation, update.shape().dims, Width(update), update.bytes().data(),
                               {0, RowMajorStrides(update.shape().dims)}, result.bytes().data(),
                               {Offset(starts, strides), strides}));
  return result;
}

absl::StatusOr<Literal> Pad(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const Literal &operand = operands[0], &padding_value = operands[1];
  const std::vector<hlo::PadDimension>& padding = instruction.attributes<hlo::PadAttributes>().dimensions;
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const Dims& dims = result.shape().dims;
  View target{0, RowMajorStrides(dims)};
  RETURN_IF_ERROR(CopyElements(evaluation, dims, Width(result), padding_value.bytes().data(),
                               {0, Dims(dims.size(), 0)}, result.bytes().data(), target));
  // Operand element i moves to low + i * step; elements that negative padding moves outside are dropped.
  View source{0, RowMajorStrides(operand.shape().dims)};
  Dims kept(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t step = padding[d].interior + 1, low = padding[d].low;
    const int64_t first = low >= 0 ? 0 : CeilDiv(-low, step);
    const int64_t end =
        dims[d] - low <= 0 ? 0 : std::min(operand.shape().dims[d], (dims[d] - low - 1) / step + 1);
    if (end <= first) return result;  // All elements of the operand were dropped.
    kept[d] = end - first;
    source.offset += first * source.strides[d];
    target.offset += (low + first * step) * target.strides[d];
    target.strides[d] *= step;
  }
  RETURN_IF_ERROR(CopyElements(evaluation, kept, Width(result), operand.bytes().data(), source,
                               result.bytes().data(), target));
  return result;
}

absl::StatusOr<Literal> Concatenate(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const int64_t dimension = instruction.dimensions()[0];
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  View target{0, RowMajorStrides(result.shape().dims)};
  for (size_t i = 0; i < operands.size(); ++i) {
    const Dims& dims = operands[i].shape().dims;
    RETURN_IF_ERROR(CopyElements(evaluation, dims, Width(result), operands[i].bytes().data(),
                                 {0, RowMajorStrides(dims)}, result.bytes().data(), target));
    target.offset += dims[dimension] * target.strides[dimension];
  }
  return result;
}

absl::StatusOr<Literal> GetDimensionSize(Evaluation& evaluation, Instruction instruction, Operands operands) {
  return Literal::Scalar<int32_t>(
      static_cast<int32_t>(operands[0].shape().dims[instruction.dimensions()[0]]));
}

}  // namespace hlod::evaluator

// dot, ragged-dot, scaled-dot: products summed over the contracting dimensions. Floats are summed in double,
// integers modulo 2^64; the sum is rounded or wrapped once.
#include <algorithm>
#include <cstring>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/contraction.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/dynamic/ragged_dot.h"
#include "common/hlo/elements/small_types.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

namespace {

Dims Joined(Dims a, const Dims& b, const Dims& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

template <typename C>
absl::Status DotIn(Evaluation& evaluation, const hlo::DotAttributes& dot, const Literal& lhs,
                   const Literal& rhs, Literal& result) {
  const Dims lhs_free = OtherDimensions(lhs.shape().rank(), dot.lhs_batch, dot.lhs_contracting);
  const Dims rhs_free = OtherDimensions(rhs.shape().rank(), dot.rhs_batch, dot.rhs_contracting);
  const int64_t batches = Count(Pick(lhs.shape().dims, dot.lhs_batch)),
                m = Count(Pick(lhs.shape().dims, lhs_free)), n = Count(Pick(rhs.shape().dims, rhs_free)),
                depth = Count(Pick(lhs.shape().dims, dot.lhs_contracting));
  ASSIGN_OR_RETURN(const std::vector<C> a,
                   InOrder<C>(evaluation, lhs, Joined(dot.lhs_batch, lhs_free, dot.lhs_contracting)));
  ASSIGN_OR_RETURN(const std::vector<C> b,
                   InOrder<C>(evaluation, rhs, Joined(dot.rhs_batch, dot.rhs_contracting, rhs_free)));
  std::vector<C> sums(result.element_count(), C{});
  for (int64_t batch = 0; batch < batches; ++batch) {
    RETURN_IF_ERROR(AddProduct(evaluation, m, n, depth, a.data() + batch * m * depth,
                               b.data() + batch * depth * n, sums.data() + batch * m * n));
  }
  StoreSums(sums, result);
  return absl::OkStatus();
}

// Computes a dot of any operands into `result`, which has its shape.
absl::Status DotInto(Evaluation& evaluation, const hlo::DotAttributes& dot, const Literal& lhs,
                     const Literal& rhs, Literal& result) {
  if (result.element_count() == 0) return absl::OkStatus();
  const Carrier carrier = SumCarrier(lhs.shape().type, rhs.shape().type, result.shape().type);
  return VisitCarrier(carrier, [&]<typename C>() { return DotIn<C>(evaluation, dot, lhs, rhs, result); });
}

// Returns one copy of the operand per group, along a new first dimension, in which elements outside the group
// (along `dimension`) are zero. `prefix` lists the operand's dimensions that have their own group sizes, if
// `sizes` has them.
absl::StatusOr<Literal> CopyForEachGroup(Evaluation& evaluation, const Literal& operand, const Literal& sizes,
                                         int64_t dimension, const Dims& prefix) {
  const int64_t groups = sizes.shape().dims.back(), rows = sizes.shape().rank() == 1 ? 0 : 1;
  hlo::Shape shape = operand.shape();
  shape.layout.reset();
  shape.dims.insert(shape.dims.begin(), groups);
  ASSIGN_OR_RETURN(Literal copies, evaluation.Allocate(shape));
  const Dims size_strides = hlo::RowMajorStrides(sizes.shape().dims);
  const auto width = static_cast<size_t>(hlo::ByteWidth(shape.type));
  int64_t element = 0;
  for (Odometer at(operand.shape().dims); at.valid(); at.Next(), ++element) {
    RETURN_IF_ERROR(evaluation.Tick(groups));
    int64_t row = 0;
    for (size_t p = 0; rows != 0 && p < prefix.size(); ++p) row += at[prefix[p]] * size_strides[p];
    int64_t end = 0;
    for (int64_t g = 0; g < groups; ++g) {
      // A group of negative size is empty; the sums are clamped to the dimension's size, so they cannot
      // overflow.
      const int64_t left = operand.shape().dims[dimension] - end;
      const int64_t begin = end;
      end += std::clamp<int64_t>(IndexAt(sizes, row + g), 0, left);
      if (at[dimension] < begin || at[dimension] >= end) continue;
      std::memcpy(copies.bytes().data() + static_cast<size_t>(g * operand.element_count() + element) * width,
                  operand.bytes().data() + static_cast<size_t>(element) * width, width);
    }
  }
  return copies;
}

Dims Shifted(Dims dims) {
  for (int64_t& d : dims) ++d;
  return dims;
}

// Returns the operand's numbers times its scale's, rounded to bf16. Each number of the scale applies to a
// block.
absl::StatusOr<Literal> Scaled(Evaluation& evaluation, const Literal& operand, const Literal& scale) {
  const Dims& dims = operand.shape().dims;
  ASSIGN_OR_RETURN(Literal scaled, evaluation.Allocate(hlo::Shape::Array(hlo::kBF16, dims)));
  const std::vector<double> numbers = LoadAs<double>(operand), scales = LoadAs<double>(scale);
  const Dims strides = hlo::RowMajorStrides(scale.shape().dims);
  const auto bf16 = scaled.data<hlo::BF16>();
  size_t element = 0;
  for (Odometer at(dims); at.valid(); at.Next(), ++element) {
    RETURN_IF_ERROR(evaluation.Tick(4));
    int64_t block = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      block += at[static_cast<int64_t>(d)] / (dims[d] / scale.shape().dims[d]) * strides[d];
    // Both are rounded before they are multiplied.
    const double x = hlo::BF16(numbers[element]), y = hlo::BF16(scales[static_cast<size_t>(block)]);
    bf16[element] = hlo::BF16(x * y);
  }
  return scaled;
}

}  // namespace

absl::StatusOr<Literal> Dot(Evaluation& evaluation, Instruction instruction, Operands operands) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  RETURN_IF_ERROR(
      DotInto(evaluation, instruction.attributes<hlo::DotAttributes>(), operands[0], operands[1], result));
  return result;
}

// Computes one dot over copies of the ragged operands: the groups become one more contracting dimension, or
// one more batch dimension.
absl::StatusOr<Literal> RaggedDot(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const auto& ragged = instruction.attributes<hlo::RaggedDotAttributes>();
  const Literal &lhs = operands[0], &rhs = operands[1], &sizes = operands[2];
  hlo::DotAttributes dot = ragged.dot;
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const hlo::RaggedMode mode = hlo::RaggedModeOf(ragged);
  if (mode == hlo::RaggedMode::kBatch) {
    RETURN_IF_ERROR(DotInto(evaluation, dot, lhs, rhs, result));
    return result;
  }
  const int64_t dimension = ragged.lhs_ragged[0];
  ASSIGN_OR_RETURN(const Literal left, CopyForEachGroup(evaluation, lhs, sizes, dimension,
                                                        hlo::RaggedPrefix(ragged, lhs.shape().rank())));
  dot.lhs_batch = Shifted(dot.lhs_batch);
  dot.lhs_contracting = Shifted(dot.lhs_contracting);
  if (mode == hlo::RaggedMode::kFree) {
    dot.lhs_contracting.push_back(0);
    dot.rhs_contracting.push_back(ragged.rhs_group[0]);
    RETURN_IF_ERROR(DotInto(evaluation, dot, left, rhs, result));
    return result;
  }
  // rhs has the same groups; its dimensions are paired with those of lhs.
  const auto found =
      std::find(ragged.dot.lhs_contracting.begin(), ragged.dot.lhs_contracting.end(), dimension);
  const auto position = static_cast<size_t>(found - ragged.dot.lhs_contracting.begin());
  Dims prefix = ragged.dot.rhs_batch;
  prefix.insert(prefix.end(), ragged.dot.rhs_contracting.begin(),
                ragged.dot.rhs_contracting.begin() + static_cast<ptrdiff_t>(position));
  ASSIGN_OR_RETURN(const Literal right,
                   CopyForEachGroup(evaluation, rhs, sizes, ragged.dot.rhs_contracting[position], prefix));
  dot.rhs_batch = Shifted(dot.rhs_batch);
  dot.rhs_contracting = Shifted(dot.rhs_contracting);
  dot.lhs_batch.insert(dot.lhs_batch.begin(), 0);
  dot.rhs_batch.insert(dot.rhs_batch.begin(), 0);
  RETURN_IF_ERROR(DotInto(evaluation, dot, left, right, result));
  return result;
}

// Follows XLA's definition: operands and scales are converted to bf16, and so are their products.
absl::StatusOr<Literal> ScaledDot(Evaluation& evaluation, Instruction instruction, Operands operands) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  ASSIGN_OR_RETURN(const Literal lhs, Scaled(evaluation, operands[0], operands[2]));
  ASSIGN_OR_RETURN(const Literal rhs, Scaled(evaluation, operands[1], operands[3]));
  RETURN_IF_ERROR(DotInto(evaluation, instruction.attributes<hlo::DotAttributes>(), lhs, rhs, result));
  return result;
}

}  // namespace hlod::evaluator

// dot: products summed over the contracting dimensions; floats in double, integers modulo 2^64, rounded or
// wrapped once at the end.
#include "common/base/status.h"
#include "common/evaluator/arithmetic.h"
#include "common/evaluator/contraction.h"
#include "common/evaluator/indexing.h"
#include "common/evaluator/rules.h"
#include "common/evaluator/wide.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

namespace {

int64_t Count(const Dims& dims) {
  int64_t count = 1;
  for (int64_t size : dims) count *= size;
  return count;
}

// The operand's elements with its dimensions in the order of `a`, then `b`, then `c`.
template <typename C>
absl::StatusOr<std::vector<C>> Arranged(Evaluation& evaluation, const Literal& operand, const Dims& a,
                                        const Dims& b, const Dims& c) {
  Dims order = a;
  order.insert(order.end(), b.begin(), b.end());
  order.insert(order.end(), c.begin(), c.end());
  const std::vector<C> values = LoadAs<C>(operand);
  std::vector<C> arranged(values.size());
  const Dims dims = Pick(operand.shape().dims, order);
  RETURN_IF_ERROR(CopyElements(evaluation, dims, sizeof(C), reinterpret_cast<const std::byte*>(values.data()),
                               {0, Pick(hlo::RowMajorStrides(operand.shape().dims), order)},
                               reinterpret_cast<std::byte*>(arranged.data()),
                               {0, hlo::RowMajorStrides(dims)}));
  return arranged;
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
                   Arranged<C>(evaluation, lhs, dot.lhs_batch, lhs_free, dot.lhs_contracting));
  ASSIGN_OR_RETURN(const std::vector<C> b,
                   Arranged<C>(evaluation, rhs, dot.rhs_batch, dot.rhs_contracting, rhs_free));
  std::vector<C> sums(result.element_count(), C{});
  for (int64_t row = 0; row < batches * m; ++row) {
    C* out = sums.data() + row * n;
    const C* column_of_b = b.data() + row / m * depth * n;
    for (int64_t k = 0; k < depth; ++k, column_of_b += n) {
      const C factor = a[row * depth + k];
      RETURN_IF_ERROR(evaluation.InBlocks(n, 1, [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) out[j] = Sum(out[j], Product(factor, column_of_b[j]));
      }));
    }
  }
  StoreSums(sums, result);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> Dot(Evaluation& evaluation, Instruction instruction, Operands operands) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  if (result.element_count() == 0) return result;
  const hlo::Shape &lhs = operands[0].shape(), &rhs = operands[1].shape();
  RETURN_IF_ERROR(VisitCarrier(SumCarrier(lhs.type, rhs.type, result.shape().type), [&]<typename C>() {
    return DotIn<C>(evaluation, instruction.attributes<hlo::DotAttributes>(), operands[0], operands[1],
                    result);
  }));
  return result;
}

}  // namespace hlod::evaluator

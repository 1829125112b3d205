// reduce: combines the elements of one or several arrays along dimensions, in row-major order.
#include <utility>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/scalar_function.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::PrimitiveType;

namespace {

// Returns, for each input dimension, the output's stride: 0 along a reduced dimension.
Dims OutputStrides(const hlo::Shape& input, const Dims& reduced) {
  const Dims kept = OtherDimensions(input.rank(), reduced);
  const Dims dense = hlo::RowMajorStrides(Pick(input.dims, kept));
  Dims strides(input.dims.size(), 0);
  for (size_t i = 0; i < kept.size(); ++i) strides[kept[i]] = dense[i];
  return strides;
}

// Calls row(input start, output start, output step, length) for each run along the innermost dimension.
template <typename Row>
absl::Status ForEachRow(Evaluation& evaluation, const Dims& dims, const Dims& strides, Row row) {
  if (dims.empty()) return row(0, 0, 0, 1);
  const int64_t length = dims.back();
  int64_t input = 0;
  for (Odometer at(absl::MakeSpan(dims).subspan(0, dims.size() - 1)); at.valid();
       at.Next(), input += length) {
    const int64_t output = Offset(at.index(), strides);
    absl::Status status;
    RETURN_IF_ERROR(evaluation.Tick(4));
    RETURN_IF_ERROR(evaluation.InBlocks(length, 1, [&](int64_t begin, int64_t end) {
      if (status.ok())
        status = row(input + begin, output + begin * strides.back(), strides.back(), end - begin);
    }));
    RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// Reduces one array by a combiner such as add: floats are accumulated in double and rounded once.
template <typename C, typename Combine>
absl::Status ReducePlain(Evaluation& evaluation, const Literal& input, const Literal& init,
                         const Dims& strides, Combine combine, Literal& result) {
  const PrimitiveType type = input.shape().type;
  std::vector<C> folded(result.element_count(), LoadAs<C>(init)[0]);
  std::vector<C> values(input.shape().dims.empty() ? 1 : input.shape().dims.back());
  RETURN_IF_ERROR(ForEachRow(
      evaluation, input.shape().dims, strides, [&](int64_t from, int64_t to, int64_t step, int64_t n) {
        Load(type, input.bytes().data() + from * hlo::ByteWidth(type), n, values.data());
        for (int64_t i = 0; i < n; ++i) folded[to + i * step] = combine(folded[to + i * step], values[i]);
        return absl::OkStatus();
      }));
  StoreAll(folded, result);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> Reduce(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const size_t count = operands.size() / 2;
  ASSIGN_OR_RETURN(ScalarFunction reducer, ScalarFunction::Make(evaluation, instruction.called()[0]));
  const hlo::Shape& input_shape = operands[0].shape();
  const Dims strides = OutputStrides(input_shape, instruction.dimensions());

  if (count == 1 && reducer.binary_opcode().has_value() && instruction.shape().IsArray()) {
    ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
    const PrimitiveType type = input_shape.type;
    absl::Status status;
    const bool done = VisitCarrier(CarrierOf(type), [&]<typename C>() {
      return VisitCombiner<C>(*reducer.binary_opcode(), type == hlo::kPred, [&](auto combine) {
        status = ReducePlain<C>(evaluation, operands[0], operands[1], strides, combine, result);
      });
    });
    RETURN_IF_ERROR(status);
    if (done) return result;
  }

  std::vector<Literal> results;
  std::vector<std::vector<Wide>> folded(count);
  for (size_t k = 0; k < count; ++k) {
    const hlo::Shape& shape =
        instruction.shape().IsTuple() ? instruction.shape().tuple[k] : instruction.shape();
    ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(shape));
    Wide init;
    Load(operands[count + k].shape().type, operands[count + k].bytes().data(), 1, init.bytes);
    folded[k].assign(result.element_count(), init);
    results.push_back(std::move(result));
  }
  std::vector<Wide> arguments(2 * count);
  RETURN_IF_ERROR(ForEachRow(evaluation, input_shape.dims, strides,
                             [&](int64_t from, int64_t to, int64_t step, int64_t n) {
                               for (int64_t i = 0; i < n; ++i) {
                                 for (size_t k = 0; k < count; ++k) {
                                   const PrimitiveType type = operands[k].shape().type;
                                   arguments[k] = folded[k][to + i * step];
                                   Load(type, operands[k].bytes().data() + (from + i) * hlo::ByteWidth(type),
                                        1, arguments[count + k].bytes);
                                 }
                                 RETURN_IF_ERROR(reducer.Call(arguments.data(), arguments.data()));
                                 for (size_t k = 0; k < count; ++k) folded[k][to + i * step] = arguments[k];
                               }
                               return absl::OkStatus();
                             }));
  for (size_t k = 0; k < count; ++k) {
    const PrimitiveType type = results[k].shape().type;
    for (int64_t i = 0; i < results[k].element_count(); ++i) {
      Store(type, folded[k][i].bytes, 1, results[k].bytes().data() + i * hlo::ByteWidth(type));
    }
  }
  if (instruction.shape().IsTuple()) return Literal::MakeTuple(std::move(results));
  return std::move(results[0]);
}

}  // namespace hlod::evaluator

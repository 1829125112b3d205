// gather and scatter: windows of an operand are read or combined at computed positions.
#include <algorithm>
#include <optional>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/scalar_function.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::RowMajorStrides;

namespace {

// Reads index vectors: a window's start in the operand for each position of the indices' batch dimensions.
// gather and scatter have the same dimension numbers under different names.
struct StartReader {
  const Literal& indices;
  int64_t index_vector_dim;
  const Dims& index_to_operand;  // By component of the vector, the dimension of the operand.
  // Dimensions of the operand that take their position from a batch dimension of the indices.
  const Dims& operand_batching;
  const Dims& indices_batching;  // The batch dimensions of the indices that correspond to them.
  Dims strides = RowMajorStrides(indices.shape().dims);

  // Returns the sizes of the indices' dimensions without the index vector's.
  Dims BatchDims() const {
    Dims dims = indices.shape().dims;
    if (index_vector_dim < static_cast<int64_t>(dims.size())) dims.erase(dims.begin() + index_vector_dim);
    return dims;
  }

  // Returns the start for one batch position, without clamping, as one number per operand dimension.
  Dims StartOf(const Dims& batch, int64_t rank) const {
    Dims at = batch;
    const bool has_vector_dimension = index_vector_dim < indices.shape().rank();
    if (has_vector_dimension) at.insert(at.begin() + index_vector_dim, 0);
    Dims start(rank, 0);
    for (size_t k = 0; k < index_to_operand.size(); ++k) {
      if (has_vector_dimension) at[index_vector_dim] = static_cast<int64_t>(k);
      start[index_to_operand[k]] = IndexAt(indices, Offset(at, strides));
    }
    for (size_t k = 0; k < operand_batching.size(); ++k) start[operand_batching[k]] = at[indices_batching[k]];
    return start;
  }
};

}  // namespace

absl::StatusOr<Literal> Gather(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const auto& gather = instruction.attributes<hlo::GatherAttributes>();
  const Literal& operand = operands[0];
  const StartReader reader{operands[1], gather.index_vector_dim, gather.start_index_map,
                           gather.operand_batching_dims, gather.start_indices_batching_dims};
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const int64_t rank = operand.shape().rank();
  const Dims operand_strides = RowMajorStrides(operand.shape().dims),
             strides = RowMajorStrides(result.shape().dims);
  // The window's dimensions that are kept fill the offset dimensions in order; the others have size one.
  const Dims window_dims = OtherDimensions(rank, gather.collapsed_slice_dims, gather.operand_batching_dims);
  const Dims window_sizes = Pick(gather.slice_sizes, window_dims);
  const Dims window_source = Pick(operand_strides, window_dims),
             window_target = Pick(strides, gather.offset_dims);
  const Dims batch_strides = Pick(strides, OtherDimensions(result.shape().rank(), gather.offset_dims));
  // A slice may be empty in a dimension that the result does not have. Then the result is zeros, as in XLA
  // for an empty operand.
  if (std::find(gather.slice_sizes.begin(), gather.slice_sizes.end(), 0) != gather.slice_sizes.end())
    return result;
  for (Odometer batch(reader.BatchDims()); batch.valid(); batch.Next()) {
    Dims start = reader.StartOf(batch.index(), rank);
    for (int64_t d = 0; d < rank; ++d) {
      start[d] = std::clamp<int64_t>(start[d], 0, operand.shape().dims[d] - gather.slice_sizes[d]);
    }
    RETURN_IF_ERROR(CopyElements(evaluation, window_sizes, hlo::ByteWidth(operand.shape().type),
                                 operand.bytes().data(), {Offset(start, operand_strides), window_source},
                                 result.bytes().data(),
                                 {Offset(batch.index(), batch_strides), window_target}));
  }
  return result;
}

namespace {

// Calls visit(operand element, update element) for each update element in order. A window that does not lie
// entirely in the operand is dropped.
template <typename Visit>
absl::Status ForEachUpdate(Evaluation& evaluation, const hlo::ScatterAttributes& scatter,
                           const hlo::Shape& operand, const Literal& indices, const hlo::Shape& update,
                           Visit visit) {
  const StartReader reader{indices, scatter.index_vector_dim, scatter.scatter_dims_to_operand_dims,
                           scatter.input_batching_dims, scatter.scatter_indices_batching_dims};
  const int64_t rank = operand.rank();
  const Dims operand_strides = RowMajorStrides(operand.dims), update_strides = RowMajorStrides(update.dims);
  const Dims window_dims = OtherDimensions(rank, scatter.inserted_window_dims, scatter.input_batching_dims);
  const Dims window_sizes = Pick(update.dims, scatter.update_window_dims);
  const Dims window_source = Pick(update_strides, scatter.update_window_dims),
             window_target = Pick(operand_strides, window_dims);
  const Dims batch_strides = Pick(update_strides, OtherDimensions(update.rank(), scatter.update_window_dims));
  Dims extent(rank, 1);
  for (size_t i = 0; i < window_dims.size(); ++i) extent[window_dims[i]] = window_sizes[i];
  for (Odometer batch(reader.BatchDims()); batch.valid(); batch.Next()) {
    RETURN_IF_ERROR(evaluation.Tick(8));
    const Dims start = reader.StartOf(batch.index(), rank);
    bool inside = true;
    for (int64_t d = 0; d < rank; ++d)
      inside = inside && start[d] >= 0 && start[d] <= operand.dims[d] - extent[d];
    if (!inside) continue;
    const int64_t to = Offset(start, operand_strides), from = Offset(batch.index(), batch_strides);
    for (Odometer window(window_sizes); window.valid(); window.Next()) {
      RETURN_IF_ERROR(evaluation.Tick(2));
      RETURN_IF_ERROR(
          visit(to + Offset(window.index(), window_target), from + Offset(window.index(), window_source)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> Scatter(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const auto& scatter = instruction.attributes<hlo::ScatterAttributes>();
  const size_t count = operands.size() / 2;
  const Literal& indices = operands[count];
  ASSIGN_OR_RETURN(ScalarFunction combine, ScalarFunction::Make(evaluation, instruction.called()[0]));
  std::vector<Literal> results;
  for (size_t k = 0; k < count; ++k) results.push_back(operands.Take(k));
  const hlo::Shape& update_shape = operands[count + 1].shape();
  const hlo::PrimitiveType type = results[0].shape().type;

  // With one operand and a plain combiner, sums are kept in carriers, so that a long sum is rounded once.
  bool done = false;
  absl::Status status;
  if (count == 1 && combine.binary_opcode().has_value()) {
    VisitCarrier(CarrierOf(type), [&]<typename C>() {
      done = VisitCombiner<C>(*combine.binary_opcode(), type == hlo::kPred, [&](auto join) {
        std::vector<C> values = LoadAs<C>(results[0]);
        const std::vector<C> updates = LoadAs<C>(operands[count + 1]);
        status = ForEachUpdate(evaluation, scatter, results[0].shape(), indices, update_shape,
                               [&](int64_t to, int64_t from) {
                                 values[to] = join(values[to], updates[from]);
                                 return absl::OkStatus();
                               });
        StoreAll(values, results[0]);
      });
    });
  }
  if (!done) {
    std::vector<Wide> arguments(2 * count);
    status = ForEachUpdate(
        evaluation, scatter, results[0].shape(), indices, update_shape, [&](int64_t to, int64_t from) {
          for (size_t k = 0; k < count; ++k) {
            const hlo::PrimitiveType t = results[k].shape().type;
            Load(t, results[k].bytes().data() + to * hlo::ByteWidth(t), 1, arguments[k].bytes);
            Load(t, operands[count + 1 + k].bytes().data() + from * hlo::ByteWidth(t), 1,
                 arguments[count + k].bytes);
          }
          RETURN_IF_ERROR(combine.Call(arguments.data(), arguments.data()));
          for (size_t k = 0; k < count; ++k) {
            const hlo::PrimitiveType t = results[k].shape().type;
            Store(t, arguments[k].bytes, 1, results[k].bytes().data() + to * hlo::ByteWidth(t));
          }
          return absl::OkStatus();
        });
  }
  RETURN_IF_ERROR(status);
  if (count == 1) return std::move(results[0]);
  return Literal::MakeTuple(std::move(results));
}

}  // namespace hlod::evaluator

// Shape rules of gather and scatter: batch dimensions come from the indices, window dimensions from the
// operand.
#include <algorithm>

#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

// The attributes by which gather and scatter address their operand, under common names.
struct Addressing {
  const Dims& window_dims;  // Dimensions of the result (or updates) that correspond to dimensions of a slice.
  // Dimensions of the operand that have slice size 1 and are omitted from the window.
  const Dims& dropped_dims;
  const Dims& index_map;      // The operand's dimension for each component of an index.
  const Dims& operand_batch;  // Dimensions of the operand that are paired with those of `indices_batch`.
  const Dims& indices_batch;  // The paired dimensions of the indices.
  int64_t index_vector_dim;
};

// The sizes of the indices without the index vector, and that vector's length.
struct IndexSpace {
  Shape batch;
  int64_t components = 1;
};

absl::StatusOr<IndexSpace> SplitIndices(const InferenceInput& in, const Shape& indices, int64_t vector_dim) {
  if (!indices.IsArray() || !IsInteger(indices.type)) {
    return InvalidArgument("The indices shape (%s) of %s is not an integer array.", Text(indices),
                           OpName(in));
  }
  RETURN_IF_ERROR(ExpectDimension(in, vector_dim, indices.rank() + 1, "index_vector_dim"));
  IndexSpace space;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d == vector_dim) {
      space.components = indices.dims[d];
    } else {
      AppendDimension(space.batch, indices, d);
    }
  }
  return space;
}

absl::Status CheckAddressing(const InferenceInput& in, const Addressing& a, const Shape& operand,
                             const Shape& indices, int64_t components) {
  const int64_t rank = operand.rank();
  RETURN_IF_ERROR(ExpectDistinct(in, a.dropped_dims, rank, "collapsed dimensions", true));
  RETURN_IF_ERROR(ExpectDistinct(in, a.operand_batch, rank, "operand batching dimensions", true));
  RETURN_IF_ERROR(ExpectDistinct(in, a.index_map, rank, "indexed dimensions"));
  RETURN_IF_ERROR(ExpectDistinct(in, a.indices_batch, indices.rank(), "index batching dimensions"));
  DimensionSet batch;
  for (const int64_t d : a.operand_batch) batch.Add(d, rank);
  for (const Dims* others : {&a.dropped_dims, &a.index_map}) {
    for (const int64_t d : *others) {
      if (batch.Has(d))
        return InvalidArgument("Operand dimension (%d) of %s is a batch dimension and another.", d,
                               OpName(in));
    }
  }
  const size_t covered = a.window_dims.size() + a.dropped_dims.size() + a.operand_batch.size();
  if (covered != static_cast<size_t>(rank)) {
    return InvalidArgument("The dimension numbers of %s cover (%d) dimensions of operand 0 shape (%s).",
                           OpName(in), covered, Text(operand));
  }
  if (static_cast<int64_t>(a.index_map.size()) != components) {
    return InvalidArgument(
        "The number of indexed dimensions (%d) of %s differs from the length (%d) of its index vectors.",
        a.index_map.size(), OpName(in), components);
  }
  if (a.operand_batch.size() != a.indices_batch.size()) {
    return InvalidArgument("The batching dimensions (%d, %d) of %s are not paired.", a.operand_batch.size(),
                           a.indices_batch.size(), OpName(in));
  }
  for (size_t i = 0; i < a.operand_batch.size(); ++i) {
    const int64_t d = a.indices_batch[i];
    if (d == a.index_vector_dim || !SizesAgree(indices.dims[d], operand.dims[a.operand_batch[i]])) {
      return InvalidArgument(
          "Batching dimension (%d) of the indices of %s does not match that of its operand.", d, OpName(in));
    }
  }
  return absl::OkStatus();
}

// Returns the operand dimensions that the window runs through, in order.
Dims WindowOperandDims(const Addressing& a, int64_t rank) {
  DimensionSet absent;
  for (const Dims* dims : {&a.dropped_dims, &a.operand_batch}) {
    for (const int64_t d : *dims) absent.Add(d, rank);
  }
  Dims window;
  for (int64_t d = 0; d < rank; ++d) {
    if (!absent.Has(d)) window.push_back(d);
  }
  return window;
}

}  // namespace

absl::StatusOr<Shape> InferGather(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArrays(in));
  const Shape &operand = Operand(in, 0), &indices = Operand(in, 1);
  const auto& gather = AttributesOf<GatherAttributes>(in);
  const Addressing addressing{
      gather.offset_dims,           gather.collapsed_slice_dims,        gather.start_index_map,
      gather.operand_batching_dims, gather.start_indices_batching_dims, gather.index_vector_dim};
  ASSIGN_OR_RETURN(const IndexSpace space, SplitIndices(in, indices, gather.index_vector_dim));
  RETURN_IF_ERROR(CheckAddressing(in, addressing, operand, indices, space.components));
  if (static_cast<int64_t>(gather.slice_sizes.size()) != operand.rank()) {
    return InvalidArgument(
        "The number of slice sizes (%d) of gather differs from the rank of operand 0 shape (%s).",
        gather.slice_sizes.size(), Text(operand));
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t size = gather.slice_sizes[d];
    if (size < 0 || (size > operand.dims[d] && operand.dims[d] != kUnboundedSize)) {
      return InvalidArgument(
          "The slice size (%d) of gather in dimension %d does not fit operand 0 shape (%s).", size, d,
          Text(operand));
    }
  }
  for (const Dims* dropped : {&gather.collapsed_slice_dims, &gather.operand_batching_dims}) {
    for (const int64_t d : *dropped) {
      if (gather.slice_sizes[d] > 1) {
        return InvalidArgument("The slice size (%d) of gather in the dropped dimension %d is more than 1.",
                               gather.slice_sizes[d], d);
      }
    }
  }
  const int64_t rank = static_cast<int64_t>(gather.offset_dims.size()) + space.batch.rank();
  if (rank > kMaxRank)
    return InvalidArgument("The rank (%d) of gather exceeds the limit (%d).", rank, kMaxRank);
  RETURN_IF_ERROR(ExpectDistinct(in, gather.offset_dims, rank, "offset_dims", true));

  const Dims window = WindowOperandDims(addressing, operand.rank());
  Shape shape;
  shape.type = operand.type;
  size_t offset = 0;
  int64_t batch = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (offset < gather.offset_dims.size() && gather.offset_dims[offset] == d) {
      AppendDimension(shape, gather.slice_sizes[window[offset]], false);
      ++offset;
    } else {
      AppendDimension(shape, space.batch, batch++);
    }
  }
  return shape;
}

namespace {

// Returns an error unless the dimensions of the updates are those of the index batch and, in
// update_window_dims, at most the operand's sizes.
absl::Status CheckUpdates(const InferenceInput& in, const Addressing& a, const Shape& operand,
                          const Shape& batch, const Shape& updates) {
  const auto broken = [&] {
    return InvalidArgument(
        "The updates shape (%s) of scatter does not fit its operand shape (%s) and dimension numbers.",
        Text(updates), Text(operand));
  };
  if (updates.rank() != static_cast<int64_t>(a.window_dims.size()) + batch.rank()) return broken();
  RETURN_IF_ERROR(ExpectDistinct(in, a.window_dims, updates.rank(), "update_window_dims", true));
  const Dims window = WindowOperandDims(a, operand.rank());
  size_t offset = 0;
  int64_t at = 0;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    const int64_t size = updates.dims[d];
    if (offset < a.window_dims.size() && a.window_dims[offset] == d) {
      const int64_t whole = operand.dims[window[offset]];
      if (size > whole && whole != kUnboundedSize) return broken();
      ++offset;
    } else if (!SizesAgree(size, batch.dims[at++])) {
      return broken();
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> InferScatter(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArrays(in));
  if (in.operands.size() < 3 || in.operands.size() % 2 == 0) {
    return InvalidArgument("The number of operands (%d) of scatter is not 2n+1.", in.operands.size());
  }
  const size_t n = in.operands.size() / 2;
  const auto& scatter = AttributesOf<ScatterAttributes>(in);
  const Addressing addressing{scatter.update_window_dims,
                              scatter.inserted_window_dims,
                              scatter.scatter_dims_to_operand_dims,
                              scatter.input_batching_dims,
                              scatter.scatter_indices_batching_dims,
                              scatter.index_vector_dim};
  const Shape& indices = Operand(in, n);
  ASSIGN_OR_RETURN(const IndexSpace space, SplitIndices(in, indices, scatter.index_vector_dim));
  RETURN_IF_ERROR(CheckAddressing(in, addressing, Operand(in, 0), indices, space.components));
  std::vector<PrimitiveType> types;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < n; ++i) {
    const Shape &operand = Operand(in, i), &updates = Operand(in, n + 1 + i);
    if (operand.dims != Operand(in, 0).dims || updates.dims != Operand(in, n + 1).dims ||
        updates.type != operand.type) {
      return InvalidArgument(
          "Input %d shape (%s) and updates shape (%s) of scatter differ from the first ones (%s, %s).", i,
          Text(operand), Text(updates), Text(Operand(in, 0)), Text(Operand(in, n + 1)));
    }
    RETURN_IF_ERROR(CheckUpdates(in, addressing, operand, space.batch, updates));
    types.push_back(operand.type);
    shapes.push_back(WithoutLayout(operand));
  }
  RETURN_IF_ERROR(ExpectReducer(in, 0, types));
  return n == 1 ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}

}  // namespace hlod::hlo

// The batching rules by opcode; most are shared by a class of opcodes.
#include <algorithm>
#include <numeric>

#include "client/tensor/mesh/sharding_call.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/transform/batch/batch.h"
#include "client/transform/rules/lapack.h"

namespace hlod::lazy {
namespace {

Dims AllButFirst(int64_t rank) {
  Dims dims(rank);
  std::iota(dims.begin(), dims.end(), 1);
  return dims;
}

// Merge() joins a dimension with the next. Split() splits a dimension of `size` * n into [size, n].
Op Merge(Lowering& l, Op x, int64_t dim) {
  Dims dims = l.dims(x);
  dims[dim + 1] *= dims[dim];
  dims.erase(dims.begin() + dim);
  return l.Reshape(x, dims);
}
Op Split(Lowering& l, Op x, int64_t dim, int64_t size) {
  Dims dims = l.dims(x);
  dims[dim] /= size;
  dims.insert(dims.begin() + dim, size);
  return l.Reshape(x, dims);
}

Op Again(const BatchArgs& c, absl::Span<const Op> operands, hlo::Attributes attributes) {
  const Shape whole = c.Whole();
  return c.l.b.Add(c.opcode, operands, std::move(attributes), c.called, &whole);
}

// Opcodes whose operands have the same shape. A scalar operand (of clamp and select) is repeated.
Op Elementwise(const BatchArgs& c) {
  Lowering& l = c.l;
  const Shape whole = c.Whole();
  std::vector<Op> operands;
  for (size_t i = 0; i < c.x.size(); ++i) {
    const bool scalar = l.dims(c.x[i].op).size() == (c.x[i].has_batch ? 1 : 0);
    if (scalar && !c.shape.dims.empty() && c.x.size() == 3) {
      operands.push_back(l.b.Broadcast(c.x[i].op, whole.dims, c.x[i].has_batch ? Dims{0} : Dims{}));
    } else {
      operands.push_back(c.With(i));
    }
  }
  return Again(c, operands, c.attributes);
}

// Opcodes that accept any number of leading dimensions: factorisations, transforms of the last dimensions.
Op Leading(const BatchArgs& c) { return Again(c, c.AllWith(), c.attributes); }

Op CustomCall(const BatchArgs& c) {
  const auto& call = c.Get<hlo::CustomCallAttributes>();
  if (IsShardingTarget(call.target)) return Again(c, c.AllWith(), WithExamples(call));
  if (!TakesBatches(call.target)) Refuse("custom-call (%s) has no batching rule", call.target);
  return Leading(c);
}

Op Broadcast(const BatchArgs& c) {
  Dims dims = Shifted(c.Get<hlo::DimensionsAttributes>().dimensions);
  dims.insert(dims.begin(), 0);
  return c.l.b.Broadcast(c.x[0].op, c.Whole().dims, dims);
}
Op Reshape(const BatchArgs& c) { return c.l.Reshape(c.x[0].op, c.Whole().dims); }
Op Transpose(const BatchArgs& c) {
  Dims permutation = Shifted(c.Get<hlo::DimensionsAttributes>().dimensions);
  permutation.insert(permutation.begin(), 0);
  return c.l.b.Transpose(c.x[0].op, permutation);
}
// Opcodes whose attributes are a list of dimensions.
Op Dimensions(const BatchArgs& c) {
  return Again(c, c.AllWith(),
               hlo::DimensionsAttributes{Shifted(c.Get<hlo::DimensionsAttributes>().dimensions)});
}
Op Slice(const BatchArgs& c) {
  hlo::SliceAttributes slice = c.Get<hlo::SliceAttributes>();
  slice.start.insert(slice.start.begin(), 0);
  slice.limit.insert(slice.limit.begin(), c.size);
  if (!slice.stride.empty()) slice.stride.insert(slice.stride.begin(), 1);
  return Again(c, {c.x[0].op}, slice);
}
Op Pad(const BatchArgs& c) {
  Lowering& l = c.l;
  std::vector<hlo::PadDimension> padding = c.Get<hlo::PadAttributes>().dimensions;
  padding.insert(padding.begin(), hlo::PadDimension{});
  const Op x = c.With(0);
  if (!c.x[1].has_batch) return l.b.Pad(x, c.x[1].op, padding);
  // The padding value differs between examples.
  const Op spread = l.b.Pad(x, l.Number(l.type(x), 0), padding);
  const Op inside = l.b.Pad(l.Full(hlo::kPred, l.dims(x), true), l.Number(hlo::kPred, false), padding);
  return l.b.Select(inside, spread, l.b.Broadcast(c.x[1].op, l.dims(spread), {0}));
}

bool AnyBatched(const BatchArgs& c, size_t first) {
  return std::any_of(c.x.begin() + static_cast<std::ptrdiff_t>(first), c.x.end(),
                     [](const Batched& x) { return x.has_batch; });
}

// Returns the examples' start indices as s64 [batch, dimensions], clamped so that a slice of `sizes` is
// within bounds.
Op StartsMatrix(const BatchArgs& c, size_t first, const Dims& from, const Dims& sizes) {
  Lowering& l = c.l;
  std::vector<Op> columns;
  for (size_t i = first; i < c.x.size(); ++i) {
    const size_t dim = i - first;
    const Op start = l.Convert(c.With(i), hlo::kS64);
    const Op most = l.Full(hlo::kS64, {c.size}, from[dim] - sizes[dim]);
    const Op inside =
        l.b.Binary(hlo::kMaximum, l.b.Binary(hlo::kMinimum, start, most), l.Full(hlo::kS64, {c.size}, 0));
    columns.push_back(l.Reshape(inside, {c.size, 1}));
  }
  return Joined(l, columns, 1);
}

std::vector<Op> StartsWithZero(const BatchArgs& c, size_t first) {
  std::vector<Op> starts = {c.l.Number(c.l.type(c.x[first].op), 0)};
  for (size_t i = first; i < c.x.size(); ++i) starts.push_back(c.x[i].op);
  return starts;
}

Op DynamicSlice(const BatchArgs& c) {
  Lowering& l = c.l;
  Dims sizes = c.Get<hlo::DynamicSliceAttributes>().sizes;
  const Dims one = sizes;
  const auto rank = static_cast<int64_t>(one.size());
  if (rank == 0) return c.x[0].op;
  sizes.insert(sizes.begin(), c.size);
  if (!AnyBatched(c, 1)) return l.b.DynamicSlice(c.x[0].op, StartsWithZero(c, 1), sizes);
  Dims from = l.dims(c.x[0].op);
  if (c.x[0].has_batch) from.erase(from.begin());
  hlo::GatherAttributes gather;
  gather.operand_batching_dims = {0};
  gather.start_indices_batching_dims = {0};
  gather.start_index_map = gather.offset_dims = AllButFirst(rank);
  gather.index_vector_dim = 1;
  gather.slice_sizes = sizes;
  gather.slice_sizes[0] = 1;
  return l.b.Add(hlo::kGather, {c.With(0), StartsMatrix(c, 1, from, one)}, gather);
}

Op DynamicUpdateSlice(const BatchArgs& c) {
  Lowering& l = c.l;
  const auto rank = static_cast<int64_t>(c.shape.dims.size());
  if (rank == 0) return c.With(1);
  if (!AnyBatched(c, 2)) return l.b.DynamicUpdateSlice(c.With(0), c.With(1), StartsWithZero(c, 2));
  Dims sizes = l.dims(c.x[1].op);
  if (c.x[1].has_batch) sizes.erase(sizes.begin());
  hlo::ScatterAttributes scatter;
  scatter.input_batching_dims = {0};
  scatter.scatter_indices_batching_dims = {0};
  scatter.scatter_dims_to_operand_dims = scatter.update_window_dims = AllButFirst(rank);
  scatter.index_vector_dim = 1;
  scatter.unique_indices = true;
  return ScatterWith(l, c.With(0), StartsMatrix(c, 2, c.shape.dims, sizes), c.With(1), scatter,
                     Combine::kSet);
}

Op Gather(const BatchArgs& c) {
  hlo::GatherAttributes gather = c.Get<hlo::GatherAttributes>();
  gather.offset_dims = Shifted(gather.offset_dims);
  gather.index_vector_dim += 1;
  gather.start_indices_batching_dims = Shifted(gather.start_indices_batching_dims);
  if (!c.x[0].has_batch) {
    gather.indices_are_sorted = false;  // The indices are sorted only within each example.
    return Again(c, {c.x[0].op, c.x[1].op}, gather);
  }
  gather.collapsed_slice_dims = Shifted(gather.collapsed_slice_dims);
  gather.start_index_map = Shifted(gather.start_index_map);
  gather.operand_batching_dims = Shifted(gather.operand_batching_dims);
  gather.operand_batching_dims.insert(gather.operand_batching_dims.begin(), 0);
  gather.start_indices_batching_dims.insert(gather.start_indices_batching_dims.begin(), 0);
  gather.slice_sizes.insert(gather.slice_sizes.begin(), 1);
  return Again(c, c.AllWith(), gather);
}
Op Scatter(const BatchArgs& c) {
  hlo::ScatterAttributes scatter = c.Get<hlo::ScatterAttributes>();
  scatter.update_window_dims = Shifted(scatter.update_window_dims);
  scatter.inserted_window_dims = Shifted(scatter.inserted_window_dims);
  scatter.scatter_dims_to_operand_dims = Shifted(scatter.scatter_dims_to_operand_dims);
  scatter.input_batching_dims = Shifted(scatter.input_batching_dims);
  scatter.input_batching_dims.insert(scatter.input_batching_dims.begin(), 0);
  scatter.scatter_indices_batching_dims = Shifted(scatter.scatter_indices_batching_dims);
  scatter.scatter_indices_batching_dims.insert(scatter.scatter_indices_batching_dims.begin(), 0);
  scatter.index_vector_dim += 1;
  return Again(c, c.AllWith(), scatter);
}

// reduce and reduce-window: the operands are arrays, then an initial value per array, which the examples
// share.
Op Reduce(const BatchArgs& c) {
  const size_t count = c.x.size() / 2;
  if (AnyBatched(c, count)) Refuse("a reduction whose initial value differs between examples has no rule");
  std::vector<Op> operands;
  for (size_t i = 0; i < c.x.size(); ++i) operands.push_back(i < count ? c.With(i) : c.x[i].op);
  if (c.opcode == hlo::kReduce) {
    return Again(c, operands,
                 hlo::DimensionsAttributes{Shifted(c.Get<hlo::DimensionsAttributes>().dimensions)});
  }
  hlo::WindowAttributes attributes = c.Get<hlo::WindowAttributes>();
  attributes.window.insert(attributes.window.begin(), hlo::WindowDimension{});
  return Again(c, operands, attributes);
}
Op SelectAndScatter(const BatchArgs& c) {
  if (c.x[2].has_batch) Refuse("windows whose initial value differs between examples have no rule");
  hlo::WindowAttributes attributes = c.Get<hlo::WindowAttributes>();
  attributes.window.insert(attributes.window.begin(), hlo::WindowDimension{});
  return Again(c, {c.With(0), c.With(1), c.x[2].op}, attributes);
}
Op Sort(const BatchArgs& c) {
  hlo::SortAttributes sort = c.Get<hlo::SortAttributes>();
  sort.dimension += 1;
  return Again(c, c.AllWith(), sort);
}

Op Dot(const BatchArgs& c) {
  Lowering& l = c.l;
  hlo::DotAttributes dot = c.Get<hlo::DotAttributes>();
  const bool left = c.x[0].has_batch, right = c.x[1].has_batch;
  const auto batches = static_cast<int64_t>(dot.lhs_batch.size());
  const int64_t lhs_free = static_cast<int64_t>(l.dims(c.x[0].op).size()) - (left ? 1 : 0) - batches -
                           static_cast<int64_t>(dot.lhs_contracting.size());
  if (left) {
    dot.lhs_batch = Shifted(dot.lhs_batch);
    dot.lhs_contracting = Shifted(dot.lhs_contracting);
  }
  if (right) {
    dot.rhs_batch = Shifted(dot.rhs_batch);
    dot.rhs_contracting = Shifted(dot.rhs_contracting);
  }
  if (left && right) {
    dot.lhs_batch.insert(dot.lhs_batch.begin(), 0);
    dot.rhs_batch.insert(dot.rhs_batch.begin(), 0);
    return Again(c, {c.x[0].op, c.x[1].op}, dot);
  }
  // The result has the examples as one more dimension of the batched operand.
  const int64_t at = left ? batches : batches + lhs_free;
  Shape whole = Shape::Array(c.shape.type, c.shape.dims);
  whole.dims.insert(whole.dims.begin() + at, c.size);
  return MovedDim(l, l.b.Add(hlo::kDot, {c.x[0].op, c.x[1].op}, dot, {}, &whole), at, 0);
}

// Moves the examples (dimension 0) into dimension `dim` of one example, [groups * n], between the groups and
// the rest: [groups * batch * n].
Op MergedWithinGroups(Lowering& l, Op x, int64_t dim, int64_t groups) {
  const Op split = Split(l, x, dim + 1, groups);
  return Merge(l, Merge(l, MovedDim(l, split, 0, dim + 1), dim + 1), dim);
}

// Groups divide the features of both operands, or the batch of the left operand; in either case the kernel's
// output features are ordered by group.
Op Convolution(const BatchArgs& c) {
  Lowering& l = c.l;
  hlo::ConvolutionAttributes conv = c.Get<hlo::ConvolutionAttributes>();
  const bool left = c.x[0].has_batch, right = c.x[1].has_batch;
  const auto merged = [&](Op x, int64_t into) { return Merge(l, MovedDim(l, x, 0, into), into); };
  const auto divided = [&](Op y, int64_t dim) { return MovedDim(l, Split(l, y, dim, c.size), dim, 0); };
  // Appends a convolution whose result has the element type of one example's, and the examples in dimension
  // `dim`.
  const auto convolved = [&](Op x, Op kernel, int64_t dim) {
    Shape whole = Shape::Array(c.shape.type, c.shape.dims);
    whole.dims[dim] *= c.size;
    return l.b.Add(hlo::kConvolution, {x, kernel}, conv, {}, &whole);
  };
  if (!right) {  // The examples become further images.
    const Op images = MergedWithinGroups(l, c.x[0].op, conv.input_batch, conv.batch_group_count);
    return divided(convolved(images, c.x[1].op, conv.output_batch), conv.output_batch);
  }
  if (!left) {  // The examples become further output features of the same images.
    const int64_t groups = std::max(conv.feature_group_count, conv.batch_group_count);
    const Op kernel = MergedWithinGroups(l, c.x[1].op, conv.kernel_output_feature, groups);
    const Op y = Split(l, convolved(c.x[0].op, kernel, conv.output_feature), conv.output_feature, groups);
    return Merge(l, MovedDim(l, Split(l, y, conv.output_feature + 1, c.size), conv.output_feature + 1, 0),
                 conv.output_feature + 1);
  }
  // Each example becomes a group.
  const Op kernel = merged(c.x[1].op, conv.kernel_output_feature);
  const bool batch_groups = conv.batch_group_count > 1;
  (batch_groups ? conv.batch_group_count : conv.feature_group_count) *= c.size;
  const Op input = merged(c.x[0].op, batch_groups ? conv.input_batch : conv.input_feature);
  return divided(convolved(input, kernel, conv.output_feature), conv.output_feature);
}

}  // namespace

const BatchRules& TheBatchRules() {
  static const BatchRules* const rules = [] {
    auto* made = new BatchRules;
    for (int i = 0; i < hlo::kOpcodeCount; ++i) {
      const auto opcode = static_cast<hlo::Opcode>(i);
      if (hlo::HasTrait(opcode, hlo::kElementwise)) made->by_opcode[i] = Elementwise;
    }
    struct Row {
      hlo::Opcode opcode;
      BatchRule rule;
    };
    static constexpr Row kRows[] = {
        {hlo::kCopy, Elementwise},
        {hlo::kBitcastConvert, Leading},
        {hlo::kFft, Leading},
        {hlo::kCholesky, Leading},
        {hlo::kTriangularSolve, Leading},
        {hlo::kCustomCall, CustomCall},
        {hlo::kTopK, Leading},
        {hlo::kBroadcast, Broadcast},
        {hlo::kReshape, Reshape},
        {hlo::kTranspose, Transpose},
        {hlo::kReverse, Dimensions},
        {hlo::kConcatenate, Dimensions},
        {hlo::kSlice, Slice},
        {hlo::kPad, Pad},
        {hlo::kDynamicSlice, DynamicSlice},
        {hlo::kDynamicUpdateSlice, DynamicUpdateSlice},
        {hlo::kGather, Gather},
        {hlo::kScatter, Scatter},
        {hlo::kReduce, Reduce},
        {hlo::kReduceWindow, Reduce},
        {hlo::kSelectAndScatter, SelectAndScatter},
        {hlo::kSort, Sort},
        {hlo::kDot, Dot},
        {hlo::kConvolution, Convolution},
    };
    for (const Row& row : kRows) made->by_opcode[static_cast<size_t>(row.opcode)] = row.rule;
    return made;
  }();
  return *rules;
}

}  // namespace hlod::lazy

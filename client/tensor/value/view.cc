// Applies the steps of a view forwards to read, and backwards to write.
#include "client/tensor/value/view.h"

#include <algorithm>

#include "client/tensor/value/overlap.h"

namespace hlod::lazy {
namespace {

Dims InverseOf(const Dims& permutation) {
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return inverse;
}

// Returns offset + i * strides[0] + ... for each index of `dims`, as s64.
Op LinearIndices(Lowering& l, const StridedStep& step) {
  const Shape shape = Shape::Array(hlo::kS64, step.dims);
  Op index = l.Full(hlo::kS64, step.dims, step.offset);
  for (size_t i = 0; i < step.dims.size(); ++i) {
    const Op along = l.b.Iota(shape, static_cast<int64_t>(i));
    index = index + along * l.Number(hlo::kS64, step.strides[i]);
  }
  return index;
}

// Gather or scatter single elements of a flat array by indices [n, 1].
Op GatherFlat(Lowering& l, Op flat, Op indices, int64_t count) {
  hlo::GatherAttributes attributes;
  attributes.collapsed_slice_dims = {0};
  attributes.start_index_map = {0};
  attributes.index_vector_dim = 1;
  attributes.slice_sizes = {1};
  return l.b.Add(hlo::kGather, {flat, l.b.Reshape(indices, {count, 1})}, attributes);
}

Op ScatterFlat(Lowering& l, Op flat, Op indices, Op updates, int64_t count) {
  hlo::ScatterAttributes attributes;
  attributes.inserted_window_dims = {0};
  attributes.scatter_dims_to_operand_dims = {0};
  attributes.index_vector_dim = 1;
  attributes.unique_indices = true;
  const PrimitiveType type = l.type(flat);
  const hlo::ComputationId second = TraceTables::Get().Callee("assign", [&](hlo::Builder& b) {
    b.Parameter(0, Shape::Scalar(type));
    return b.Parameter(1, Shape::Scalar(type));
  });
  return l.b.Add(hlo::kScatter, {flat, l.b.Reshape(indices, {count, 1}), updates}, attributes, {second});
}

// Returns true when two indices address the same element: unless strides, sorted by size, each exceed the
// reach of the smaller ones.
bool Overlap(const Dims& sizes, const Dims& strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // Pairs of stride and size.
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return false;
    if (sizes[i] > 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

[[noreturn]] void RefuseOverlap() {
  Refuse(
      "more than one element of the written-to tensor refers to a single memory location; Clone() it "
      "first");
}

// Returns where a slice begins in every dimension.
std::vector<Op> Starts(Lowering& l, const SliceStep& step, size_t rank) {
  std::vector<Op> starts(rank, l.Number(hlo::kS64, 0));
  if (step.varies) starts[step.dim] = l.Varying(hlo::kS64, step.start);
  else if (step.start != 0) starts[step.dim] = l.Number(hlo::kS64, step.start);
  return starts;
}

struct Forward {
  Lowering& l;
  Op x;

  Op operator()(const SliceStep& step) const {
    const Dims& dims = l.dims(x);
    if (step.varies) {
      Dims sizes = dims;
      sizes[step.dim] = step.limit - step.start;
      return l.b.DynamicSlice(x, Starts(l, step, dims.size()), sizes);
    }
    Dims start(dims.size(), 0), limit = dims, stride(dims.size(), 1);
    start[step.dim] = step.start;
    limit[step.dim] = step.limit;
    stride[step.dim] = step.step;
    return l.b.Slice(x, start, limit, stride);
  }
  Op operator()(const PermuteStep& step) const { return l.b.Transpose(x, step.permutation); }
  Op operator()(const ReshapeStep& step) const { return l.Reshape(x, step.dims); }
  Op operator()(const ExpandStep& step) const { return l.BroadcastTo(x, step.dims); }
  Op operator()(const StridedStep& step) const {
    const int64_t count = Count(step.dims);
    const Op flat = l.Reshape(x, {Count(l.dims(x))});
    if (count == 0) return l.Full(l.type(x), step.dims, 0);
    return l.Reshape(GatherFlat(l, flat, LinearIndices(l, step), count), step.dims);
  }
};

struct Backward {
  Lowering& l;
  Op x, update;

  Op operator()(const SliceStep& step) const {
    const Dims dims = l.dims(x);
    if (step.limit == step.start) return x;
    if (step.step == 1) return l.b.DynamicUpdateSlice(x, update, Starts(l, step, dims.size()));
    // The update is spread to the base's size, and selected where the slice is.
    const int64_t size = dims[step.dim], count = l.dims(update)[step.dim];
    std::vector<hlo::PadDimension> padding(dims.size());
    padding[step.dim] = {step.start, size - step.start - ((count - 1) * step.step + 1), step.step - 1};
    const Op spread = l.b.Pad(update, l.Number(l.type(x), 0), padding);
    const Op ones = l.Full(hlo::kPred, l.dims(update), true);
    const Op chosen = l.b.Pad(ones, l.Number(hlo::kPred, false), padding);
    return l.b.Select(chosen, spread, x);
  }
  Op operator()(const PermuteStep& step) const { return l.b.Transpose(update, InverseOf(step.permutation)); }
  Op operator()(const ReshapeStep&) const { return l.Reshape(update, l.dims(x)); }
  // An expand can be written through only if it does not repeat elements; then it has the same elements, or
  // none.
  Op operator()(const ExpandStep& step) const {
    const int64_t count = Count(step.dims);
    if (count == 0) return x;
    if (count != Count(l.dims(x))) RefuseOverlap();
    return l.Reshape(update, l.dims(x));
  }
  Op operator()(const StridedStep& step) const {
    if (Overlap(step.dims, step.strides)) RefuseOverlap();
    const int64_t count = Count(step.dims);
    if (count == 0) return x;
    const Op flat = l.Reshape(x, {Count(l.dims(x))});
    const Op written = ScatterFlat(l, flat, LinearIndices(l, step), l.Reshape(update, {count}), count);
    return l.Reshape(written, l.dims(x));
  }
};

}  // namespace

View WholeView(const Dims& dims) { return {{}, dims, hlo::RowMajorStrides(dims), 0, 0}; }

View FirstSteps(const View& view, size_t count) {
  View first;
  first.steps.assign(view.steps.begin(), view.steps.begin() + static_cast<std::ptrdiff_t>(count));
  return first;
}

View StepsAfter(const View& view, size_t count) {
  View rest;
  rest.steps.assign(view.steps.begin() + static_cast<std::ptrdiff_t>(count), view.steps.end());
  return rest;
}

namespace {

// Returns true when the elements are contiguous, in any order of the dimensions.
bool IsDense(const View& view) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // Pairs of stride and size.
  for (size_t i = 0; i < view.dims.size(); ++i) {
    if (view.dims[i] > 1) dims.emplace_back(view.strides[i], view.dims[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

}  // namespace

bool Overlaps(const View& view) { return Overlap(view.dims, view.strides); }

bool OverlapInPart(const View& a, const View& b) {
  const int64_t a_count = Count(a.dims), b_count = Count(b.dims);
  if (a_count == 0 || b_count == 0 || !IsDense(a) || !IsDense(b)) return false;
  if (a.offset == b.offset && a_count == b_count) return a.strides != b.strides;
  return a.offset < b.offset + b_count && b.offset < a.offset + a_count;
}

bool IsContiguous(const View& view) {
  int64_t expected = 1;
  for (size_t i = view.dims.size(); i-- > 0;) {
    if (view.dims[i] == 0) return true;
    if (view.dims[i] != 1 && view.strides[i] != expected) return false;
    expected *= view.dims[i];
  }
  return true;
}

std::optional<Dims> ReshapedStrides(const View& view, const Dims& dims) {
  if (Count(dims) == 0) return view.dims == dims ? view.strides : hlo::RowMajorStrides(dims);
  Dims strides(dims.size(), 1);
  // From the last dimension on: contiguous runs of old dimensions are split into the new ones.
  size_t next = dims.size();
  int64_t run_stride = view.strides.empty() ? 1 : view.strides.back();
  int64_t old_count = 1, new_count = 1;
  for (size_t i = view.dims.size(); i-- > 0;) {
    old_count *= view.dims[i];
    const bool run_ends = i == 0 || (view.dims[i - 1] != 1 && view.strides[i - 1] != old_count * run_stride);
    if (!run_ends) continue;
    while (next > 0 && (new_count < old_count || dims[next - 1] == 1)) {
      strides[--next] = new_count * run_stride;
      new_count *= dims[next];
    }
    if (new_count != old_count) return std::nullopt;
    if (i > 0) run_stride = view.strides[i - 1];
    old_count = new_count = 1;
  }
  return strides;
}

Op Apply(Lowering& l, const View& view, Op base) {
  for (const ViewStep& step : view.steps) base = std::visit(Forward{l, base}, step);
  return base;
}

Op Scatter(Lowering& l, const View& view, Op base, Op update) {
  std::vector<Op> shown = {base};  // The values before each step, and after the last.
  for (const ViewStep& step : view.steps) shown.push_back(std::visit(Forward{l, shown.back()}, step));
  for (size_t i = view.steps.size(); i-- > 0;) {
    update = std::visit(Backward{l, shown[i], update}, view.steps[i]);
  }
  return update;
}

}  // namespace hlod::lazy

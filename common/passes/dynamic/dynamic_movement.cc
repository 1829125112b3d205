// Reshapes, slices, pads and concatenations of arrays with dynamic dimensions.
#include <algorithm>
#include <utility>

#include "common/base/text/strings.h"
#include "common/hlo/dynamic/dynamic_reshape.h"
#include "common/passes/dynamic/dynamic_rules.h"

namespace hlod::passes::dynamic_rules {

using namespace hlo;  // The passes are functions over the IR.

namespace {

bool IsPrefix(const Dims& bounds, const DynamicSizes& sizes) {
  bool first = true;
  for (size_t d = 0; d < bounds.size(); ++d) {
    if (sizes[d] && !first) return false;
    if (bounds[d] != 1) first = false;
  }
  return true;
}

}  // namespace

absl::Status Reverse(DynamicRewrite& w, Instruction instruction, Operands x) {
  Op data = w.Same(instruction, {x[0].data});
  for (const int64_t d : instruction.dimensions()) {
    if (!x[0].sizes[d]) continue;
    // Reversing at the bounds has moved the existing elements to the end; this moves them back to the front.
    const int64_t bound = w.arrays().Bounds(x[0])[d];
    data = w.arrays().Take(
        data, d, w.b().Iota(Shape::Array(kS32, {bound}), 0) + (w.arrays().Number(bound) - *x[0].sizes[d]));
  }
  return w.Done(instruction, data, x[0].sizes);
}

absl::Status Reshape(DynamicRewrite& w, Instruction instruction, Operands x) {
  const Shape& to = instruction.shape();
  absl::StatusOr<std::vector<ReshapeGroup>> groups = DynamicReshapeGroups(instruction.operand(0).shape(), to);
  if (!groups.ok()) return w.Refuse(instruction, FromAbsl(groups.status().message()));
  DynamicSizes sizes(to.dims.size());
  Dims flat;
  struct Move {
    int64_t dimension;
    Op places;
  };
  std::vector<Move> moves;
  for (const ReshapeGroup& group : *groups) {
    Dims in, out;
    DynamicSizes in_dynamic, out_dynamic;
    std::vector<Op> in_sizes, out_sizes;
    int64_t count = 1, others = 1;
    for (const int64_t d : group.input) {
      in.push_back(w.arrays().Bounds(x[0])[d]);
      count *= in.back();
      in_dynamic.push_back(x[0].sizes[d]);
    }
    flat.push_back(count);
    if (!group.dynamic_output) continue;
    for (const int64_t d : group.input) in_sizes.push_back(w.arrays().Size(x[0], d));
    for (const int64_t d : group.output) others *= d == *group.dynamic_output ? 1 : to.dims[d];
    if (count > INT32_MAX || others == 0) return w.Refuse(instruction, "is too large");
    const Op total = w.arrays().Product(in_sizes);
    Op size = total;
    if (others != 1) {
      size = w.b().Binary(kDivide, total, w.arrays().Number(others));
      const Op whole = size * w.arrays().Number(others);
      size =
          w.b().Binary(kDivide, w.arrays().SameSize(total, whole, instruction.name(), *group.dynamic_output),
                       w.arrays().Number(others));
    }
    for (const int64_t d : group.output) {
      const bool dynamic = d == *group.dynamic_output;
      out.push_back(to.dims[d]);
      out_sizes.push_back(dynamic ? size : w.arrays().Number(to.dims[d]));
      out_dynamic.push_back(dynamic ? std::optional<Op>(size) : std::nullopt);
    }
    sizes[*group.dynamic_output] = size;
    if (IsPrefix(in, in_dynamic) && IsPrefix(out, out_dynamic)) continue;
    moves.push_back(
        {static_cast<int64_t>(flat.size()) - 1, w.arrays().PlacesOfReshaped(in, in_sizes, out, out_sizes)});
  }
  Op data = x[0].data;
  if (!moves.empty()) data = w.b().Reshape(data, flat);
  for (const Move& move : moves) data = w.arrays().Take(data, move.dimension, move.places);
  return w.Done(instruction, w.b().Reshape(data, to.dims), std::move(sizes));
}

absl::Status DynamicReshape(DynamicRewrite& w, Instruction instruction, Operands x) {
  const Shape& to = instruction.shape();
  const std::optional<int64_t> count = ElementCount(to);
  if (!count || *count > INT32_MAX) return w.Refuse(instruction, "is too large");
  std::vector<Op> from_sizes, to_sizes;
  DynamicSizes sizes(to.dims.size());
  for (size_t d = 0; d < x[0].sizes.size(); ++d)
    from_sizes.push_back(w.arrays().Size(x[0], static_cast<int64_t>(d)));
  for (int64_t d = 0; d < to.rank(); ++d) {
    const Op bound = w.arrays().Number(to.dims[d]);
    to_sizes.push_back(to.IsDynamic(d)
                           ? w.arrays().CheckedSize(x[1 + d].data, bound, instruction.name(), to.dims[d])
                           : w.arrays().SameSize(x[1 + d].data, bound, instruction.name(), d));
    if (to.IsDynamic(d)) sizes[d] = to_sizes[d];
  }
  // The result of the check is used as a size, so that the check stays as long as the result is used.
  const Op total = w.arrays().Product(from_sizes), wanted = w.arrays().Product(to_sizes);
  const Op excess = w.arrays().SameSize(total, wanted, instruction.name(), 0) - total;
  for (size_t d = 0; d < sizes.size(); ++d) {
    to_sizes[d] = to_sizes[d] + excess;
    if (sizes[d]) sizes[d] = to_sizes[d];
  }
  const Op flat = w.b().Reshape(x[0].data, {*count});
  const Op moved = w.arrays().Take(
      flat, 0, w.arrays().PlacesOfReshaped(w.arrays().Bounds(x[0]), from_sizes, to.dims, to_sizes));
  return w.Done(instruction, w.b().Reshape(moved, to.dims), std::move(sizes));
}

absl::Status Slice(DynamicRewrite& w, Instruction instruction, Operands x) {
  const auto& slice = instruction.attributes<SliceAttributes>();
  DynamicSizes sizes(x[0].sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!x[0].sizes[d]) continue;
    const Op end = w.b().Binary(kMinimum, *x[0].sizes[d], w.arrays().Number(slice.limit[d]));
    const Op left = w.b().Binary(kMaximum, end - w.arrays().Number(slice.start[d]), w.arrays().Number(0));
    // A longer step takes the first element alone, too, and may not be a number of the type of sizes.
    const int64_t step = std::min(slice.stride[d], std::max<int64_t>(1, slice.limit[d] - slice.start[d]));
    sizes[d] = w.b().Binary(kDivide, left + w.arrays().Number(step - 1), w.arrays().Number(step));
  }
  return w.Done(instruction, w.Same(instruction, {x[0].data}), std::move(sizes));
}

absl::Status Pad(DynamicRewrite& w, Instruction instruction, Operands x) {
  const std::vector<PadDimension>& padding = instruction.attributes<PadAttributes>().dimensions;
  const Dims& bounds = instruction.shape().dims;
  DynamicSizes sizes(x[0].sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!x[0].sizes[d]) continue;
    const Op size = *x[0].sizes[d];
    const Op between = w.b().Binary(kMaximum, size - w.arrays().Number(1), w.arrays().Number(0));
    const Op padded = size + between * w.arrays().Number(padding[d].interior) +
                      w.arrays().Number(padding[d].low + padding[d].high);
    if (padding[d].low < INT32_MIN / 4 || padding[d].low > INT32_MAX / 4 || padding[d].high < INT32_MIN / 4 ||
        padding[d].high > INT32_MAX / 4)
      return w.Refuse(instruction, "pads too far");
    sizes[d] = w.arrays().CheckedSize(padded, w.arrays().Number(bounds[d]), instruction.name(), bounds[d]);
  }
  return w.Done(instruction, w.Same(instruction, {w.arrays().Masked(x[0], x[1].data), x[1].data}),
                std::move(sizes));
}

absl::Status Concatenate(DynamicRewrite& w, Instruction instruction, Operands x) {
  const int64_t along = instruction.dimensions()[0];
  const Shape& stated = instruction.shape();
  DynamicSizes sizes = w.CommonSizes(instruction, x, x.size(), along);
  bool moves = false;
  std::vector<Op> data;
  for (const DynamicArray& array : x) {
    moves |= array.sizes[along].has_value();
    data.push_back(array.data);
  }
  if (!moves) return w.Done(instruction, w.Same(instruction, data), std::move(sizes));
  // Each array begins where the previous one ends, and overwrites the previous one's elements beyond its
  // size.
  Op result = w.b().Broadcast(w.arrays().Zero(stated.type), stated.dims, {}), end = w.arrays().Number(0);
  for (const DynamicArray& array : x) {
    std::vector<Op> starts(stated.dims.size(), w.arrays().Number(0));
    starts[along] = end;
    result = w.b().DynamicUpdateSlice(result, array.data, starts);
    end = end + w.arrays().Size(array, along);
  }
  sizes[along] = end;
  return w.Done(instruction, result, std::move(sizes));
}

}  // namespace hlod::passes::dynamic_rules

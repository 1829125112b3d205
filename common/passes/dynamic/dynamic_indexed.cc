// Slices and windows at run-time indices, of arrays with dynamic dimensions.
#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/passes/dynamic/dynamic_rules.h"

namespace hlod::passes::dynamic_rules {

using namespace hlo;  // The passes are functions over the IR.

namespace {

// Returns the last start at which `length` elements exist. Checked: `length` elements must exist.
Op LastStart(DynamicRewrite& w, Instruction instruction, Op size, int64_t length, int64_t bound) {
  return size - w.arrays().CheckedSize(w.arrays().Number(length), size, instruction.name(), bound);
}

}  // namespace

absl::Status DynamicSlice(DynamicRewrite& w, Instruction instruction, Operands x) {
  const Dims& lengths = instruction.attributes<DynamicSliceAttributes>().sizes;
  std::vector<Op> operands = {x[0].data};
  for (size_t d = 0; d < x[0].sizes.size(); ++d) {
    Op start = x[1 + d].data;
    if (x[0].sizes[d]) {
      const PrimitiveType type = w.b().shape(start).type;
      if (Info(type).bits < 32) return w.Refuse(instruction, "has start indices of less than 32 bits");
      const Op last = LastStart(w, instruction, *x[0].sizes[d], lengths[d], w.arrays().Bounds(x[0])[d]);
      start = w.b().Binary(kMinimum, start, w.b().Convert(last, type));
    }
    operands.push_back(start);
  }
  return w.Done(instruction, w.Same(instruction, operands), DynamicSizes(lengths.size()));
}

absl::Status DynamicUpdateSlice(DynamicRewrite& w, Instruction instruction, Operands x) {
  const DynamicArray &whole = x[0], &update = x[1];
  const Dims &bounds = w.arrays().Bounds(whole), &lengths = w.arrays().Bounds(update);
  std::vector<Op> starts;
  std::vector<PadDimension> room(bounds.size());
  bool partial = false;
  for (size_t i = 0; i < bounds.size(); ++i) {
    const auto d = static_cast<int64_t>(i);
    Op start = x[2 + i].data;
    if (whole.sizes[d] || update.sizes[d]) {
      if (Info(w.b().shape(start).type).bits < 32)
        return w.Refuse(instruction, "has start indices of less than 32 bits");
      const Op size = w.arrays().Size(whole, d);
      const Op length =
          w.arrays().CheckedSize(w.arrays().Size(update, d), size, instruction.name(), bounds[d]);
      const PrimitiveType type = w.b().shape(start).type;
      start = w.b().Clamp(w.arrays().Zero(type), start, w.b().Convert(size - length, type));
    }
    if (update.sizes[d]) {
      room[i].high = lengths[d];
      partial = true;
    }
    starts.push_back(start);
  }
  if (!partial)
    return w.Done(instruction, w.b().DynamicUpdateSlice(whole.data, update.data, starts), whole.sizes);
  // Positions beyond the sizes of the update keep their old elements.
  const Op padded = w.b().Pad(whole.data, w.arrays().Zero(w.arrays().Type(whole)), room);
  const Op before = w.b().DynamicSlice(padded, starts, lengths);
  std::optional<Op> there;
  for (size_t d = 0; d < lengths.size(); ++d) {
    if (!update.sizes[d]) continue;
    const Op below = w.arrays().Below(lengths, static_cast<int64_t>(d), *update.sizes[d]);
    there = there ? w.b().Binary(kAnd, *there, below) : below;
  }
  const Op written = w.b().DynamicUpdateSlice(padded, w.b().Select(*there, update.data, before), starts);
  return w.Done(instruction, w.b().Slice(written, Dims(bounds.size(), 0), bounds), whole.sizes);
}

absl::Status Gather(DynamicRewrite& w, Instruction instruction, Operands x) {
  const auto& gather = instruction.attributes<GatherAttributes>();
  const Shape& stated = instruction.shape();
  const Dims& bounds = w.arrays().Bounds(x[0]);
  const auto among = [](const Dims& some, int64_t d) { return std::ranges::find(some, d) != some.end(); };
  DynamicSizes sizes(stated.dims.size()), last(bounds.size());
  size_t offset = 0;
  bool clamps = false;
  for (int64_t d = 0; d < static_cast<int64_t>(bounds.size()); ++d) {
    const bool kept = !among(gather.operand_batching_dims, d) && !among(gather.collapsed_slice_dims, d);
    if (x[0].sizes[d] && kept && gather.slice_sizes[d] == bounds[d]) {
      sizes[gather.offset_dims[offset]] = x[0].sizes[d];
    } else if (x[0].sizes[d]) {
      if (!among(gather.start_index_map, d) || gather.slice_sizes[d] == bounds[d])
        return w.Refuse(instruction, absl::StrFormat("does not index dimension %d of its operand", d));
      last[d] = LastStart(w, instruction, *x[0].sizes[d], gather.slice_sizes[d], bounds[d]);
      clamps = true;
    }
    if (kept) ++offset;
  }
  int64_t index_dimension = 0;
  for (int64_t d = 0; d < stated.rank(); ++d) {
    if (among(gather.offset_dims, d)) continue;
    if (index_dimension == gather.index_vector_dim) ++index_dimension;
    sizes[d] = x[1].sizes[index_dimension++];
  }
  Op indices = x[1].data;
  if (clamps) {
    const Shape shape = w.b().shape(indices);
    if (Info(shape.type).bits < 32) return w.Refuse(instruction, "has indices of less than 32 bits");
    std::vector<Op> limits;
    for (const int64_t d : gather.start_index_map)
      limits.push_back(
          w.b().Reshape(w.b().Convert(last[d].value_or(w.arrays().Number(INT32_MAX)), shape.type), {1}));
    const bool scalar = gather.index_vector_dim == shape.rank();
    const Op limit =
        scalar ? w.b().Broadcast(w.b().Reshape(limits[0], {}), shape.dims, {})
               : w.b().Broadcast(w.b().Concatenate(limits, 0), shape.dims, {gather.index_vector_dim});
    indices = w.b().Binary(kMinimum, indices, limit);
  }
  return w.Done(instruction, w.Same(instruction, {x[0].data, indices}), std::move(sizes));
}

// Windows whose indices are beyond the sizes are dropped: their indices are set outside the operand.
absl::Status Scatter(DynamicRewrite& w, Instruction instruction, Operands x) {
  const auto& scatter = instruction.attributes<ScatterAttributes>();
  const size_t count = x.size() / 2;
  const DynamicArray& indices = x[count];
  for (size_t i = 0; i < count; ++i) {
    for (size_t d = 0; d < x[i].sizes.size(); ++d) {
      if (x[i].sizes[d]) return w.Refuse(instruction, absl::StrFormat("into dimension %d of its operand", d));
    }
  }
  DynamicSizes wanted = indices.sizes;
  for (size_t i = count + 1; i < x.size(); ++i) {
    int64_t index_dimension = 0;
    for (int64_t d = 0; d < static_cast<int64_t>(x[i].sizes.size()); ++d) {
      if (std::ranges::find(scatter.update_window_dims, d) != scatter.update_window_dims.end()) {
        if (x[i].sizes[d])
          return w.Refuse(instruction, absl::StrFormat("with windows along dimension %d of its updates", d));
        continue;
      }
      if (index_dimension == scatter.index_vector_dim) ++index_dimension;
      if (x[i].sizes[d] || wanted[index_dimension]) {
        const Op of_indices =
            wanted[index_dimension] ? *wanted[index_dimension] : w.arrays().Size(indices, index_dimension);
        wanted[index_dimension] =
            w.arrays().SameSize(of_indices, w.arrays().Size(x[i], d), instruction.name(), d);
      }
      ++index_dimension;
    }
  }
  if (scatter.index_vector_dim < static_cast<int64_t>(wanted.size()) && wanted[scatter.index_vector_dim])
    return w.Refuse(instruction, "with index vectors of a dynamic size");
  if (scatter.scatter_dims_to_operand_dims.empty() || Info(w.arrays().Type(indices)).bits < 32)
    return w.Refuse(instruction, "has no indices of at least 32 bits");
  std::vector<Op> operands;
  for (const DynamicArray& array : x) operands.push_back(array.data);
  const Op outside = w.b().Unary(kNot, w.arrays().Zero(w.arrays().Type(indices)));
  operands[count] = w.arrays().Masked({indices.data, wanted}, outside);
  // Masked indices are neither sorted nor distinct.
  ScatterAttributes attributes = scatter;
  attributes.indices_are_sorted = attributes.unique_indices = false;
  return w.DoneTuple(instruction, w.Same(instruction, operands, std::move(attributes)), count);
}

}  // namespace hlod::passes::dynamic_rules

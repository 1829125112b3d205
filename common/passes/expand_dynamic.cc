// The rules, one an opcode. Each makes the instruction's array at its bounds, and says which sizes it has.
#include "common/passes/expand_dynamic.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/evaluator/custom_calls.h"
#include "common/hlo/builder.h"
#include "common/hlo/dynamic_reshape.h"
#include "common/hlo/dynamic_result.h"
#include "common/passes/copy.h"
#include "common/passes/dynamic_arrays.h"

namespace hlod {

using namespace hlo;  // The passes are functions over the IR.

namespace {

using Sizes = std::vector<std::optional<Op>>;

// What stands for a value where it is one value (in tuples, calls and loops): an array with dynamic
// dimensions is a tuple of the array at its bounds and their sizes.
Shape PackedShape(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.tuple) elements.push_back(PackedShape(element));
    return Shape::Tuple(std::move(elements));
  }
  if (!shape.HasDynamicDimension()) return shape;
  std::vector<Shape> parts = {Shape::Array(shape.type, shape.dims)};
  for (const bool dynamic : shape.dynamic) {
    if (dynamic) parts.push_back(Shape::Scalar(kS32));
  }
  return Shape::Tuple(std::move(parts));
}

bool TouchesDynamic(Instruction instruction) {
  if (instruction.shape().HasDynamicDimension()) return true;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (instruction.operand(i).shape().HasDynamicDimension()) return true;
  }
  return false;
}

// Opcodes that hand on whole values.
bool IsPlumbing(Opcode opcode) {
  switch (opcode) {
    case kParameter:
    case kTuple:
    case kGetTupleElement:
    case kWhile:
    case kConditional:
    case kCall:
    case kFusion:
    case kOptBarrier: return true;
    default: return false;
  }
}

// The opcode of a computation that joins its two parameters and nothing else.
std::optional<Opcode> JoinOf(const Computation& computation) {
  const Instruction root = computation.root();
  if (root.operand_count() != 2 || computation.parameters().size() != 2) return std::nullopt;
  if (root.operand(0).opcode() != kParameter || root.operand(1).opcode() != kParameter) return std::nullopt;
  if (root.operands()[0] == root.operands()[1]) return std::nullopt;
  return root.opcode();
}

// A comparator of sort over the given one, with a pred before the operands: what is marked comes last.
ComputationId MarkedComparator(Module& to, Instruction sort, ComputationId comparator) {
  Builder b(to, "marked_last." + std::to_string(to.computation_count()));
  const Op left = b.Parameter(0, Shape::Scalar(kPred)), right = b.Parameter(1, Shape::Scalar(kPred));
  std::vector<Op> rest;
  for (uint32_t i = 0; i < sort.operand_count(); ++i) {
    for (int side = 0; side < 2; ++side) {
      rest.push_back(
          b.Parameter(static_cast<int64_t>(2 + rest.size()), Shape::Scalar(sort.operand(i).shape().type)));
    }
  }
  const Op before = b.Call(rest, comparator);
  const Op alike = b.Compare(left, right, ComparisonDirection::kEq);
  const Op first = b.Binary(kAnd, b.Unary(kNot, left), right);
  static_cast<void>(b.Build(b.Binary(kOr, first, b.Binary(kAnd, alike, before))));
  return b.id();
}

bool SortsDynamic(Instruction instruction) {
  if (instruction.opcode() != kSort) return false;
  const int64_t d = instruction.attributes<SortAttributes>().dimension;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (instruction.operand(i).shape().IsDynamic(d)) return true;
  }
  return false;
}

class Expander {
 public:
  // comparators[id]: of the sorts along a dynamic dimension.
  Expander(const Module& module, const Computation& from, Module& result,
           const std::vector<ComputationId>& computations, const std::vector<ComputationId>& comparators)
      : from_(from),
        computations_(computations),
        comparators_(comparators),
        copy_(module, from, AddEmptyCopy(result, from), computations),
        b_(result, copy_.to()),
        arrays_(b_),
        unpacked_(from.size()) {}

  // Of the entry the result is stored (hlo::kDynamicResultTarget); else it stays one value.
  absl::Status Run(bool is_entry) {
    for (NodeId id = 0; id < from_.size(); ++id) {
      const Instruction instruction = from_[id];
      if (!TouchesDynamic(instruction)) {
        copy_.set_node(id, copy_.Clone(instruction));
        continue;
      }
      RETURN_IF_ERROR(CheckBounds(instruction));
      RETURN_IF_ERROR(Expand(instruction));
      RETURN_IF_ERROR(b_.status());
    }
    Op root{&b_, Pack(from_.root_id())};
    if (is_entry && from_.root().shape().HasDynamicDimension()) root = Stored(root, from_.root().shape());
    copy_.to().set_root(root.id);
    return b_.status();
  }

 private:
  absl::Status Refuse(Instruction instruction, std::string_view why) const {
    return Unimplemented(
        "Instruction %s of computation %s: %s on dynamic dimensions (%s) %s", instruction.name(),
        from_.name(), Name(instruction.opcode()),
        ToStringNoLayout((instruction.shape().HasDynamicDimension() || instruction.operand_count() == 0
                              ? instruction.shape()
                              : instruction.operand(0).shape())),
        why);
  }

  absl::Status CheckBounds(Instruction instruction) const {
    for (const ShapeLeaf& leaf : Leaves(instruction.shape())) {
      for (int64_t d = 0; d < leaf.shape->rank(); ++d) {
        if (!leaf.shape->IsDynamic(d) || (leaf.shape->dims[d] >= 0 && leaf.shape->dims[d] <= INT32_MAX))
          continue;
        return Unimplemented("Dimension %d of instruction %s of computation %s (%s) has no bound up to %d", d,
                             instruction.name(), from_.name(), ToStringNoLayout(instruction.shape()),
                             INT32_MAX);
      }
    }
    return absl::OkStatus();
  }

  // The one value of an old instruction.
  NodeId Pack(NodeId old) {
    if (copy_.node(old) == Computation::kNoNode) {
      const DynamicArray& array = *unpacked_[old];
      std::vector<Op> parts = {array.data};
      for (const std::optional<Op>& size : array.sizes) {
        if (size) parts.push_back(*size);
      }
      copy_.set_node(old, b_.Tuple(parts).id);
    }
    return copy_.node(old);
  }

  // A value whose arrays with dynamic dimensions are as a program returns them.
  Op Stored(Op value, const Shape& shape) {
    if (!shape.HasDynamicDimension()) return value;
    if (shape.IsTuple()) {
      std::vector<Op> elements;
      for (size_t i = 0; i < shape.tuple.size(); ++i)
        elements.push_back(Stored(b_.GetTupleElement(value, static_cast<int64_t>(i)), shape.tuple[i]));
      return b_.Tuple(elements);
    }
    std::vector<Op> operands = {b_.GetTupleElement(value, 0)};
    int64_t next = 1;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      operands.push_back(shape.IsDynamic(d) ? b_.GetTupleElement(value, next++)
                                            : arrays_.Number(shape.dims[d]));
    }
    const Shape bytes = Shape::Array(kU8, {StoredByteSize(shape).value_or(0)});
    return b_.Add(kCustomCall, operands, MakeDynamicResult(shape), {}, &bytes);
  }

  // An operand that is an array.
  const DynamicArray& Array(Instruction instruction, uint32_t i) {
    const NodeId old = instruction.operands()[i];
    if (unpacked_[old]) return *unpacked_[old];
    const Shape& shape = from_[old].shape();
    DynamicArray array{{&b_, copy_.node(old)}, Sizes(shape.dims.size())};
    if (shape.HasDynamicDimension()) {
      const Op packed = array.data;
      array.data = b_.GetTupleElement(packed, 0);
      int64_t next = 1;
      for (int64_t d = 0; d < shape.rank(); ++d) {
        if (shape.IsDynamic(d)) array.sizes[d] = b_.GetTupleElement(packed, next++);
      }
    }
    unpacked_[old] = std::move(array);
    return *unpacked_[old];
  }
  std::vector<DynamicArray> AllArrays(Instruction instruction) {
    std::vector<DynamicArray> all;
    for (uint32_t i = 0; i < instruction.operand_count(); ++i) all.push_back(Array(instruction, i));
    return all;
  }

  // Takes what has been made of an array instruction.
  absl::Status Done(Instruction instruction, Op data, Sizes sizes) {
    RETURN_IF_ERROR(b_.status());
    const Shape& stated = instruction.shape();
    if (stated.dims != b_.shape(data).dims) return Refuse(instruction, "has another size at its bounds");
    for (int64_t d = 0; d < stated.rank(); ++d) {
      if (stated.IsDynamic(d) && !sizes[d])
        return Refuse(instruction, absl::StrFormat("does not say what size dimension %d has", d));
      if (!stated.IsDynamic(d) && sizes[d])
        return Refuse(instruction, absl::StrFormat("states a size of dimension %d, which is dynamic", d));
    }
    if (!stated.HasDynamicDimension()) copy_.set_node(instruction.id(), data.id);
    else unpacked_[instruction.id()] = DynamicArray{data, std::move(sizes)};
    return absl::OkStatus();
  }
  // The same of each element of an instruction that may be a tuple.
  absl::Status DoneAll(Instruction instruction, const std::vector<Op>& data, const Sizes& sizes) {
    if (!instruction.shape().IsTuple()) return Done(instruction, data[0], sizes);
    std::vector<Op> elements;
    for (const Op element : data) {
      std::vector<Op> parts = {element};
      for (const std::optional<Op>& size : sizes) {
        if (size) parts.push_back(*size);
      }
      elements.push_back(parts.size() == 1 ? element : b_.Tuple(parts));
    }
    const Op tuple = b_.Tuple(elements);
    RETURN_IF_ERROR(b_.status());
    if (!Compatible(b_.shape(tuple), PackedShape(instruction.shape())))
      return Refuse(instruction, "has other dynamic dimensions than it states");
    copy_.set_node(instruction.id(), tuple.id);
    return absl::OkStatus();
  }

  // The instruction as it is, over arrays at their bounds.
  Op Same(Instruction instruction, absl::Span<const Op> operands) {
    return Same(instruction, operands, instruction.attributes());
  }
  Op Same(Instruction instruction, absl::Span<const Op> operands, Attributes attributes) {
    std::vector<ComputationId> called;
    for (const ComputationId callee : instruction.called()) called.push_back(computations_[callee]);
    Shape declared = instruction.shape();
    declared.layout.reset();
    declared.dynamic.clear();
    return b_.Add(instruction.opcode(), operands, std::move(attributes), called,
                  instruction.shape().IsArray() ? &declared : nullptr);
  }

  // Sizes of operands [0, count) that are of one shape; dimension `apart` may differ.
  Sizes CommonSizes(Instruction instruction, const std::vector<DynamicArray>& operands, size_t count,
                    int64_t apart = -1) {
    Sizes sizes;
    for (size_t i = 0; i < count; ++i) {
      if (operands[i].sizes.empty()) continue;
      if (sizes.empty()) sizes.resize(operands[i].sizes.size());
      for (size_t d = 0; d < sizes.size(); ++d) {
        if (static_cast<int64_t>(d) == apart) continue;
        sizes[d] =
            arrays_.Common(sizes[d], operands[i].sizes[d], instruction.name(), static_cast<int64_t>(d));
      }
    }
    return sizes;
  }

  absl::Status Expand(Instruction instruction) {
    if (IsPlumbing(instruction.opcode())) {
      for (const NodeId operand : instruction.operands()) Pack(operand);
      copy_.set_node(instruction.id(),
                     copy_.Clone(instruction, copy_.tables().Intern(PackedShape(instruction.shape()))));
      return absl::OkStatus();
    }
    for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
      if (!instruction.operand(i).shape().IsArray()) return Refuse(instruction, "is not run here");
    }
    const std::vector<DynamicArray> x = AllArrays(instruction);
    switch (instruction.opcode()) {
      case kSetDimensionSize: return SetDimensionSize(instruction, x);
      case kGetDimensionSize: return Done(instruction, arrays_.Size(x[0], instruction.dimensions()[0]), {});
      case kCopy: return Done(instruction, x[0].data, x[0].sizes);
      case kMap: return Elementwise(instruction, x);
      case kBitcastConvert: {
        Sizes sizes = x[0].sizes;
        sizes.resize(instruction.shape().dims.size());
        return Done(instruction, Same(instruction, {x[0].data}), std::move(sizes));
      }
      case kBroadcast: {
        Sizes sizes(instruction.shape().dims.size());
        for (size_t i = 0; i < x[0].sizes.size(); ++i) sizes[instruction.dimensions()[i]] = x[0].sizes[i];
        return Done(instruction, Same(instruction, {x[0].data}), std::move(sizes));
      }
      case kTranspose: {
        Sizes sizes;
        for (const int64_t d : instruction.dimensions()) sizes.push_back(x[0].sizes[d]);
        return Done(instruction, Same(instruction, {x[0].data}), std::move(sizes));
      }
      case kReverse: return Reverse(instruction, x[0]);
      case kReshape: return Reshape(instruction, x[0]);
      case kDynamicReshape: return DynamicReshape(instruction, x);
      case kSlice: return Slice(instruction, x[0]);
      case kDynamicSlice: return DynamicSlice(instruction, x);
      case kDynamicUpdateSlice: return DynamicUpdateSlice(instruction, x);
      case kPad: return Pad(instruction, x);
      case kConcatenate: return Concatenate(instruction, x);
      case kGather: return Gather(instruction, x);
      case kScatter: return Scatter(instruction, x);
      case kReduce: return Reduce(instruction, x);
      case kReduceWindow: return ReduceWindow(instruction, x);
      case kSort: return Sort(instruction, x);
      case kDot: return Dot(instruction, x);
      case kConvolution: return Convolution(instruction, x);
      case kCustomCall:
        if (IsIdentityCustomCall(instruction)) return Done(instruction, x[0].data, x[0].sizes);
        return Refuse(instruction, "is not run here");
      default:
        if (HasTrait(instruction.opcode(), kElementwise)) return Elementwise(instruction, x);
        return Refuse(instruction, "is not run here");
    }
  }

  absl::Status Elementwise(Instruction instruction, const std::vector<DynamicArray>& x) {
    std::vector<Op> data;
    for (const DynamicArray& array : x) data.push_back(array.data);
    return Done(instruction, Same(instruction, data), CommonSizes(instruction, x, x.size()));
  }

  absl::Status SetDimensionSize(Instruction instruction, const std::vector<DynamicArray>& x) {
    const int64_t d = instruction.dimensions()[0];
    Sizes sizes = x[0].sizes;
    sizes[d] =
        arrays_.CheckedSize(x[1].data, arrays_.Size(x[0], d), instruction.name(), arrays_.Bounds(x[0])[d]);
    return Done(instruction, x[0].data, std::move(sizes));
  }

  absl::Status Reverse(Instruction instruction, const DynamicArray& x) {
    Op data = Same(instruction, {x.data});
    for (const int64_t d : instruction.dimensions()) {
      if (!x.sizes[d]) continue;
      // What is there has come to the end.
      const int64_t bound = arrays_.Bounds(x)[d];
      data = arrays_.Take(data, d,
                          b_.Iota(Shape::Array(kS32, {bound}), 0) + (arrays_.Number(bound) - *x.sizes[d]));
    }
    return Done(instruction, data, x.sizes);
  }

  static bool IsPrefix(const Dims& bounds, const Sizes& sizes) {
    bool first = true;
    for (size_t d = 0; d < bounds.size(); ++d) {
      if (sizes[d] && !first) return false;
      if (bounds[d] != 1) first = false;
    }
    return true;
  }

  absl::Status Reshape(Instruction instruction, const DynamicArray& x) {
    const Shape& to = instruction.shape();
    absl::StatusOr<std::vector<ReshapeGroup>> groups =
        DynamicReshapeGroups(instruction.operand(0).shape(), to);
    if (!groups.ok()) return Refuse(instruction, FromAbsl(groups.status().message()));
    Sizes sizes(to.dims.size());
    Dims flat;
    struct Move {
      int64_t dimension;
      Op places;
    };
    std::vector<Move> moves;
    for (const ReshapeGroup& group : *groups) {
      Dims in, out;
      Sizes in_dynamic, out_dynamic;
      std::vector<Op> in_sizes, out_sizes;
      int64_t count = 1, others = 1;
      for (const int64_t d : group.input) {
        in.push_back(arrays_.Bounds(x)[d]);
        count *= in.back();
        in_dynamic.push_back(x.sizes[d]);
      }
      flat.push_back(count);
      if (!group.dynamic_output) continue;
      for (const int64_t d : group.input) in_sizes.push_back(arrays_.Size(x, d));
      for (const int64_t d : group.output) others *= d == *group.dynamic_output ? 1 : to.dims[d];
      if (count > INT32_MAX || others == 0) return Refuse(instruction, "is too large");
      const Op total = arrays_.Product(in_sizes);
      Op size = total;
      if (others != 1) {
        size = b_.Binary(kDivide, total, arrays_.Number(others));
        const Op whole = size * arrays_.Number(others);
        size = b_.Binary(kDivide, arrays_.SameSize(total, whole, instruction.name(), *group.dynamic_output),
                         arrays_.Number(others));
      }
      for (const int64_t d : group.output) {
        const bool dynamic = d == *group.dynamic_output;
        out.push_back(to.dims[d]);
        out_sizes.push_back(dynamic ? size : arrays_.Number(to.dims[d]));
        out_dynamic.push_back(dynamic ? std::optional<Op>(size) : std::nullopt);
      }
      sizes[*group.dynamic_output] = size;
      if (IsPrefix(in, in_dynamic) && IsPrefix(out, out_dynamic)) continue;
      moves.push_back(
          {static_cast<int64_t>(flat.size()) - 1, arrays_.PlacesOfReshaped(in, in_sizes, out, out_sizes)});
    }
    Op data = x.data;
    if (!moves.empty()) data = b_.Reshape(data, flat);
    for (const Move& move : moves) data = arrays_.Take(data, move.dimension, move.places);
    return Done(instruction, b_.Reshape(data, to.dims), std::move(sizes));
  }

  absl::Status DynamicReshape(Instruction instruction, const std::vector<DynamicArray>& x) {
    const Shape& to = instruction.shape();
    const std::optional<int64_t> count = ElementCount(to);
    if (!count || *count > INT32_MAX) return Refuse(instruction, "is too large");
    std::vector<Op> from_sizes, to_sizes;
    Sizes sizes(to.dims.size());
    for (size_t d = 0; d < x[0].sizes.size(); ++d)
      from_sizes.push_back(arrays_.Size(x[0], static_cast<int64_t>(d)));
    for (int64_t d = 0; d < to.rank(); ++d) {
      const Op bound = arrays_.Number(to.dims[d]);
      to_sizes.push_back(to.IsDynamic(d)
                             ? arrays_.CheckedSize(x[1 + d].data, bound, instruction.name(), to.dims[d])
                             : arrays_.SameSize(x[1 + d].data, bound, instruction.name(), d));
      if (to.IsDynamic(d)) sizes[d] = to_sizes[d];
    }
    // The check is part of a size, so that it stays while the result is used.
    const Op total = arrays_.Product(from_sizes), wanted = arrays_.Product(to_sizes);
    const Op excess = arrays_.SameSize(total, wanted, instruction.name(), 0) - total;
    for (size_t d = 0; d < sizes.size(); ++d) {
      to_sizes[d] = to_sizes[d] + excess;
      if (sizes[d]) sizes[d] = to_sizes[d];
    }
    const Op flat = b_.Reshape(x[0].data, {*count});
    const Op moved =
        arrays_.Take(flat, 0, arrays_.PlacesOfReshaped(arrays_.Bounds(x[0]), from_sizes, to.dims, to_sizes));
    return Done(instruction, b_.Reshape(moved, to.dims), std::move(sizes));
  }

  absl::Status Slice(Instruction instruction, const DynamicArray& x) {
    const auto& slice = instruction.attributes<SliceAttributes>();
    Sizes sizes(x.sizes.size());
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (!x.sizes[d]) continue;
      const Op end = b_.Binary(kMinimum, *x.sizes[d], arrays_.Number(slice.limit[d]));
      const Op left = b_.Binary(kMaximum, end - arrays_.Number(slice.start[d]), arrays_.Number(0));
      sizes[d] =
          b_.Binary(kDivide, left + arrays_.Number(slice.stride[d] - 1), arrays_.Number(slice.stride[d]));
    }
    return Done(instruction, Same(instruction, {x.data}), std::move(sizes));
  }

  // The last start at which `length` elements are there.
  Op LastStart(Instruction instruction, Op size, int64_t length, int64_t bound) {
    return size - arrays_.CheckedSize(arrays_.Number(length), size, instruction.name(), bound);
  }

  absl::Status DynamicSlice(Instruction instruction, const std::vector<DynamicArray>& x) {
    const Dims& lengths = instruction.attributes<DynamicSliceAttributes>().sizes;
    std::vector<Op> operands = {x[0].data};
    for (size_t d = 0; d < x[0].sizes.size(); ++d) {
      Op start = x[1 + d].data;
      if (x[0].sizes[d]) {
        const PrimitiveType type = b_.shape(start).type;
        if (Info(type).bits < 32) return Refuse(instruction, "has start indices of less than 32 bits");
        const Op last = LastStart(instruction, *x[0].sizes[d], lengths[d], arrays_.Bounds(x[0])[d]);
        start = b_.Binary(kMinimum, start, b_.Convert(last, type));
      }
      operands.push_back(start);
    }
    return Done(instruction, Same(instruction, operands), Sizes(lengths.size()));
  }

  absl::Status DynamicUpdateSlice(Instruction instruction, const std::vector<DynamicArray>& x) {
    const DynamicArray &whole = x[0], &update = x[1];
    const Dims &bounds = arrays_.Bounds(whole), &lengths = arrays_.Bounds(update);
    std::vector<Op> starts;
    std::vector<PadDimension> room(bounds.size());
    bool partial = false;
    for (size_t i = 0; i < bounds.size(); ++i) {
      const auto d = static_cast<int64_t>(i);
      Op start = x[2 + i].data;
      if (whole.sizes[d] || update.sizes[d]) {
        if (Info(b_.shape(start).type).bits < 32)
          return Refuse(instruction, "has start indices of less than 32 bits");
        const Op size = arrays_.Size(whole, d);
        const Op length = arrays_.CheckedSize(arrays_.Size(update, d), size, instruction.name(), bounds[d]);
        const PrimitiveType type = b_.shape(start).type;
        start = b_.Clamp(arrays_.Zero(type), start, b_.Convert(size - length, type));
      }
      if (update.sizes[d]) {
        room[i].high = lengths[d];
        partial = true;
      }
      starts.push_back(start);
    }
    if (!partial)
      return Done(instruction, b_.DynamicUpdateSlice(whole.data, update.data, starts), whole.sizes);
    // Beyond the sizes of the update is what was there before.
    const Op padded = b_.Pad(whole.data, arrays_.Zero(arrays_.Type(whole)), room);
    const Op before = b_.DynamicSlice(padded, starts, lengths);
    std::optional<Op> there;
    for (size_t d = 0; d < lengths.size(); ++d) {
      if (!update.sizes[d]) continue;
      const Op below = arrays_.Below(lengths, static_cast<int64_t>(d), *update.sizes[d]);
      there = there ? b_.Binary(kAnd, *there, below) : below;
    }
    const Op written = b_.DynamicUpdateSlice(padded, b_.Select(*there, update.data, before), starts);
    return Done(instruction, b_.Slice(written, Dims(bounds.size(), 0), bounds), whole.sizes);
  }

  absl::Status Pad(Instruction instruction, const std::vector<DynamicArray>& x) {
    const std::vector<PadDimension>& padding = instruction.attributes<PadAttributes>().dimensions;
    const Dims& bounds = instruction.shape().dims;
    Sizes sizes(x[0].sizes.size());
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (!x[0].sizes[d]) continue;
      const Op size = *x[0].sizes[d];
      const Op between = b_.Binary(kMaximum, size - arrays_.Number(1), arrays_.Number(0));
      const Op padded = size + between * arrays_.Number(padding[d].interior) +
                        arrays_.Number(padding[d].low + padding[d].high);
      if (padding[d].low < INT32_MIN / 4 || padding[d].low > INT32_MAX / 4 ||
          padding[d].high < INT32_MIN / 4 || padding[d].high > INT32_MAX / 4)
        return Refuse(instruction, "pads too far");
      sizes[d] = arrays_.CheckedSize(padded, arrays_.Number(bounds[d]), instruction.name(), bounds[d]);
    }
    return Done(instruction, Same(instruction, {arrays_.Masked(x[0], x[1].data), x[1].data}),
                std::move(sizes));
  }

  absl::Status Concatenate(Instruction instruction, const std::vector<DynamicArray>& x) {
    const int64_t along = instruction.dimensions()[0];
    const Shape& stated = instruction.shape();
    Sizes sizes = CommonSizes(instruction, x, x.size(), along);
    bool moves = false;
    std::vector<Op> data;
    for (const DynamicArray& array : x) {
      moves |= array.sizes[along].has_value();
      data.push_back(array.data);
    }
    if (!moves) return Done(instruction, Same(instruction, data), std::move(sizes));
    // Each begins where the one before ends, and covers what lies beyond its end.
    Op result = b_.Broadcast(arrays_.Zero(stated.type), stated.dims, {}), end = arrays_.Number(0);
    for (const DynamicArray& array : x) {
      std::vector<Op> starts(stated.dims.size(), arrays_.Number(0));
      starts[along] = end;
      result = b_.DynamicUpdateSlice(result, array.data, starts);
      end = end + arrays_.Size(array, along);
    }
    sizes[along] = end;
    return Done(instruction, result, std::move(sizes));
  }

  absl::Status Gather(Instruction instruction, const std::vector<DynamicArray>& x) {
    const auto& gather = instruction.attributes<GatherAttributes>();
    const Shape& stated = instruction.shape();
    const Dims& bounds = arrays_.Bounds(x[0]);
    const auto among = [](const Dims& some, int64_t d) { return std::ranges::find(some, d) != some.end(); };
    Sizes sizes(stated.dims.size()), last(bounds.size());
    size_t offset = 0;
    bool clamps = false;
    for (int64_t d = 0; d < static_cast<int64_t>(bounds.size()); ++d) {
      const bool kept = !among(gather.operand_batching_dims, d) && !among(gather.collapsed_slice_dims, d);
      if (x[0].sizes[d] && kept && gather.slice_sizes[d] == bounds[d]) {
        sizes[gather.offset_dims[offset]] = x[0].sizes[d];
      } else if (x[0].sizes[d]) {
        if (!among(gather.start_index_map, d) || gather.slice_sizes[d] == bounds[d])
          return Refuse(instruction, absl::StrFormat("does not index dimension %d of its operand", d));
        last[d] = LastStart(instruction, *x[0].sizes[d], gather.slice_sizes[d], bounds[d]);
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
      const Shape shape = b_.shape(indices);
      if (Info(shape.type).bits < 32) return Refuse(instruction, "has indices of less than 32 bits");
      std::vector<Op> limits;
      for (const int64_t d : gather.start_index_map)
        limits.push_back(
            b_.Reshape(b_.Convert(last[d].value_or(arrays_.Number(INT32_MAX)), shape.type), {1}));
      const bool scalar = gather.index_vector_dim == shape.rank();
      const Op limit = scalar
                           ? b_.Broadcast(b_.Reshape(limits[0], {}), shape.dims, {})
                           : b_.Broadcast(b_.Concatenate(limits, 0), shape.dims, {gather.index_vector_dim});
      indices = b_.Binary(kMinimum, indices, limit);
    }
    return Done(instruction, Same(instruction, {x[0].data, indices}), std::move(sizes));
  }

  // Windows whose indices are not there are dropped: their indices lie outside every array.
  absl::Status Scatter(Instruction instruction, const std::vector<DynamicArray>& x) {
    const auto& scatter = instruction.attributes<ScatterAttributes>();
    const size_t count = x.size() / 2;
    const DynamicArray& indices = x[count];
    for (size_t i = 0; i < count; ++i) {
      for (size_t d = 0; d < x[i].sizes.size(); ++d) {
        if (x[i].sizes[d]) return Refuse(instruction, absl::StrFormat("into dimension %d of its operand", d));
      }
    }
    Sizes wanted = indices.sizes;
    for (size_t i = count + 1; i < x.size(); ++i) {
      int64_t index_dimension = 0;
      for (int64_t d = 0; d < static_cast<int64_t>(x[i].sizes.size()); ++d) {
        if (std::ranges::find(scatter.update_window_dims, d) != scatter.update_window_dims.end()) {
          if (x[i].sizes[d])
            return Refuse(instruction, absl::StrFormat("with windows along dimension %d of its updates", d));
          continue;
        }
        if (index_dimension == scatter.index_vector_dim) ++index_dimension;
        if (x[i].sizes[d] || wanted[index_dimension]) {
          const Op of_indices =
              wanted[index_dimension] ? *wanted[index_dimension] : arrays_.Size(indices, index_dimension);
          wanted[index_dimension] =
              arrays_.SameSize(of_indices, arrays_.Size(x[i], d), instruction.name(), d);
        }
        ++index_dimension;
      }
    }
    if (scatter.index_vector_dim < static_cast<int64_t>(wanted.size()) && wanted[scatter.index_vector_dim])
      return Refuse(instruction, "with index vectors of a dynamic size");
    if (scatter.scatter_dims_to_operand_dims.empty() || Info(arrays_.Type(indices)).bits < 32)
      return Refuse(instruction, "has no indices of at least 32 bits");
    std::vector<Op> operands;
    for (const DynamicArray& array : x) operands.push_back(array.data);
    const Op outside = b_.Unary(kNot, arrays_.Zero(arrays_.Type(indices)));
    operands[count] = arrays_.Masked({indices.data, wanted}, outside);
    // Masked indices are not sorted, and not distinct.
    ScatterAttributes attributes = scatter;
    attributes.indices_are_sorted = attributes.unique_indices = false;
    return DoneTuple(instruction, Same(instruction, operands, std::move(attributes)), count);
  }

  // Of an opcode with one static result, or a tuple of them.
  absl::Status DoneTuple(Instruction instruction, Op result, size_t count) {
    RETURN_IF_ERROR(b_.status());
    if (!instruction.shape().IsTuple())
      return Done(instruction, result, Sizes(instruction.shape().dims.size()));
    std::vector<Op> elements;
    for (size_t i = 0; i < count; ++i)
      elements.push_back(b_.GetTupleElement(result, static_cast<int64_t>(i)));
    return DoneAll(instruction, elements, Sizes(instruction.shape().tuple[0].dims.size()));
  }

  // Inputs masked along dimensions by what changes nothing: the neutral element of the reducer where it is
  // one opcode, else the initial value, which HLO takes for one.
  std::vector<Op> MaskedInputs(Instruction instruction, const std::vector<DynamicArray>& x,
                               const Sizes& sizes, absl::Span<const int64_t> dimensions) {
    const size_t count = x.size() / 2;
    const std::optional<Opcode> join = JoinOf(copy_.module().computation(instruction.called()[0]));
    std::vector<Op> operands;
    for (size_t i = 0; i < count; ++i) {
      std::optional<Op> neutral;
      if (count == 1 && join) neutral = arrays_.Neutral(*join, arrays_.Type(x[0]));
      operands.push_back(arrays_.Masked({x[i].data, sizes}, dimensions, neutral.value_or(x[count + i].data)));
    }
    for (size_t i = count; i < x.size(); ++i) operands.push_back(x[i].data);
    return operands;
  }

  std::vector<Op> Elements(Instruction instruction, Op result, size_t count) {
    if (!instruction.shape().IsTuple()) return {result};
    std::vector<Op> elements;
    for (size_t i = 0; i < count; ++i)
      elements.push_back(b_.GetTupleElement(result, static_cast<int64_t>(i)));
    return elements;
  }

  absl::Status Reduce(Instruction instruction, const std::vector<DynamicArray>& x) {
    const size_t count = x.size() / 2;
    const Sizes sizes = CommonSizes(instruction, x, count);
    const Dims& reduced = instruction.dimensions();
    Sizes kept;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (std::ranges::find(reduced, static_cast<int64_t>(d)) == reduced.end()) kept.push_back(sizes[d]);
    }
    const Op result = Same(instruction, MaskedInputs(instruction, x, sizes, reduced));
    return DoneAll(instruction, Elements(instruction, result, count), kept);
  }

  std::optional<Op> Windows(const std::optional<Op>& size, const WindowDimension& window) {
    if (!size) return std::nullopt;
    const int64_t reach = (window.size - 1) * window.window_dilation + 1;
    const Op holes = b_.Binary(kMaximum, *size - arrays_.Number(1), arrays_.Number(0));
    const Op dilated = *size + holes * arrays_.Number(window.base_dilation - 1);
    const Op room =
        dilated + arrays_.Number(window.padding_low + window.padding_high - reach + window.stride);
    return b_.Binary(kDivide, b_.Binary(kMaximum, room, arrays_.Number(0)), arrays_.Number(window.stride));
  }
  static bool IsFar(const Window& window) {
    constexpr int64_t kFar = 1 << 24;
    return std::ranges::any_of(window, [](const WindowDimension& d) {
      return d.size > kFar || d.stride > kFar || d.window_dilation > 64 || d.base_dilation > 64 ||
             std::abs(d.padding_low) > kFar || std::abs(d.padding_high) > kFar;
    });
  }

  absl::Status ReduceWindow(Instruction instruction, const std::vector<DynamicArray>& x) {
    const size_t count = x.size() / 2;
    const Window& window = instruction.attributes<WindowAttributes>().window;
    if (IsFar(window)) return Refuse(instruction, "with a window of this size");
    const Sizes sizes = CommonSizes(instruction, x, count);
    Sizes counts;
    Dims all;
    for (size_t d = 0; d < sizes.size(); ++d) {
      counts.push_back(Windows(sizes[d], window[d]));
      all.push_back(static_cast<int64_t>(d));
    }
    const Op result = Same(instruction, MaskedInputs(instruction, x, sizes, all));
    return DoneAll(instruction, Elements(instruction, result, count), counts);
  }

  absl::Status Sort(Instruction instruction, const std::vector<DynamicArray>& x) {
    const auto& sort = instruction.attributes<SortAttributes>();
    const Sizes sizes = CommonSizes(instruction, x, x.size());
    std::vector<Op> operands;
    const ComputationId comparator = comparators_[instruction.id()];
    const bool marked = SortsDynamic(instruction);
    if (marked)
      operands.push_back(
          b_.Unary(kNot, arrays_.Below(arrays_.Bounds(x[0]), sort.dimension, *sizes[sort.dimension])));
    for (const DynamicArray& array : x) operands.push_back(array.data);
    if (!marked)
      return DoneAll(instruction, Elements(instruction, Same(instruction, operands), x.size()), sizes);
    const Op result = b_.Add(kSort, operands, sort, {comparator});
    std::vector<Op> elements;
    for (size_t i = 0; i < x.size(); ++i)
      elements.push_back(b_.GetTupleElement(result, static_cast<int64_t>(1 + i)));
    return DoneAll(instruction, elements, sizes);
  }

  // Operands of a contraction: zeros beyond the sizes of the dimensions that are summed over.
  std::vector<Op> MaskedPair(Instruction instruction, const std::vector<DynamicArray>& x, const Dims& lhs,
                             const Dims& rhs) {
    Sizes sizes[2] = {Sizes(x[0].sizes.size()), Sizes(x[1].sizes.size())};
    for (size_t i = 0; i < lhs.size(); ++i) {
      const std::optional<Op> size =
          arrays_.Common(x[0].sizes[lhs[i]], x[1].sizes[rhs[i]], instruction.name(), lhs[i]);
      sizes[0][lhs[i]] = sizes[1][rhs[i]] = size;
    }
    return {arrays_.Masked({x[0].data, sizes[0]}, arrays_.Zero(arrays_.Type(x[0]))),
            arrays_.Masked({x[1].data, sizes[1]}, arrays_.Zero(arrays_.Type(x[1])))};
  }

  absl::Status Dot(Instruction instruction, const std::vector<DynamicArray>& x) {
    const auto& dot = instruction.attributes<DotAttributes>();
    Sizes sizes;
    for (size_t i = 0; i < dot.lhs_batch.size(); ++i) {
      sizes.push_back(arrays_.Common(x[0].sizes[dot.lhs_batch[i]], x[1].sizes[dot.rhs_batch[i]],
                                     instruction.name(), dot.lhs_batch[i]));
    }
    const auto free = [&](const DynamicArray& array, const Dims& batch, const Dims& contracting) {
      for (int64_t d = 0; d < static_cast<int64_t>(array.sizes.size()); ++d) {
        if (std::ranges::find(batch, d) == batch.end() &&
            std::ranges::find(contracting, d) == contracting.end())
          sizes.push_back(array.sizes[d]);
      }
    };
    free(x[0], dot.lhs_batch, dot.lhs_contracting);
    free(x[1], dot.rhs_batch, dot.rhs_contracting);
    const std::vector<Op> operands = MaskedPair(instruction, x, dot.lhs_contracting, dot.rhs_contracting);
    return Done(instruction, Same(instruction, operands), std::move(sizes));
  }

  absl::Status Convolution(Instruction instruction, const std::vector<DynamicArray>& x) {
    const auto& c = instruction.attributes<ConvolutionAttributes>();
    if (c.feature_group_count != 1 || c.batch_group_count != 1) return Refuse(instruction, "in groups");
    if (IsFar(c.window)) return Refuse(instruction, "with a window of this size");
    for (const int64_t d : c.kernel_spatial) {
      if (x[1].sizes[d]) return Refuse(instruction, absl::StrFormat("of a kernel with dimension %d", d));
    }
    Sizes sizes(instruction.shape().dims.size());
    sizes[c.output_batch] = x[0].sizes[c.input_batch];
    sizes[c.output_feature] = x[1].sizes[c.kernel_output_feature];
    DynamicArray lhs = x[0];
    for (size_t i = 0; i < c.window.size(); ++i)
      sizes[c.output_spatial[i]] = Windows(x[0].sizes[c.input_spatial[i]], c.window[i]);
    lhs.data = arrays_.Masked(lhs, c.input_spatial, arrays_.Zero(arrays_.Type(lhs)));
    const std::vector<Op> operands =
        MaskedPair(instruction, {lhs, x[1]}, {c.input_feature}, {c.kernel_input_feature});
    return Done(instruction, Same(instruction, operands), std::move(sizes));
  }

  const Computation& from_;
  const std::vector<ComputationId>& computations_;
  const std::vector<ComputationId>& comparators_;
  ComputationCopy copy_;
  Builder b_;
  DynamicArrays arrays_;
  std::vector<std::optional<DynamicArray>> unpacked_;  // By the old instruction's id; made when asked for.
};

absl::Status CheckParameters(const Module& module) {
  const Computation& entry = module.entry();
  for (const NodeId id : entry.parameters()) {
    for (const ShapeLeaf& leaf : Leaves(entry[id].shape())) {
      for (int64_t d = 0; d < leaf.shape->rank(); ++d) {
        if (!leaf.shape->IsDynamic(d)) continue;
        return Unimplemented(
            "Dimension %d of parameter %d (%s) of %s is dynamic (%s): a program takes arrays of static "
            "shapes only.",
            d, entry[id].parameter_number(), entry[id].name(), module.name(), ToStringNoLayout(*leaf.shape));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool HasDynamicDimensions(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      // A tuple is made of arrays that are looked at themselves.
      const Shape& shape = computation[id].shape();
      if (shape.dynamic.empty() ? computation[id].opcode() == kParameter && shape.HasDynamicDimension()
                                : shape.HasDynamicDimension())
        return true;
    }
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Module>> ExpandDynamic(const Module& module) {
  RETURN_IF_ERROR(CheckParameters(module));
  std::unique_ptr<Module> result = EmptyCopy(module);
  // What it says of results is of the arrays that are stored otherwise.
  if (module.entry().root().shape().HasDynamicDimension()) result->config.ClearSignature();
  std::vector<ComputationId> computations;
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    // Callees come before their callers.
    std::vector<ComputationId> comparators(from.size());
    for (NodeId id = 0; id < from.size(); ++id) {
      if (SortsDynamic(from[id]))
        comparators[id] = MarkedComparator(*result, from[id], computations[from[id].called()[0]]);
    }
    Expander expander(module, from, *result, computations, comparators);
    RETURN_IF_ERROR(expander.Run(c == module.entry_id()));
    computations.push_back(result->computation_count() - 1);
  }
  result->set_entry(computations[module.entry_id()]);
  return result;
}

}  // namespace hlod

// Rewrites the values of a computation at their bounds, packs them where a single value is needed, and
// unpacks them.
#include "common/passes/dynamic/dynamic_rewrite.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "common/base/errors/status.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/passes/dynamic/dynamic_rules.h"

namespace hlod::passes {

using namespace hlo;  // The passes are functions over the IR.

namespace {

bool TouchesDynamic(Instruction instruction) {
  if (instruction.shape().HasDynamicDimension()) return true;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (instruction.operand(i).shape().HasDynamicDimension()) return true;
  }
  return false;
}

// Returns true for opcodes that pass on whole values.
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

}  // namespace

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

DynamicRewrite::DynamicRewrite(const Module& module, const Computation& from, Module& result,
                               const std::vector<ComputationId>& computations,
                               const std::vector<ComputationId>& comparators)
    : from_(from),
      computations_(computations),
      comparators_(comparators),
      copy_(module, from, AddEmptyCopy(result, from), computations),
      b_(result, copy_.to()),
      arrays_(b_),
      unpacked_(from.size()) {}

absl::Status DynamicRewrite::Run(bool is_entry) {
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

absl::Status DynamicRewrite::Expand(Instruction instruction) {
  if (IsPlumbing(instruction.opcode())) {
    for (const NodeId operand : instruction.operands()) Pack(operand);
    copy_.set_node(instruction.id(),
                   copy_.Clone(instruction, copy_.tables().Intern(PackedShape(instruction.shape()))));
    return absl::OkStatus();
  }
  const DynamicRule rule = DynamicRuleOf(instruction.opcode());
  if (rule == nullptr) return Refuse(instruction, "is not run here");
  std::vector<DynamicArray> operands;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (!instruction.operand(i).shape().IsArray()) return Refuse(instruction, "is not run here");
  }
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) operands.push_back(Array(instruction, i));
  return rule(*this, instruction, operands);
}

absl::Status DynamicRewrite::Refuse(Instruction instruction, std::string_view why) const {
  return Unimplemented(
      "Instruction %s of computation %s: %s on dynamic dimensions (%s) %s", instruction.name(), from_.name(),
      Name(instruction.opcode()),
      ToStringNoLayout((instruction.shape().HasDynamicDimension() || instruction.operand_count() == 0
                            ? instruction.shape()
                            : instruction.operand(0).shape())),
      why);
}

absl::Status DynamicRewrite::CheckBounds(Instruction instruction) const {
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

NodeId DynamicRewrite::Pack(NodeId old) {
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

Op DynamicRewrite::Stored(Op value, const Shape& shape) {
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

const DynamicArray& DynamicRewrite::Array(Instruction instruction, uint32_t i) {
  const NodeId old = instruction.operands()[i];
  if (unpacked_[old]) return *unpacked_[old];
  const Shape& shape = from_[old].shape();
  DynamicArray array{{&b_, copy_.node(old)}, DynamicSizes(shape.dims.size())};
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

Op DynamicRewrite::Same(Instruction instruction, absl::Span<const Op> operands) {
  return Same(instruction, operands, instruction.attributes());
}
Op DynamicRewrite::Same(Instruction instruction, absl::Span<const Op> operands, Attributes attributes) {
  std::vector<ComputationId> called;
  for (const ComputationId callee : instruction.called()) called.push_back(computations_[callee]);
  Shape declared = instruction.shape();
  declared.layout.reset();
  declared.dynamic.clear();
  return b_.Add(instruction.opcode(), operands, std::move(attributes), called,
                instruction.shape().IsArray() ? &declared : nullptr);
}

DynamicSizes DynamicRewrite::CommonSizes(Instruction instruction, absl::Span<const DynamicArray> operands,
                                         size_t count, int64_t apart) {
  DynamicSizes sizes;
  for (size_t i = 0; i < count; ++i) {
    if (operands[i].sizes.empty()) continue;
    if (sizes.empty()) sizes.resize(operands[i].sizes.size());
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (static_cast<int64_t>(d) == apart) continue;
      sizes[d] = arrays_.Common(sizes[d], operands[i].sizes[d], instruction.name(), static_cast<int64_t>(d));
    }
  }
  return sizes;
}

std::vector<Op> DynamicRewrite::Elements(Instruction instruction, Op result, size_t count) {
  if (!instruction.shape().IsTuple()) return {result};
  std::vector<Op> elements;
  for (size_t i = 0; i < count; ++i) elements.push_back(b_.GetTupleElement(result, static_cast<int64_t>(i)));
  return elements;
}

absl::Status DynamicRewrite::Done(Instruction instruction, Op data, DynamicSizes sizes) {
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

absl::Status DynamicRewrite::DoneAll(Instruction instruction, const std::vector<Op>& data,
                                     const DynamicSizes& sizes) {
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

absl::Status DynamicRewrite::DoneTuple(Instruction instruction, Op result, size_t count) {
  RETURN_IF_ERROR(b_.status());
  if (!instruction.shape().IsTuple())
    return Done(instruction, result, DynamicSizes(instruction.shape().dims.size()));
  std::vector<Op> elements;
  for (size_t i = 0; i < count; ++i) elements.push_back(b_.GetTupleElement(result, static_cast<int64_t>(i)));
  return DoneAll(instruction, elements, DynamicSizes(instruction.shape().tuple[0].dims.size()));
}

}  // namespace hlod::passes

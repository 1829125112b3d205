// One rule per opcode; a copy stands for the instructions that move elements to another layout.
#include "client/analysis/module/memory/cpu_forms.h"

#include <memory>
#include <utility>

#include "common/hlo/collectives/replica_groups.h"
#include "common/passes/copy.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

bool IsNarrowFloat(hlo::PrimitiveType type) { return type == hlo::kBF16 || type == hlo::kF16; }

NodeId Moved(passes::ComputationCopy& copy, Instruction of, NodeId node) {
  return copy.Replace(of, hlo::kCopy, copy.to()[node].shape_id(), hlo::NoAttributes{}, {node});
}

NodeId Converted(passes::ComputationCopy& copy, Instruction of, NodeId node, hlo::PrimitiveType type) {
  hlo::Shape shape = copy.to()[node].shape();
  if (shape.type == type) return node;
  shape.type = type;
  return copy.Replace(of, hlo::kConvert, copy.tables().Intern(shape), hlo::NoAttributes{}, {node});
}

// Appends an instruction in place of `old`, with copies before and after.
NodeId BetweenCopies(passes::ComputationCopy& copy, Instruction old) {
  const NodeId read = Moved(copy, old, copy.node(old.operands()[0]));
  const NodeId made =
      copy.Replace(old, old.opcode(), old.shape_id(), old.attributes<hlo::CollectiveAttributes>(), {read});
  return Moved(copy, old, made);
}

NodeId WideDot(passes::ComputationCopy& copy, Instruction dot) {
  hlo::Shape wide = dot.shape();
  wide.type = hlo::kF32;
  const NodeId lhs = Converted(copy, dot, copy.node(dot.operands()[0]), hlo::kF32),
               rhs = Converted(copy, dot, copy.node(dot.operands()[1]), hlo::kF32);
  const NodeId made = copy.Replace(dot, hlo::kDot, copy.tables().Intern(wide),
                                   dot.attributes<hlo::DotAttributes>(), {lhs, rhs});
  return Converted(copy, dot, made, dot.shape().type);
}

hlo::Shape Wide(hlo::Shape shape) {
  for (hlo::Shape& element : shape.tuple) element = Wide(element);
  if (shape.type == hlo::kBF16) shape.type = hlo::kF32;
  return shape;
}

bool HasBF16(const hlo::Shape& shape) { return Wide(shape) != shape; }

// Appends an instruction that computes in f32 what `old` does in bf16.
NodeId Widened(passes::ComputationCopy& copy, Instruction old) {
  std::vector<NodeId> operands, elements;
  for (const NodeId operand : old.operands()) {
    const NodeId node = copy.node(operand);
    const bool narrow = copy.to()[node].shape().type == hlo::kBF16;
    operands.push_back(narrow ? Converted(copy, old, node, hlo::kF32) : node);
  }
  std::vector<hlo::ComputationId> called;
  for (const hlo::ComputationId callee : old.called()) called.push_back(copy.computation(callee));
  const NodeId made = copy.to().Append(old.opcode(), copy.tables().Intern(Wide(old.shape())),
                                       old.attributes_id(), operands, called);
  copy.to().ShareNotes(made, old.computation(), old.id());
  if (old.shape().IsArray()) return Converted(copy, old, made, hlo::kBF16);
  for (size_t i = 0; i < old.shape().tuple.size(); ++i) {
    const hlo::Shape element = copy.to()[made].shape().tuple[i];
    const NodeId wide = copy.Replace(old, hlo::kGetTupleElement, copy.tables().Intern(element),
                                     hlo::TupleIndexAttributes{static_cast<int64_t>(i)}, {made});
    elements.push_back(Converted(copy, old, wide, old.shape().tuple[i].type));
  }
  return copy.Replace(old, hlo::kTuple, old.shape_id(), hlo::NoAttributes{}, elements);
}

// Appends an all-to-all of slices in place of one of an array.
NodeId InPieces(passes::ComputationCopy& copy, Instruction old) {
  hlo::CollectiveAttributes attributes = old.attributes<hlo::CollectiveAttributes>();
  const int64_t dimension = attributes.dimensions[0];
  const auto d = static_cast<size_t>(dimension);
  const hlo::Shape whole = old.shape();
  const int64_t pieces = hlo::GroupSize(attributes.groups).value_or(1);
  if (pieces <= 1 || whole.dims[d] % pieces != 0) return BetweenCopies(copy, old);
  hlo::Shape piece = whole;
  piece.dims[d] /= pieces;
  const hlo::ShapeId shape = copy.tables().Intern(piece);
  std::vector<NodeId> slices, elements;
  for (int64_t p = 0; p < pieces; ++p) {
    hlo::SliceAttributes slice{hlo::Dims(whole.dims.size(), 0), whole.dims, hlo::Dims(whole.dims.size(), 1)};
    slice.start[d] = p * piece.dims[d];
    slice.limit[d] = (p + 1) * piece.dims[d];
    slices.push_back(copy.Replace(old, hlo::kSlice, shape, slice, {copy.node(old.operands()[0])}));
  }
  attributes.dimensions.clear();
  const hlo::Shape tuple = hlo::Shape::Tuple(std::vector<hlo::Shape>(slices.size(), piece));
  const NodeId made = copy.Replace(old, hlo::kAllToAll, copy.tables().Intern(tuple), attributes, slices);
  for (int64_t p = 0; p < pieces; ++p)
    elements.push_back(copy.Replace(old, hlo::kGetTupleElement, shape, hlo::TupleIndexAttributes{p}, {made}));
  return copy.Replace(old, hlo::kConcatenate, old.shape_id(), hlo::DimensionsAttributes{{dimension}},
                      elements);
}

// Returns true for a quotient of floats by a broadcast of fewer elements.
bool DividesByBroadcast(Instruction quotient, Instruction divisor) {
  return hlo::IsFloat(quotient.shape().type) && divisor.opcode() == hlo::kBroadcast &&
         hlo::ElementCount(divisor.operand(0).shape()) < hlo::ElementCount(quotient.shape());
}

// Appends a product with broadcast reciprocals in place of a quotient by a broadcast array. Reciprocals of a
// constant are a constant.
NodeId TimesReciprocals(passes::ComputationCopy& copy, Instruction quotient) {
  const Instruction broadcast = copy.operand(quotient, 1);
  const hlo::DimensionsAttributes dimensions = broadcast.attributes<hlo::DimensionsAttributes>();
  const hlo::ShapeId wide = broadcast.shape_id(), narrow = broadcast.operand(0).shape_id();
  NodeId reciprocals = broadcast.operands()[0];
  if (broadcast.operand(0).opcode() != hlo::kConstant) {
    hlo::Literal one(hlo::Shape::Scalar(quotient.shape().type));  // Nothing here depends on its value.
    const hlo::ShapeId scalar = copy.tables().Intern(one.shape());
    const hlo::LiteralId literal = copy.tables().Intern(std::make_shared<const hlo::Literal>(std::move(one)));
    NodeId ones = copy.Replace(quotient, hlo::kConstant, scalar, hlo::ConstantAttributes{literal}, {});
    if (scalar != narrow)
      ones = copy.Replace(quotient, hlo::kBroadcast, narrow, hlo::DimensionsAttributes{}, {ones});
    reciprocals = copy.Replace(quotient, hlo::kDivide, narrow, hlo::NoAttributes{}, {ones, reciprocals});
  }
  const NodeId repeated = copy.Replace(quotient, hlo::kBroadcast, wide, dimensions, {reciprocals});
  return copy.Replace(quotient, hlo::kMultiply, quotient.shape_id(), hlo::NoAttributes{},
                      {copy.node(quotient.operands()[0]), repeated});
}

bool IsDivided(Instruction i) { return i.operand_count() == 1 && i.shape().IsArray(); }

}  // namespace

std::unique_ptr<hlo::Module> WithCpuForms(const hlo::Module& module) {
  return passes::Rewritten(module, nullptr, [](passes::ComputationCopy& copy, Instruction i) {
    switch (i.opcode()) {
      case hlo::kDot:
        if (IsNarrowFloat(i.shape().type)) return WideDot(copy, i);
        break;
      case hlo::kDivide:
        if (DividesByBroadcast(i, copy.operand(i, 1))) return TimesReciprocals(copy, i);
        break;
      case hlo::kScatter:
      case hlo::kSelectAndScatter:
      case hlo::kReduceWindow:
      case hlo::kSort:
        if (HasBF16(i.shape())) return Widened(copy, i);
        break;
      case hlo::kAllGather:
        if (IsDivided(i) && i.attributes<hlo::CollectiveAttributes>().dimensions[0] != 0)
          return BetweenCopies(copy, i);
        break;
      case hlo::kAllToAll:
        if (IsDivided(i)) return InPieces(copy, i);
        break;
      default: break;
    }
    return copy.Clone(i);
  });
}

}  // namespace hlod::analysis

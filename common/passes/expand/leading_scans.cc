// Rewrites scans along other dimensions as scans along dimension 0 of transposed arrays.
#include <algorithm>

#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

bool IsLeading(Instruction instruction) {
  return instruction.opcode() != kScan || instruction.attributes<ScanAttributes>().dimension == 0;
}

// Return the permutations that move the dimension to the front, and back.
Dims ToFront(int64_t dimension, size_t rank) {
  Dims order(rank);
  order[0] = dimension;
  for (size_t i = 1; i < rank; ++i)
    order[i] = static_cast<int64_t>(i) - (static_cast<int64_t>(i) <= dimension);
  return order;
}
Dims FromFront(int64_t dimension, size_t rank) {
  Dims order(rank);
  for (size_t i = 0; i < rank; ++i)
    order[i] = static_cast<int64_t>(i) + (static_cast<int64_t>(i) < dimension);
  order[static_cast<size_t>(dimension)] = 0;
  return order;
}

Shape Ordered(const Shape& shape, const Dims& order) {
  Shape ordered = Shape::Array(shape.type, std::initializer_list<int64_t>{});
  for (const int64_t dim : order) ordered.dims.push_back(shape.dims[static_cast<size_t>(dim)]);
  return ordered;
}

NodeId Transposed(ComputationCopy& copy, NodeId array, const Dims& order) {
  Tables& tables = copy.tables();
  const ShapeId shape = tables.Intern(Ordered(copy.to()[array].shape(), order));
  return copy.to().Append(kTranspose, shape, tables.Intern(Attributes(DimensionsAttributes{order})), {array});
}

NodeId Leading(ComputationCopy& copy, Instruction scan) {
  Tables& tables = copy.tables();
  ScanAttributes attributes = scan.attributes<ScanAttributes>();
  const int64_t dimension = std::exchange(attributes.dimension, 0);
  const auto carries = static_cast<size_t>(attributes.num_carries);
  absl::InlinedVector<NodeId, 8> operands = copy.operands(scan);
  for (size_t i = 0; i + carries < operands.size(); ++i)
    operands[i] =
        Transposed(copy, operands[i], ToFront(dimension, copy.to()[operands[i]].shape().dims.size()));

  // A result that is not a tuple is a single stack.
  const Shape& shape = scan.shape();
  std::vector<Shape> results = shape.IsTuple() ? shape.tuple : std::vector<Shape>{shape};
  const size_t stacks = results.size() - carries;
  for (size_t i = 0; i < stacks; ++i)
    results[i] = Ordered(results[i], ToFront(dimension, results[i].dims.size()));
  const ShapeId called_shape = tables.Intern(shape.IsTuple() ? Shape::Tuple(results) : results[0]);
  const ComputationId called[] = {copy.computation(scan.called()[0])};
  const NodeId leading =
      copy.to().Append(kScan, called_shape, tables.Intern(Attributes(attributes)), operands, called);
  const auto back = [&](NodeId stack) {
    return Transposed(copy, stack, FromFront(dimension, copy.to()[stack].shape().dims.size()));
  };
  if (!shape.IsTuple()) return back(leading);
  std::vector<NodeId> parts;
  for (size_t i = 0; i < results.size(); ++i) {
    const Attributes index(TupleIndexAttributes{static_cast<int64_t>(i)});
    const NodeId part =
        copy.to().Append(kGetTupleElement, tables.Intern(results[i]), tables.Intern(index), {leading});
    parts.push_back(i < stacks ? back(part) : part);
  }
  return copy.Replace(scan, kTuple, scan.shape_id(), NoAttributes{}, parts);
}

}  // namespace

bool HasOtherScans(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    for (NodeId id = 0; id < module.computation(c).size(); ++id) {
      if (!IsLeading(module.computation(c)[id])) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> ScansAlongDimension0(const Module& module) {
  return Rewritten(module, nullptr, [](ComputationCopy& copy, Instruction instruction) {
    return IsLeading(instruction) ? copy.Clone(instruction) : Leading(copy, instruction);
  });
}

}  // namespace hlod::passes

// Only the shapes and the order of the new instructions matter here: their attributes, beyond those that
// fusion reads, are those of the old ones.
#include "client/analysis/module/memory/cpu_expansions.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "client/analysis/module/memory/cpu_library.h"
#include "common/passes/copy.h"

namespace hlod::analysis {
namespace {

using hlo::Dims;
using hlo::Instruction;
using hlo::NodeId;
using hlo::Shape;
using passes::ComputationCopy;

constexpr int64_t kPiece = 32;  // The window of XLA's tree of reductions.
constexpr int64_t kRow = 16;    // The rows of its running totals.

Shape WithDims(Shape shape, Dims dims) {
  shape.dims = std::move(dims);
  return shape;
}

// Appends an instruction that calls computation `callee` of `old`, at its line.
NodeId Calling(ComputationCopy& copy, Instruction old, size_t callee, hlo::Opcode opcode, hlo::ShapeId shape,
               hlo::AttributesId attributes, const std::vector<NodeId>& operands) {
  const hlo::ComputationId called[] = {copy.computation(old.called()[callee])};
  const NodeId made = copy.to().Append(opcode, shape, attributes, operands, called);
  if (old.computation().notes(old.id()) != nullptr) copy.to().ShareNotes(made, old.computation(), old.id());
  return made;
}

// Appends a reduction of windows in place of `old`, with its combiner.
NodeId Windows(ComputationCopy& copy, Instruction old, const Shape& shape,
               const std::vector<NodeId>& operands, hlo::Window window = {}) {
  const hlo::Attributes attributes = hlo::WindowAttributes{std::move(window)};
  return Calling(copy, old, 0, hlo::kReduceWindow, copy.tables().Intern(shape),
                 copy.tables().Intern(attributes), operands);
}

NodeId Reduced(ComputationCopy& copy, Instruction old) {
  if (old.operand_count() != 2 || StartsLibraryKernel(copy.module(), old)) return copy.Clone(old);
  const Dims& reduced = old.dimensions();
  Shape shape = old.operand(0).shape();
  NodeId from = copy.node(old.operands()[0]);
  const NodeId init = copy.node(old.operands()[1]);
  const auto is_long = [&](int64_t dim) { return shape.dims[static_cast<size_t>(dim)] > kPiece; };
  if (std::ranges::none_of(reduced, is_long)) return copy.Clone(old);
  while (std::ranges::any_of(reduced, is_long)) {
    hlo::Window window(shape.dims.size());
    for (const int64_t dim : reduced) {
      int64_t& size = shape.dims[static_cast<size_t>(dim)];
      const int64_t piece = std::min(size, kPiece);
      window[static_cast<size_t>(dim)] = {.size = piece, .stride = piece};
      size = (size + piece - 1) / std::max<int64_t>(piece, 1);
    }
    from = Windows(copy, old, shape, {from, init}, std::move(window));
  }
  return Calling(copy, old, 0, hlo::kReduce, old.shape_id(), old.attributes_id(), {from, init});
}

// Appends a transpose into the order of `dims`, unless it is the array's.
NodeId Ordered(ComputationCopy& copy, Instruction old, NodeId node, const Dims& order) {
  if (std::ranges::is_sorted(order)) return node;
  const Shape from = copy.to()[node].shape();
  Dims dims;
  for (const int64_t dim : order) dims.push_back(from.dims[static_cast<size_t>(dim)]);
  return copy.Replace(old, hlo::kTranspose, copy.tables().Intern(WithDims(from, dims)),
                      hlo::DimensionsAttributes{order}, {node});
}

NodeId InType(ComputationCopy& copy, Instruction old, NodeId node, hlo::PrimitiveType type) {
  Shape shape = copy.to()[node].shape();
  if (shape.type == type) return node;
  shape.type = type;
  return copy.Replace(old, hlo::kConvert, copy.tables().Intern(shape), hlo::NoAttributes{}, {node});
}

NodeId Convolved(ComputationCopy& copy, Instruction old) {
  hlo::ConvolutionAttributes a = old.attributes<hlo::ConvolutionAttributes>();
  const auto order = [](int64_t first, const Dims& spatial, int64_t last) {
    Dims all = {first};
    all.insert(all.end(), spatial.begin(), spatial.end());
    all.push_back(last);
    return all;
  };
  const Dims input = order(a.input_batch, a.input_spatial, a.input_feature),
             output = order(a.output_batch, a.output_spatial, a.output_feature);
  Dims kernel = a.kernel_spatial;
  kernel.insert(kernel.end(), {a.kernel_input_feature, a.kernel_output_feature});
  const hlo::PrimitiveType type = old.shape().type;
  const hlo::PrimitiveType wide = type == hlo::kBF16 || type == hlo::kF16 ? hlo::kF32 : type;
  NodeId lhs = InType(copy, old, copy.node(old.operands()[0]), wide),
         rhs = InType(copy, old, copy.node(old.operands()[1]), wide);
  lhs = Ordered(copy, old, lhs, input);
  rhs = Ordered(copy, old, rhs, kernel);
  Shape shape = old.shape();
  shape.type = wide;
  Dims inverse(output.size(), 0);
  for (size_t i = 0; i < output.size(); ++i) {
    shape.dims[i] = old.shape().dims[static_cast<size_t>(output[i])];
    inverse[static_cast<size_t>(output[i])] = static_cast<int64_t>(i);
  }
  a.input_batch = a.output_batch = 0;
  a.input_feature = a.output_feature = a.kernel_output_feature = static_cast<int64_t>(output.size()) - 1;
  a.kernel_input_feature = a.kernel_output_feature - 1;
  for (size_t i = 0; i < a.input_spatial.size(); ++i) {
    a.input_spatial[i] = a.output_spatial[i] = static_cast<int64_t>(i) + 1;
    a.kernel_spatial[i] = static_cast<int64_t>(i);
  }
  const NodeId made = copy.Replace(old, hlo::kConvolution, copy.tables().Intern(shape), a, {lhs, rhs});
  return InType(copy, old, Ordered(copy, old, made, inverse), type);
}

NodeId SelectedAndScattered(ComputationCopy& copy, Instruction old) {
  const Shape from = old.operand(0).shape(), source = old.operand(1).shape();
  const int64_t rank = from.rank(), count = hlo::ElementCount(source).value_or(0);
  Shape index = from, place = source;
  index.type = place.type = hlo::kS32;
  const NodeId init = copy.node(old.operands()[2]);
  std::vector<NodeId> operands = {copy.node(old.operands()[0])}, columns;
  std::vector<Shape> given = {source};
  for (int64_t dim = 0; dim < rank; ++dim) {
    operands.push_back(
        copy.Replace(old, hlo::kIota, copy.tables().Intern(index), hlo::DimensionsAttributes{{dim}}, {}));
    given.push_back(place);
  }
  operands.push_back(init);
  const NodeId found =
      Windows(copy, old, Shape::Tuple(given), operands, old.attributes<hlo::WindowAttributes>().window);
  for (int64_t dim = 0; dim < rank; ++dim) {
    const NodeId element = copy.Replace(old, hlo::kGetTupleElement, copy.tables().Intern(place),
                                        hlo::TupleIndexAttributes{dim + 1}, {found});
    columns.push_back(copy.Replace(old, hlo::kReshape, copy.tables().Intern(WithDims(place, {count, 1})),
                                   hlo::NoAttributes{}, {element}));
  }
  const NodeId places =
      copy.Replace(old, hlo::kConcatenate, copy.tables().Intern(WithDims(place, {count, rank})),
                   hlo::DimensionsAttributes{{1}}, columns);
  const NodeId zeros =
      copy.Replace(old, hlo::kBroadcast, old.shape_id(), hlo::DimensionsAttributes{}, {init});
  const NodeId updates = copy.Replace(old, hlo::kCopy, old.operand(1).shape_id(), hlo::NoAttributes{},
                                      {copy.node(old.operands()[1])});
  return Calling(copy, old, 1, hlo::kScatter, old.shape_id(),
                 copy.tables().Intern(hlo::Attributes(hlo::ScatterAttributes{})), {zeros, places, updates});
}

// Returns the dimension along which the windows give running totals; -1 if they do not.
int64_t TotalledDimension(Instruction windows) {
  if (windows.operand_count() != 2 || windows.shape().dims != windows.operand(0).shape().dims) return -1;
  const hlo::Window& window = windows.attributes<hlo::WindowAttributes>().window;
  int64_t found = -1;
  for (size_t dim = 0; dim < window.size(); ++dim) {
    if (window[dim].size == 1) continue;
    if (found >= 0 || window[dim].size != windows.shape().dims[dim] || window[dim].stride != 1) return -1;
    found = static_cast<int64_t>(dim);
  }
  return found;
}

// Appends the running totals of `node` along its last dimension, of `size` elements.
NodeId Totals(ComputationCopy& copy, Instruction old, NodeId node, NodeId init) {
  const Shape shape = copy.to()[node].shape();
  const auto shaped = [&](Dims last) {
    Dims dims(shape.dims.begin(), shape.dims.end() - 1);
    dims.insert(dims.end(), last.begin(), last.end());
    return WithDims(shape, dims);
  };
  const int64_t size = shape.dims.back(), rows = (size + kRow - 1) / kRow;
  const auto append = [&](hlo::Opcode opcode, Dims last, const hlo::Attributes& attributes,
                          std::vector<NodeId> operands) {
    return copy.Replace(old, opcode, copy.tables().Intern(shaped(std::move(last))), attributes, operands);
  };
  // The rows before the first are one more.
  if (size <= kRow) return Windows(copy, old, shaped({size + 1}), {node, init});
  const hlo::SliceAttributes part{Dims(shape.dims.size() + 1, 0), {}, {}};
  NodeId padded = node;
  if (rows * kRow != size) padded = append(hlo::kPad, {rows * kRow}, hlo::PadAttributes{}, {node, init});
  const NodeId in_rows = append(hlo::kReshape, {rows, kRow}, hlo::NoAttributes{}, {padded});
  const NodeId made = Windows(copy, old, shaped({rows, kRow}), {in_rows, init});
  const NodeId last = append(hlo::kSlice, {rows, 1}, part, {made});
  const NodeId sums = append(hlo::kReshape, {rows}, hlo::NoAttributes{}, {last});
  const NodeId before = append(hlo::kSlice, {rows}, part, {Totals(copy, old, sums, init)});
  Dims kept(shape.dims.size());
  std::iota(kept.begin(), kept.end(), 0);
  const NodeId spread = append(hlo::kBroadcast, {rows, kRow}, hlo::DimensionsAttributes{kept}, {before});
  const NodeId added = append(hlo::kAdd, {rows, kRow}, hlo::NoAttributes{}, {made, spread});
  const NodeId joined = append(hlo::kReshape, {rows * kRow}, hlo::NoAttributes{}, {added});
  return rows * kRow == size ? joined : append(hlo::kSlice, {size}, part, {joined});
}

NodeId Totalled(ComputationCopy& copy, Instruction old) {
  const int64_t dim = TotalledDimension(old);
  if (dim < 0 || old.shape().dims[static_cast<size_t>(dim)] <= kRow) return copy.Clone(old);
  Dims order, inverse(old.shape().dims.size(), 0);
  for (int64_t d = 0; d < old.shape().rank(); ++d) {
    if (d != dim) order.push_back(d);
  }
  order.push_back(dim);
  for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const NodeId from = Ordered(copy, old, copy.node(old.operands()[0]), order);
  return Ordered(copy, old, Totals(copy, old, from, copy.node(old.operands()[1])), inverse);
}

}  // namespace

std::unique_ptr<hlo::Module> WithCpuExpansions(const hlo::Module& module) {
  return passes::Rewritten(module, nullptr, [](ComputationCopy& copy, Instruction i) {
    switch (i.opcode()) {
      case hlo::kReduce: return Reduced(copy, i);
      case hlo::kConvolution: return Convolved(copy, i);
      case hlo::kSelectAndScatter: return SelectedAndScattered(copy, i);
      case hlo::kReduceWindow: return Totalled(copy, i);
      default: return copy.Clone(i);
    }
  });
}

}  // namespace hlod::analysis

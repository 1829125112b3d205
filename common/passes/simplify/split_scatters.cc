// Scatters of one window in loops become instructions that a loop's machine code computes itself; a scatter
// would be a call, which takes longer than the rest of a small loop:
//
//   r = f32[64] scatter(x, i, u), to_apply=add     becomes     s = f32[1] dynamic-slice(x, i)
//                                                              a = f32[1] add(s, u)
//                                                              k = f32[1] select(inside, a, s)
//                                                              r = f32[64] dynamic-update-slice(x, k, i)
//
// `inside` is true if the whole window is in the operand. Otherwise the slice, which begins at the nearest
// place that is inside, is written back as it is.
#include "common/passes/simplify/split_scatters.h"

#include <optional>
#include <utility>
#include <vector>

#include "common/passes/simplify/loop_bodies.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// The limit on the bytes of a window: longer ones are combined well by the scatter's step.
constexpr int64_t kWindowBytesMax = 512;
// The limits on the instructions of a combiner, which are copied for each scatter; on the scatters of a
// computation; and on its instructions.
constexpr int64_t kCombinerMax = 16, kScattersMax = 48, kComputationMax = 500;

// Returns the window in the operand's dimensions.
Dims WindowOf(Instruction scatter) {
  const auto& attributes = scatter.attributes<ScatterAttributes>();
  const Shape& updates = scatter.operand(2).shape();
  Dims window(scatter.shape().dims.size(), 1);
  size_t next = 0;
  for (size_t d = 0; d < window.size(); ++d) {
    bool inserted = false;
    for (const int64_t i : attributes.inserted_window_dims)
      inserted = inserted || i == static_cast<int64_t>(d);
    if (!inserted) window[d] = updates.dims[static_cast<size_t>(attributes.update_window_dims[next++])];
  }
  return window;
}

// Returns true if the elements of a window are neighbours: below the first dimension that it does not take
// one of, it takes whole dimensions.
bool IsContiguous(const Dims& window, const Dims& dims) {
  size_t d = 0;
  while (d < dims.size() && window[d] == 1) ++d;
  for (++d; d < dims.size(); ++d) {
    if (window[d] != dims[d]) return false;
  }
  return true;
}

// Splits one scatter.
class Splitting {
 public:
  Splitting(ComputationCopy& copy, Instruction scatter)
      : copy_(copy),
        scatter_(scatter),
        attributes_(scatter.attributes<ScatterAttributes>()),
        index_type_(scatter.operand(1).shape().type),
        window_(WindowOf(scatter)) {}

  NodeId Make() {
    const std::vector<NodeId> starts = Starts();
    const ShapeId part = ShapeOf(scatter_.shape().type, window_);
    std::vector<NodeId> operands = {copy_.node(scatter_.operands()[0])};
    operands.insert(operands.end(), starts.begin(), starts.end());
    const NodeId slice =
        copy_.Replace(scatter_, kDynamicSlice, part, DynamicSliceAttributes{window_}, operands);
    const NodeId updates =
        copy_.Replace(scatter_, kReshape, part, DimensionsAttributes{}, {copy_.node(scatter_.operands()[2])});
    const Computation& combiner = copy_.module().computation(scatter_.called()[0]);
    const NodeId joined = ApplyToArrays(copy_, scatter_, combiner, {slice, updates}, window_)[0];
    const NodeId inside = Spread(copy_, scatter_, Inside(starts), window_);
    const NodeId kept = copy_.Replace(scatter_, kSelect, part, NoAttributes{}, {inside, joined, slice});
    operands.insert(operands.begin() + 1, kept);
    return copy_.Replace(scatter_, kDynamicUpdateSlice, scatter_.shape_id(), NoAttributes{}, operands);
  }

 private:
  ShapeId ShapeOf(PrimitiveType type, const Dims& dims) {
    return copy_.tables().Intern(Shape::Array(type, dims));
  }

  NodeId Number(int64_t value) {
    const Literal literal = index_type_ == kS64 ? Literal::Scalar<int64_t>(value)
                                                : Literal::Scalar<int32_t>(static_cast<int32_t>(value));
    return copy_.Replace(scatter_, kConstant, ShapeOf(index_type_, {}),
                         ConstantAttributes{copy_.tables().Intern(std::make_shared<const Literal>(literal))},
                         {});
  }

  // Returns the scalars at which the window begins.
  std::vector<NodeId> Starts() {
    const Dims& along = attributes_.scatter_dims_to_operand_dims;
    const auto count = static_cast<int64_t>(along.size());
    std::vector<NodeId> starts(window_.size(), Computation::kNoNode);
    const NodeId indices = copy_.Replace(scatter_, kReshape, ShapeOf(index_type_, {count}),
                                         DimensionsAttributes{}, {copy_.node(scatter_.operands()[1])});
    for (int64_t i = 0; i < count; ++i) {
      const NodeId one = copy_.Replace(scatter_, kSlice, ShapeOf(index_type_, {1}),
                                       SliceAttributes{{i}, {i + 1}, {1}}, {indices});
      starts[static_cast<size_t>(along[static_cast<size_t>(i)])] =
          copy_.Replace(scatter_, kReshape, ShapeOf(index_type_, {}), DimensionsAttributes{}, {one});
    }
    for (NodeId& start : starts) {
      if (start == Computation::kNoNode) start = Number(0);
    }
    return starts;
  }

  NodeId Compare(NodeId a, NodeId b, ComparisonDirection direction) {
    return copy_.Replace(scatter_, kCompare, ShapeOf(kPred, {}),
                         CompareAttributes{direction, DefaultComparisonType(index_type_)}, {a, b});
  }

  // Returns true if the whole window is in the operand.
  NodeId Inside(const std::vector<NodeId>& starts) {
    std::optional<NodeId> inside;
    for (const int64_t d : attributes_.scatter_dims_to_operand_dims) {
      const NodeId start = starts[static_cast<size_t>(d)];
      const int64_t last = scatter_.shape().dims[static_cast<size_t>(d)] - window_[static_cast<size_t>(d)];
      for (const NodeId bound : {Compare(start, Number(0), ComparisonDirection::kGe),
                                 Compare(start, Number(last), ComparisonDirection::kLe)}) {
        inside = !inside
                     ? bound
                     : copy_.Replace(scatter_, kAnd, ShapeOf(kPred, {}), NoAttributes{}, {*inside, bound});
      }
    }
    return *inside;
  }

  ComputationCopy& copy_;
  const Instruction scatter_;
  const ScatterAttributes& attributes_;
  const PrimitiveType index_type_;
  const Dims window_;
};

bool IsStatic(Instruction instruction) {
  bool dynamic = !instruction.shape().IsArray() || instruction.shape().HasDynamicDimension();
  for (uint32_t i = 0; i < instruction.operand_count(); ++i)
    dynamic = dynamic || instruction.operand(i).shape().HasDynamicDimension();
  return !dynamic;
}

bool CanBeSplit(Instruction scatter, const Computation& combiner) {
  if (scatter.operand_count() != 3 || !IsStatic(scatter)) return false;
  const auto& attributes = scatter.attributes<ScatterAttributes>();
  const Shape &shape = scatter.shape(), &indices = scatter.operand(1).shape();
  const size_t along = attributes.scatter_dims_to_operand_dims.size();
  // Each start is given by one index.
  if (along == 0 || !attributes.input_batching_dims.empty() ||
      ElementCount(indices) != static_cast<int64_t>(along))
    return false;
  if (indices.type != kS32 && indices.type != kS64) return false;
  const Dims window = WindowOf(scatter);
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d] == 0 || window[d] > shape.dims[d]) return false;
    if (indices.type == kS32 && shape.dims[d] > INT32_MAX) return false;
  }
  const int64_t elements = ElementCount(scatter.operand(2).shape()).value_or(0);
  if (elements > kWindowBytesMax || elements * ByteWidth(shape.type) > kWindowBytesMax) return false;
  const bool assigns = combiner.root().opcode() == kParameter;
  return IsContiguous(window, shape.dims) && !assigns && combiner.root().shape().IsScalar() &&
         static_cast<int64_t>(combiner.size()) <= kCombinerMax && IsElementwiseFunction(combiner);
}

// Returns true if a computation has scatters, few enough and among few enough instructions that its loop
// becomes machine code as a whole. In another, the pieces of a scatter would each be called.
bool HasFewScatters(const Computation& computation) {
  if (static_cast<int64_t>(computation.size()) > kComputationMax) return false;
  int64_t scatters = 0;
  for (NodeId id = 0; id < computation.size(); ++id) scatters += computation[id].opcode() == kScatter;
  return scatters > 0 && scatters <= kScattersMax;
}

}  // namespace

std::unique_ptr<Module> SplitScatters(const Module& module, PassWatch* watch) {
  const std::vector<bool> inside = ComputationsInLoops(module);
  std::vector<bool> splits(module.computation_count(), false);
  for (ComputationId c = 0; c < module.computation_count(); ++c)
    splits[c] = inside[c] && HasFewScatters(module.computation(c));
  ComputationId computation = 0;
  return Rewritten(module, watch, [&](ComputationCopy& copy, Instruction instruction) {
    while (&module.computation(computation) != &instruction.computation()) ++computation;
    if (instruction.opcode() != kScatter || !splits[computation]) return copy.Clone(instruction);
    if (!CanBeSplit(instruction, module.computation(instruction.called()[0]))) return copy.Clone(instruction);
    return Splitting(copy, instruction).Make();
  });
}

}  // namespace hlod::passes

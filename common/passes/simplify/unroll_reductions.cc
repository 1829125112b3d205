// Reductions of a few elements in loops become elementwise operations on slices, which a loop's machine code
// computes in registers; a reduction would be a call, which takes longer than the rest of a small loop:
//
//   r = f32[] reduce(x, i), dimensions={0}      becomes     a = f32[] add(i, slice(x, [0:1]))
//                                                           r = f32[] add(a, slice(x, [1:2])), ...
#include "common/passes/simplify/unroll_reductions.h"

#include <vector>

#include "common/passes/copy.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// The limits on the elements of an input and of a result. With several results the input is stored as a
// vector and read as scalars, so that a step of Viterbi's algorithm with three states took 340 ns, not 230.
constexpr int64_t kElementsMax = 16, kResultsMax = 1;
// The limit on the instructions that the copies of a reducer become.
constexpr int64_t kInstructionsMax = 256;

// Returns, by computation, whether it is run by each iteration of a loop.
std::vector<bool> ComputationsInLoops(const Module& module) {
  std::vector<bool> inside(module.computation_count(), false);
  // Callees come before their callers.
  for (ComputationId c = module.computation_count(); c-- > 0;) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      const Instruction instruction = computation[id];
      const bool runs_callees =
          instruction.opcode() == kWhile ||
          (inside[c] && (instruction.opcode() == kConditional || instruction.opcode() == kCall));
      if (!runs_callees) continue;
      for (const ComputationId callee : instruction.called()) inside[callee] = true;
    }
  }
  return inside;
}

// Returns true for types whose reductions are computed in them. (Sums of narrower floats are wider.)
bool IsExact(PrimitiveType type) {
  switch (type) {
    case kPred:
    case kS32:
    case kU32:
    case kS64:
    case kU64:
    case kF32:
    case kF64: return true;
    default: return false;
  }
}

bool IsElementwiseReducer(const Computation& reducer) {
  for (NodeId id = 0; id < reducer.size(); ++id) {
    const Instruction instruction = reducer[id];
    if (instruction.opcode() == kTuple && id == reducer.root_id()) continue;
    if (!instruction.shape().IsScalar() || !IsExact(instruction.shape().type)) return false;
    const bool known = instruction.opcode() == kParameter || instruction.opcode() == kConstant ||
                       HasTrait(instruction.opcode(), kElementwise);
    if (!known) return false;
  }
  return true;
}

bool IsFewElements(Instruction reduce, const Computation& reducer) {
  const Shape& in = reduce.operand(0).shape();
  const Shape& out = reduce.shape().IsTuple() ? reduce.shape().tuple[0] : reduce.shape();
  const int64_t elements = ElementCount(in).value_or(0), results = ElementCount(out).value_or(0);
  if (in.HasDynamicDimension() || elements == 0 || elements > kElementsMax || results > kResultsMax)
    return false;
  for (uint32_t i = 0; i < reduce.operand_count(); ++i) {
    if (!IsExact(reduce.operand(i).shape().type)) return false;
  }
  return elements / results * static_cast<int64_t>(reducer.size()) <= kInstructionsMax &&
         IsElementwiseReducer(reducer);
}

// Unrolls one reduction.
class Unrolling {
 public:
  Unrolling(ComputationCopy& copy, Instruction reduce)
      : copy_(copy), reduce_(reduce), reducer_(copy.module().computation(reduce.called()[0])) {
    const Shape& shape = reduce.shape();
    dims_ = shape.IsTuple() ? shape.tuple[0].dims : shape.dims;
  }

  NodeId Make() {
    const uint32_t count = reduce_.operand_count() / 2;
    std::vector<NodeId> state;
    for (uint32_t i = 0; i < count; ++i) state.push_back(Spread(copy_.node(reduce_.operands()[count + i])));
    const Dims in = reduce_.operand(0).shape().dims;
    int64_t steps = 1;
    for (const int64_t d : reduce_.dimensions()) steps *= in[d];
    for (int64_t step = 0; step < steps; ++step) {
      std::vector<NodeId> arguments = state;
      for (uint32_t i = 0; i < count; ++i) arguments.push_back(SliceAt(i, step));
      state = Apply(arguments);
    }
    if (!reduce_.shape().IsTuple()) return state[0];
    return copy_.Replace(reduce_, kTuple, reduce_.shape_id(), NoAttributes{}, state);
  }

 private:
  ShapeId ShapeOf(PrimitiveType type, const Dims& dims) {
    return copy_.tables().Intern(Shape::Array(type, dims));
  }

  // Broadcasts a scalar to the result's shape.
  NodeId Spread(NodeId scalar) {
    if (dims_.empty()) return scalar;
    const ShapeId shape = ShapeOf(copy_.to()[scalar].shape().type, dims_);
    return copy_.Replace(reduce_, kBroadcast, shape, DimensionsAttributes{}, {scalar});
  }

  // Returns the elements of input `i` at one position along the reduced dimensions.
  NodeId SliceAt(uint32_t i, int64_t step) {
    const Shape in = reduce_.operand(i).shape();
    SliceAttributes slice;
    slice.start.assign(in.dims.size(), 0);
    slice.limit = in.dims;
    slice.stride.assign(in.dims.size(), 1);
    Dims sizes = in.dims;
    for (size_t r = reduce_.dimensions().size(); r-- > 0;) {
      const int64_t d = reduce_.dimensions()[r];
      slice.start[d] = step % in.dims[d];
      slice.limit[d] = slice.start[d] + 1;
      sizes[d] = 1;
      step /= in.dims[d];
    }
    const NodeId part =
        copy_.Replace(reduce_, kSlice, ShapeOf(in.type, sizes), slice, {copy_.node(reduce_.operands()[i])});
    return copy_.Replace(reduce_, kReshape, ShapeOf(in.type, dims_), DimensionsAttributes{}, {part});
  }

  // Applies the reducer to arrays of the result's shape.
  std::vector<NodeId> Apply(const std::vector<NodeId>& arguments) {
    InstructionCloner cloner(reducer_, copy_.to(),
                             {.callee = nullptr, .translation = nullptr, .notes = false});
    for (NodeId id = 0; id < reducer_.size(); ++id) {
      const Instruction instruction = reducer_[id];
      if (instruction.opcode() == kParameter) {
        cloner.set_node(id, arguments[static_cast<size_t>(instruction.parameter_number())]);
      } else if (instruction.opcode() == kConstant) {
        cloner.set_node(id, Spread(cloner.Append(instruction)));
      } else if (instruction.opcode() != kTuple) {
        cloner.Clone(id, {.shape = ShapeOf(instruction.shape().type, dims_)});
      }
    }
    const Instruction root = reducer_.root();
    if (root.opcode() != kTuple) return {cloner.node(root.id())};
    std::vector<NodeId> results;
    for (const NodeId operand : root.operands()) results.push_back(cloner.node(operand));
    return results;
  }

  ComputationCopy& copy_;
  const Instruction reduce_;
  const Computation& reducer_;
  Dims dims_;
};

}  // namespace

std::unique_ptr<Module> UnrollReductions(const Module& module, PassWatch* watch) {
  const std::vector<bool> inside = ComputationsInLoops(module);
  ComputationId computation = 0;
  const Computation* current = &module.computation(0);
  return Rewritten(module, watch, [&](ComputationCopy& copy, Instruction instruction) {
    while (current != &instruction.computation()) current = &module.computation(++computation);
    if (instruction.opcode() != kReduce || !inside[computation]) return copy.Clone(instruction);
    const Computation& reducer = module.computation(instruction.called()[0]);
    return IsFewElements(instruction, reducer) ? Unrolling(copy, instruction).Make()
                                               : copy.Clone(instruction);
  });
}

}  // namespace hlod::passes

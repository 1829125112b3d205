// Reductions of a few elements in loops become elementwise operations on slices, which a loop's machine code
// computes in registers; a reduction would be a call, which takes longer than the rest of a small loop:
//
//   r = f32[] reduce(x, i), dimensions={0}      becomes     a = f32[] add(i, slice(x, [0:1]))
//                                                           r = f32[] add(a, slice(x, [1:2])), ...
//
// Computes the inputs slice by slice, too, if they are elementwise and cheap: arrays would be stored as
// vectors, of which scalars are read slowly. If there are many results, slices are vectors, which the code
// reads from whatever array they are in. Outside of loops the same is done with rows of a few elements, such
// as points and colours, which do not fill a vector.
#include "common/passes/simplify/unroll_reductions.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "common/passes/simplify/loop_bodies.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// The limit on the elements of an input.
constexpr int64_t kElementsMax = 16;
// The limit on the results, which a loop's machine code computes one after the other; on more of them, which
// it computes as vectors; and on the elements of a result's neighbours: longer rows are added up well.
constexpr int64_t kResultsMax = 4, kManyResultsMax = 2048, kNeighboursMax = 48;
// The limit on the elements of rows that are reduced as vectors of their first, second and further elements
// outside of loops, too: vectors are shuffled to read such strides.
constexpr int64_t kShortRowMax = 4;
// The limits on the instructions that the copies of a reducer become, and on those of all in one computation.
constexpr int64_t kInstructionsMax = 256, kAllInstructionsMax = 1500;
// The limit on the elements of all operations that are computed slice by slice.
constexpr int kSlicedMax = 128;

// Returns how often each instruction is used.
std::vector<uint32_t> UsesIn(const Computation& computation) {
  std::vector<uint32_t> uses(computation.size(), 0);
  ++uses[computation.root_id()];
  for (NodeId id = 0; id < computation.size(); ++id) {
    for (const NodeId operand : computation[id].operands()) ++uses[operand];
  }
  return uses;
}

// Returns true for operations that take no longer for an element than to store and load it.
bool IsQuick(Opcode opcode) {
  switch (opcode) {
    case kAbs:
    case kNegate:
    case kNot:
    case kConvert:
    case kAdd:
    case kSubtract:
    case kMultiply:
    case kMaximum:
    case kMinimum:
    case kAnd:
    case kOr:
    case kXor:
    case kCompare:
    case kSelect: return true;
    default: return false;
  }
}

// Returns true for numbers that a fused program widens when it reads them.
bool IsNarrow(PrimitiveType type) {
  switch (type) {
    case kS8:
    case kU8:
    case kS16:
    case kU16:
    case kF16:
    case kBF16: return true;
    default: return false;
  }
}

// Says which operations may be computed slice by slice: quick ones; slow ones, too, if nothing else reads
// them; and outside of loops those from bytes and halves, which a loop's code would not read from anywhere.
enum class Sliced { kQuick, kAny, kAnyOutside };

// Returns true for an instruction of which a slice can be computed from slices of its operands.
bool CanBeSliced(Instruction instruction, Sliced sliced = Sliced::kQuick) {
  const Shape& shape = instruction.shape();
  if (!shape.IsArray() || shape.HasDynamicDimension() || shape.IsScalar()) return false;
  if (instruction.opcode() == kBroadcast) return !instruction.operand(0).shape().HasDynamicDimension();
  const bool quick = IsQuick(instruction.opcode()) ||
                     (sliced != Sliced::kQuick && HasTrait(instruction.opcode(), kElementwise));
  if (!quick || !IsExact(shape.type)) return false;
  const bool converts = sliced == Sliced::kAnyOutside && instruction.opcode() == kConvert;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const Shape& operand = instruction.operand(i).shape();
    if (operand.dims != shape.dims || operand.HasDynamicDimension()) return false;
    if (!IsExact(operand.type) && !(converts && IsNarrow(operand.type))) return false;
  }
  return true;
}

// Returns true for arrays that are in memory before an iteration reads them, or in none.
bool IsGiven(Opcode opcode) {
  return opcode == kParameter || opcode == kGetTupleElement || opcode == kConstant || opcode == kIota;
}

// Adds the operations to be sliced for slices of an instruction. Returns false if there are others.
bool AddSliced(Instruction instruction, std::set<NodeId>& sliced) {
  if (IsGiven(instruction.opcode()) || instruction.shape().IsScalar()) return true;
  if (!CanBeSliced(instruction)) return false;
  if (!sliced.insert(instruction.id()).second) return true;
  if (static_cast<int64_t>(sliced.size()) > kSlicedMax) return false;
  if (instruction.opcode() == kBroadcast) return true;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (!AddSliced(instruction.operand(i), sliced)) return false;
  }
  return true;
}

// Returns true for elements that a loop's code reads from anywhere.
bool IsReadable(PrimitiveType type) { return IsExact(type) && type != kPred; }

// Returns true if all inputs are computed slice by slice, from arrays that are given or smaller.
bool SlicesInputs(Instruction reduce) {
  std::set<NodeId> sliced;
  for (uint32_t i = 0; i < reduce.operand_count() / 2; ++i) {
    if (!AddSliced(reduce.operand(i), sliced)) return false;
  }
  return static_cast<int64_t>(sliced.size()) * ElementCount(reduce.operand(0).shape()).value_or(0) <=
         kSlicedMax;
}

const Shape& ResultOf(Instruction reduce) {
  return reduce.shape().IsTuple() ? reduce.shape().tuple[0] : reduce.shape();
}

bool IsFewElements(Instruction reduce) {
  const int64_t elements = ElementCount(reduce.operand(0).shape()).value_or(0);
  const int64_t results = ElementCount(ResultOf(reduce)).value_or(0);
  if (elements == 0 || elements > kElementsMax || results > kResultsMax) return false;
  return results == 1 || SlicesInputs(reduce);
}

// Returns true for reductions of the innermost dimension if it has very few elements.
bool IsShortRows(Instruction reduce) {
  if (reduce.operand_count() != 2) return false;
  const Shape& in = reduce.operand(0).shape();
  return reduce.dimensions().size() == 1 &&
         reduce.dimensions()[0] + 1 == static_cast<int64_t>(in.dims.size()) &&
         in.dims.back() <= kShortRowMax && in.dims.size() > 1;
}

// Returns the elements that become one, for reductions of many results that become operations on vectors;
// else 0.
int64_t ElementsOfMany(Instruction reduce) {
  const Shape& in = reduce.operand(0).shape();
  const int64_t elements = ElementCount(in).value_or(0);
  const int64_t results = ElementCount(ResultOf(reduce)).value_or(0);
  if (elements == 0 || results <= kResultsMax) return 0;
  if (IsShortRows(reduce)) return elements / results;
  if (results > kManyResultsMax) return 0;
  int64_t neighbours = 1;
  for (int64_t d = static_cast<int64_t>(in.dims.size()) - 1; d > reduce.dimensions().back(); --d)
    neighbours *= in.dims[static_cast<size_t>(d)];
  return neighbours <= kNeighboursMax && elements / results <= kElementsMax ? elements / results : 0;
}

// The slices of one computation's instructions, which reductions of one array share.
class Slices {
 public:
  // `outside` says that the computation is not run by a loop.
  Slices(const Computation& computation, bool outside) : uses_(UsesIn(computation)), outside_(outside) {}

  bool outside() const { return outside_; }
  // Returns true for instructions of which many results are computed slice by slice. Each element is computed
  // once, unless others read the array.
  bool Computes(Instruction instruction) const {
    if (uses_[instruction.id()] != 1) return CanBeSliced(instruction);
    return CanBeSliced(instruction, outside_ ? Sliced::kAnyOutside : Sliced::kAny);
  }

  // Returns the part of an instruction that begins at `start` and has the dimensions `sizes`; computed of
  // parts of its operands where that is possible, and these of theirs, through at most `depth` instructions:
  // what broadcasts read may be as deep as the program. If `many`, what they read is not computed anew: it
  // has fewer elements.
  NodeId Make(ComputationCopy& copy, Instruction of, const Dims& start, const Dims& sizes, int depth,
              bool many) {
    const std::tuple key(of.id(), start, sizes, depth > 0);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    NodeId made;
    if (of.shape().dims == sizes) {
      made = copy.node(of.id());
    } else if (depth == 0 || !(many ? Computes(of) : CanBeSliced(of))) {
      made = Slice(copy, of, start, sizes);
    } else if (of.opcode() == kBroadcast) {
      Dims operand_start, operand_sizes;
      for (const int64_t d : of.dimensions()) {
        operand_start.push_back(start[d]);
        operand_sizes.push_back(sizes[d]);
      }
      const NodeId operand =
          Make(copy, of.operand(0), operand_start, operand_sizes, many ? 0 : depth - 1, many);
      made = copy.CloneOver(of, {operand}, ShapeOf(copy, of, sizes));
    } else {
      std::vector<NodeId> operands;
      for (uint32_t i = 0; i < of.operand_count(); ++i)
        operands.push_back(Make(copy, of.operand(i), start, sizes, depth - 1, many));
      made = copy.CloneOver(of, operands, ShapeOf(copy, of, sizes));
    }
    return known_[key] = made;
  }

 private:
  static ShapeId ShapeOf(ComputationCopy& copy, Instruction like, const Dims& dims) {
    return copy.tables().Intern(Shape::Array(like.shape().type, dims));
  }

  static NodeId Slice(ComputationCopy& copy, Instruction of, const Dims& start, const Dims& sizes) {
    SliceAttributes slice;
    for (size_t d = 0; d < sizes.size(); ++d) {
      slice.start.push_back(start[d]);
      slice.limit.push_back(start[d] + sizes[d]);
      slice.stride.push_back(1);
    }
    return copy.Replace(of, kSlice, ShapeOf(copy, of, sizes), slice, {copy.node(of.id())});
  }

  std::vector<uint32_t> uses_;  // By instruction, how often it is used.
  bool outside_;
  std::map<std::tuple<NodeId, Dims, Dims, bool>, NodeId> known_;
};

// The operations of which many results' slices are computed, and whether the rest can be read.
class ManySliced {
 public:
  // `slices` says what can be sliced.
  explicit ManySliced(const Slices& slices) : slices_(slices) {}

  bool Add(Instruction instruction) {
    if (!slices_.Computes(instruction)) {
      const PrimitiveType type = instruction.shape().type;
      return IsReadable(type) || (slices_.outside() && IsNarrow(type));
    }
    if (!sliced_.insert(instruction.id()).second) return true;
    if (static_cast<int64_t>(sliced_.size()) > kElementsMax) return false;
    if (instruction.opcode() == kBroadcast) return IsReadable(instruction.operand(0).shape().type);
    for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
      if (!Add(instruction.operand(i))) return false;
    }
    return true;
  }
  int64_t count() const { return static_cast<int64_t>(sliced_.size()); }

 private:
  const Slices& slices_;
  std::set<NodeId> sliced_;
};

// Returns the instructions that an unrolled reduction becomes; 0 if it is not to be unrolled.
int64_t UnrolledInstructions(Instruction reduce, const Computation& reducer, const Slices& slices) {
  if (reduce.dimensions().empty()) return 0;
  for (uint32_t i = 0; i < reduce.operand_count(); ++i) {
    const Shape& shape = reduce.operand(i).shape();
    if (!IsExact(shape.type) || shape.HasDynamicDimension()) return 0;
  }
  int64_t count = 0;
  if (IsFewElements(reduce)) {
    count = ElementCount(reduce.operand(0).shape()).value_or(0) / ElementCount(ResultOf(reduce)).value_or(1) *
            static_cast<int64_t>(reducer.size());
  } else if (const int64_t elements = ElementsOfMany(reduce); elements != 0) {
    ManySliced sliced(slices);
    for (uint32_t i = 0; i < reduce.operand_count() / 2; ++i) {
      if (!sliced.Add(reduce.operand(i))) return 0;
    }
    count = elements * (static_cast<int64_t>(reducer.size()) + sliced.count());
  }
  return count <= kInstructionsMax && IsElementwiseFunction(reducer) ? count : 0;
}

// Unrolls one reduction.
class Unrolling {
 public:
  Unrolling(ComputationCopy& copy, Instruction reduce, Slices& slices)
      : copy_(copy),
        reduce_(reduce),
        reducer_(copy.module().computation(reduce.called()[0])),
        slices_(slices),
        many_(ElementCount(ResultOf(reduce)).value_or(0) > kResultsMax),
        slices_inputs_(many_ || SlicesInputs(reduce)),
        dims_(ResultOf(reduce).dims) {}

  NodeId Make() {
    const uint32_t count = reduce_.operand_count() / 2;
    std::vector<NodeId> state;
    for (uint32_t i = 0; i < count; ++i)
      state.push_back(Spread(copy_, reduce_, copy_.node(reduce_.operands()[count + i]), dims_));
    const Dims in = reduce_.operand(0).shape().dims;
    int64_t steps = 1;
    for (const int64_t d : reduce_.dimensions()) steps *= in[d];
    for (int64_t step = 0; step < steps; ++step) {
      std::vector<NodeId> arguments = state;
      for (uint32_t i = 0; i < count; ++i) arguments.push_back(SliceAt(i, step));
      state = ApplyToArrays(copy_, reduce_, reducer_, arguments, dims_);
    }
    if (!reduce_.shape().IsTuple()) return state[0];
    return copy_.Replace(reduce_, kTuple, reduce_.shape_id(), NoAttributes{}, state);
  }

 private:
  ShapeId ShapeOf(PrimitiveType type, const Dims& dims) {
    return copy_.tables().Intern(Shape::Array(type, dims));
  }

  // Returns the elements of input `i` at one position along the reduced dimensions.
  NodeId SliceAt(uint32_t i, int64_t step) {
    const Instruction input = reduce_.operand(i);
    Dims start(input.shape().dims.size(), 0), sizes = input.shape().dims;
    for (size_t r = reduce_.dimensions().size(); r-- > 0;) {
      const int64_t d = reduce_.dimensions()[r];
      start[d] = step % sizes[d];
      step /= sizes[d];
      sizes[d] = 1;
    }
    const NodeId part = slices_.Make(copy_, input, start, sizes, slices_inputs_ ? kSlicedMax : 0, many_);
    return copy_.Replace(reduce_, kReshape, ShapeOf(input.shape().type, dims_), DimensionsAttributes{},
                         {part});
  }

  ComputationCopy& copy_;
  const Instruction reduce_;
  const Computation& reducer_;
  Slices& slices_;
  const bool many_, slices_inputs_;
  const Dims dims_;
};

}  // namespace

bool HasReductionsToUnroll(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      const Instruction instruction = computation[id];
      if (instruction.opcode() == kWhile || (instruction.opcode() == kReduce && IsShortRows(instruction)))
        return true;
    }
  }
  return false;
}

std::unique_ptr<Module> UnrollReductions(const Module& module, PassWatch* watch) {
  const std::vector<bool> inside = ComputationsInLoops(module);
  ComputationId computation = 0;
  const Computation* current = &module.computation(0);
  Slices slices(*current, !inside[0]);
  int64_t left = kAllInstructionsMax;
  return Rewritten(module, watch, [&](ComputationCopy& copy, Instruction instruction) {
    while (current != &instruction.computation()) {
      current = &module.computation(++computation);
      slices = Slices(*current, !inside[computation]);
      left = kAllInstructionsMax;
    }
    if (instruction.opcode() != kReduce) return copy.Clone(instruction);
    if (slices.outside() && !IsShortRows(instruction)) return copy.Clone(instruction);
    const Computation& reducer = module.computation(instruction.called()[0]);
    const int64_t count = UnrolledInstructions(instruction, reducer, slices);
    if (count == 0 || count > left) return copy.Clone(instruction);
    left -= count;
    return Unrolling(copy, instruction, slices).Make();
  });
}

}  // namespace hlod::passes

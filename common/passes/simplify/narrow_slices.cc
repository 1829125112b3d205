// Computes only those elements of elementwise results that are used. If all users of such a result take the
// same slice of it, its operands are sliced instead, and so on towards the parameters:
//
//   a = f32[1000] exponential(x)              s = f32[4] slice(x), slice={[0:4]}
//   b = f32[1000] negate(a)         becomes   a = f32[4] exponential(s)
//   r = f32[4] slice(b), slice={[0:4]}        r = f32[4] negate(a)
//
// A backward walk finds which slice of each result is used; the copy then computes that.
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

bool HasDims(const Shape& shape, const Dims& dims) { return shape.IsArray() && shape.dims == dims; }

// Returns true for an instruction of which a slice can be computed from the same slice of its operands.
// Scalar operands, such as the bounds of a clamp, are used whole.
bool CanBeNarrowed(Instruction instruction) {
  const Shape& shape = instruction.shape();
  if (!shape.IsArray() || shape.HasDynamicDimension() || shape.IsScalar()) return false;
  if (instruction.opcode() == kBroadcast) return !instruction.operand(0).shape().HasDynamicDimension();
  if (!HasTrait(instruction.opcode(), kElementwise)) return false;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const Shape& operand = instruction.operand(i).shape();
    if (operand.HasDynamicDimension() || !(HasDims(operand, shape.dims) || operand.IsScalar())) return false;
  }
  return true;
}

// The use of each result of a computation: unused, whole, or the slice instruction that stands for all equal
// ones.
class Uses {
 public:
  explicit Uses(const Computation& computation)
      : computation_(computation), slice_(computation.size(), kUnused) {
    slice_[computation.root_id()] = kWhole;
    for (NodeId id = computation.size(); id-- > 0;) AddUsesBy(computation[id]);
  }

  // Returns the slice that is computed in place of the whole instruction; kNoNode if there is none.
  NodeId SliceOf(NodeId id) const {
    const bool narrowed = slice_[id] < kWhole && CanBeNarrowed(computation_[id]);
    return narrowed ? slice_[id] : Computation::kNoNode;
  }

 private:
  static constexpr NodeId kUnused = Computation::kNoNode, kWhole = Computation::kNoNode - 1;

  void AddUsesBy(Instruction user) {
    const NodeId slice = user.opcode() == kSlice ? user.id() : SliceOf(user.id());
    for (const NodeId operand : user.operands()) {
      const bool sliced = slice < kWhole && user.opcode() != kBroadcast &&
                          HasDims(computation_[operand].shape(), computation_[slice].operand(0).shape().dims);
      Add(operand, sliced ? slice : kWhole);
    }
  }
  void Add(NodeId operand, NodeId use) {
    NodeId& known = slice_[operand];
    const bool same = known < kWhole && use < kWhole &&
                      computation_[known].attributes_id() == computation_[use].attributes_id();
    if (known == kUnused) known = use;
    else if (!same) known = kWhole;
  }

  const Computation& computation_;
  std::vector<NodeId> slice_;
};

// Copies one computation.
class Narrowing {
 public:
  explicit Narrowing(const Computation& from) : from_(&from), uses_(from) {}

  const Computation* from() const { return from_; }

  NodeId Copy(ComputationCopy& copy, Instruction instruction) {
    if (instruction.opcode() == kSlice && IsNarrowed(instruction.operands()[0]))
      return copy.node(instruction.operands()[0]);
    if (!IsNarrowed(instruction.id())) return copy.Clone(instruction);
    const Instruction slice = (*from_)[uses_.SliceOf(instruction.id())];
    if (instruction.opcode() == kBroadcast) return CopyBroadcast(copy, instruction, slice);
    absl::InlinedVector<NodeId, 8> operands;
    for (const NodeId operand : instruction.operands()) {
      const bool whole = !HasDims((*from_)[operand].shape(), instruction.shape().dims);
      operands.push_back(whole || IsNarrowed(operand) ? copy.node(operand)
                                                      : Sliced(copy, instruction, operand, slice));
    }
    const ShapeId shape = ShapeOf(copy, instruction, slice.shape().dims);
    return CloneInstruction(instruction, operands, copy.to(), ClonedNotes::kWithoutControl, {.shape = shape});
  }

 private:
  bool IsNarrowed(NodeId id) const { return uses_.SliceOf(id) != Computation::kNoNode; }

  static ShapeId ShapeOf(ComputationCopy& copy, Instruction like, const Dims& dims) {
    return copy.tables().Intern(Shape::Array(like.shape().type, dims));
  }

  // Returns the slice of an operand, which equal users share.
  NodeId Sliced(ComputationCopy& copy, Instruction user, NodeId operand, Instruction slice) {
    const auto [known, added] = slices_.try_emplace({operand, slice.attributes_id()}, Computation::kNoNode);
    if (added) {
      known->second = copy.Replace(user, kSlice, ShapeOf(copy, (*from_)[operand], slice.shape().dims),
                                   slice.attributes<SliceAttributes>(), {copy.node(operand)});
    }
    return known->second;
  }

  // Slices the operand along its own dimensions, and broadcasts that.
  static NodeId CopyBroadcast(ComputationCopy& copy, Instruction broadcast, Instruction slice) {
    const auto& of_result = slice.attributes<SliceAttributes>();
    SliceAttributes of_operand;
    Dims dims;
    for (const int64_t d : broadcast.dimensions()) {
      of_operand.start.push_back(of_result.start[d]);
      of_operand.limit.push_back(of_result.limit[d]);
      of_operand.stride.push_back(of_result.stride[d]);
      dims.push_back(slice.shape().dims[d]);
    }
    NodeId operand = copy.node(broadcast.operands()[0]);
    if (!HasDims(broadcast.operand(0).shape(), dims)) {
      const ShapeId shape = ShapeOf(copy, broadcast, dims);
      operand = copy.Replace(broadcast, kSlice, shape, of_operand, {operand});
    }
    return CloneInstruction(broadcast, {operand}, copy.to(), ClonedNotes::kWithoutControl,
                            {.shape = ShapeOf(copy, broadcast, slice.shape().dims)});
  }

  const Computation* from_;
  Uses uses_;
  absl::flat_hash_map<std::pair<NodeId, AttributesId>, NodeId> slices_;
};

}  // namespace

bool HasWideSlices(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (computation[id].opcode() == kSlice && CanBeNarrowed(computation[id].operand(0))) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> NarrowSlices(const Module& module, PassWatch* watch) {
  std::optional<Narrowing> narrowing;
  return Rewritten(module, watch, [&narrowing](ComputationCopy& copy, Instruction instruction) {
    if (!narrowing || narrowing->from() != &instruction.computation())
      narrowing.emplace(instruction.computation());
    return narrowing->Copy(copy, instruction);
  });
}

}  // namespace hlod::passes

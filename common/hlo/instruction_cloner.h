// Copies instructions into another computation, over other operands and callees.
//
// A pass or a transform copies most of a computation and changes a little of it. An InstructionCloner does
// the copying: it knows the copy of each instruction so far, so that the next one gets the copies of its
// operands; names the callees by their new ids; translates shapes and attributes when the copy is over other
// Tables; and takes the notes along.
//
//   InstructionCloner cloner(callee, caller);
//   for (NodeId id = 0; id < callee.size(); ++id) {
//     if (callee[id].opcode() == kParameter) cloner.set_node(id, arguments[callee[id].parameter_number()]);
//     else cloner.Clone(id);
//   }
//   return cloner.node(callee.root_id());
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "common/hlo/module.h"
#include "common/hlo/translation.h"

namespace hlod::hlo {

// The notes that a copy shares with its original.
enum class ClonedNotes {
  kNone,
  kWithoutControl,  // All but the control predecessors.
  kAll,  // All, with control predecessors as they are: for copies whose ids are those of the originals.
};

// The parts of an instruction that its copy has instead of the original's.
struct ClonedParts {
  std::optional<ShapeId> shape;
  std::optional<AttributesId> attributes;
  std::optional<absl::Span<const ComputationId>> called;
};

// Appends a copy of `old` over `operands` to `to`, which is over the same Tables and may be the computation
// of `old`. Neither span may point into the arena of `to`.
NodeId CloneInstruction(Instruction old, absl::Span<const NodeId> operands, Computation& to,
                        ClonedNotes notes, const ClonedParts& parts = {});

// Gives instruction `now` of `to` the notes of `old`.
void CloneNotes(Instruction old, Computation& to, NodeId now, ClonedNotes notes);

class InstructionCloner {
 public:
  struct Options {
    // Returns the callee's new id. Null: copies call what the originals call.
    std::function<ComputationId(ComputationId)> callee = nullptr;
    // For a copy over other Tables. Not owned. Null: both are over the same.
    Translation* translation = nullptr;
    // Control predecessors become their copies, and are dropped where they have none.
    bool notes = true;
  };

  // Both computations must outlive the cloner.
  InstructionCloner(const Computation& from, Computation& to) : InstructionCloner(from, to, Options()) {}
  InstructionCloner(const Computation& from, Computation& to, Options options)
      : from_(from), to_(to), options_(std::move(options)), nodes_(from.size(), Computation::kNoNode) {}

  // Returns the copy of an instruction, or what was put in its place; kNoNode when there is none.
  NodeId node(NodeId old) const { return nodes_[old]; }
  bool has(NodeId old) const { return nodes_[old] != Computation::kNoNode; }
  void set_node(NodeId old, NodeId now) { nodes_[old] = now; }
  const std::vector<NodeId>& nodes() const { return nodes_; }

  // Returns the copies of an instruction's operands.
  absl::InlinedVector<NodeId, 8> operands(Instruction old) const;
  // Returns true when each operand has a copy.
  bool HasOperands(NodeId old) const;
  // Returns the new ids of an instruction's callees.
  absl::InlinedVector<ComputationId, 2> called(Instruction old) const;

  // Appends the copy of an instruction over the copies of its operands, and returns it.
  NodeId Clone(NodeId old) { return Clone(old, {}); }
  // The same with other parts, which are over the new Tables.
  NodeId Clone(NodeId old, const ClonedParts& parts) { return nodes_[old] = Append(from_[old], parts); }
  // The same without making it the copy of `old`, which another instruction may be.
  NodeId Append(Instruction old, const ClonedParts& parts = {});
  // Copies what has no copy yet, in order, and makes the copy of the root the root.
  void CloneAll();

 private:
  void CloneMappedNotes(Instruction old, NodeId now);

  const Computation& from_;
  Computation& to_;
  const Options options_;
  std::vector<NodeId> nodes_;
};

}  // namespace hlod::hlo

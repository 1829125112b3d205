// Forward and reverse mode over a part of a computation, by the rules of rules.h.
#pragma once

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/transform/functions/callee.h"

namespace hlod::lazy {

// A part of a computation: its nodes [first, limit), as far as they depend on `inputs`, where the walk stops.
// An input may lie before the part.
struct Subgraph {
  const hlo::Computation& computation;
  NodeId first = 0, limit = 0;
  std::vector<NodeId> inputs;
  std::vector<bool> wanted;      // Of each input: whether it varies.
  const Trace* graph = nullptr;  // Whose computation it is, for errors: may be null.
  const Subgraph* around = nullptr;  // Of a body: the part that has the instruction that calls it ...
  NodeId caller = 0;             // ... for errors, too.
};
// The whole body; `wanted`: which of its parameters vary.
Subgraph SubgraphOf(const CalleeBody& body, std::vector<bool> wanted, const Subgraph& around, NodeId caller);

// Refuses an instruction that has no rule, naming it and the line where it was recorded.
[[noreturn]] void RefuseRule(const Subgraph& part, NodeId node, const char* rule);
// ", of mul (model.cc:8),": where the instruction, or the one around it, was recorded, as far as it is known.
std::string OriginText(const Subgraph& part, NodeId node);

// Of each node of the part: whether a wanted input reaches it by a differentiable way.
std::vector<bool> ActiveNodes(const Subgraph& part);

// The values of a computation's nodes, as nodes of a target graph.
class PrimalValues {
 public:
  virtual ~PrimalValues() = default;
  virtual Op Of(NodeId node) = 0;
  // Element `index` of a tuple.
  virtual Op Element(NodeId node, size_t index) = 0;
  // Puts the wider form of an instruction in its place, and gives what it has more; nothing where it cannot.
  virtual std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) = 0;
  // Whether having what an instruction returns costs nothing, because it is there anyway.
  virtual bool IsFree() const { return true; }
};

// The nodes of the target graph itself.
class InPlacePrimals : public PrimalValues {
 public:
  explicit InPlacePrimals(Lowering& l) : l_(l) {}
  Op Of(NodeId node) override { return l_.graph.op(node); }
  Op Element(NodeId node, size_t index) override;
  std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) override;

 private:
  Lowering& l_;
};

// Copies of nodes of `from`, made on demand. Parameters are `parameters`, by number.
class RecomputedPrimals : public PrimalValues {
 public:
  RecomputedPrimals(Lowering& l, const hlo::Computation& from, std::vector<Op> parameters);
  Op Of(NodeId node) override;
  Op Element(NodeId node, size_t index) override;
  std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) override;
  // Takes something else for a node: an array, one that is made when it is asked for, or a tuple.
  void Set(NodeId node, Op op);
  void SetLazily(NodeId node, std::function<Op()> make) { lazy_[node] = std::move(make); }
  void SetElements(NodeId node, std::vector<Op> elements) { elements_[node] = std::move(elements); }

 private:
  NodeId Known(NodeId node);

  Lowering& l_;
  const hlo::Computation& from_;
  std::vector<Op> parameters_;
  std::vector<NodeId> copies_;
  absl::flat_hash_map<NodeId, std::function<Op()>> lazy_;
  absl::flat_hash_map<NodeId, std::vector<Op>> elements_;
  absl::flat_hash_map<std::pair<NodeId, size_t>, Op>
      set_elements_;  // By get-tuple-element nodes that were set.
};

// Reverse mode: the cotangents of the inputs, from those of nodes (`outputs` with `cotangents`, an absent one
// being zero). Appends to l. Absent results are zero, as are those of inputs that are not wanted; of an input
// that is named twice the first has the sum.
std::vector<Op> AppendVjp(Lowering& l, const Subgraph& part, PrimalValues& values,
                          absl::Span<const NodeId> outputs, absl::Span<const Op> cotangents);

// Forward mode: the tangents of `outputs` from those of the inputs. Where loops compute values and tangents
// together, `values` takes the values from there.
std::vector<Op> AppendJvp(Lowering& l, const Subgraph& part, RecomputedPrimals& values,
                          absl::Span<const Op> tangents, absl::Span<const NodeId> outputs);

// The body's outputs and their tangents (absent: zero), appended to l.
struct JvpResult {
  std::vector<Op> values, tangents;
};
JvpResult PushBody(Lowering& l, const CalleeBody& body, const std::vector<Op>& parameters,
                   const std::vector<Op>& tangents, const Subgraph& around, NodeId caller);

}  // namespace hlod::lazy

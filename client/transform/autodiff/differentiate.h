// Forward and reverse mode over a subgraph of a computation, by the rules of rules.h. vjp.cc explains the
// algorithm.
#pragma once

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/transform/functions/callee.h"

namespace hlod::lazy {

// The nodes [first, limit) of a computation, to be differentiated by `inputs`. Differentiation stops at the
// inputs. An input may be before `first`.
struct Subgraph {
  const hlo::Computation& computation;
  NodeId first = 0, limit = 0;
  std::vector<NodeId> inputs;
  std::vector<bool> wanted;      // Per input, true when it varies, and false when it is a constant here.
  const Trace* graph = nullptr;  // The trace of `computation`, or null; errors name lines of it.
  // Set when `computation` is a body: `around` contains the instruction `caller`, which calls it. Used for
  // errors.
  const Subgraph* around = nullptr;
  NodeId caller = 0;
};
// Returns the subgraph that is a whole body, with its parameters as the inputs.
Subgraph SubgraphOf(const CalleeBody& body, std::vector<bool> wanted, const Subgraph& around, NodeId caller);

// Throws the Refusal for an instruction without a rule; it names the instruction and the line that recorded
// it. `rule` is the kind of rule that is missing.
[[noreturn]] void RefuseRule(const Subgraph& part, NodeId node, const char* rule);
// Returns ", of mul (model.cc:8),": the operation and line that recorded the instruction or, in a body, the
// instruction that calls the body. Empty when unknown.
std::string OriginText(const Subgraph& part, NodeId node);

// Returns, per node of the part, true when it depends on a wanted input through differentiable values:
// floating or complex values, and no node that stops gradients.
std::vector<bool> ActiveNodes(const Subgraph& part);

// Provides the values of a computation's nodes (primals) as nodes of the target trace, on demand.
class PrimalValues {
 public:
  virtual ~PrimalValues() = default;
  virtual Op Of(NodeId node) = 0;
  // Returns element `index` of a node that is a tuple.
  virtual Op Element(NodeId node, size_t index) = 0;
  // Replaces a node by its wider form (callee.h) and returns the added elements; empty when it cannot be
  // replaced.
  virtual std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) = 0;
  // True when every node's result is computed anyway, so that using one costs nothing.
  virtual bool IsFree() const { return true; }
};

// The primals of a computation that is the target itself: each node is its own value.
class InPlacePrimals : public PrimalValues {
 public:
  explicit InPlacePrimals(Lowering& l) : l_(l) {}
  Op Of(NodeId node) override { return l_.graph.op(node); }
  Op Element(NodeId node, size_t index) override;
  std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) override;

 private:
  Lowering& l_;
};

// Copies nodes of `from`, together with the nodes that they depend on, into the target. `parameters` replace
// the parameters, by number.
class RecomputedPrimals : public PrimalValues {
 public:
  RecomputedPrimals(Lowering& l, const hlo::Computation& from, std::vector<Op> parameters);
  Op Of(NodeId node) override;
  Op Element(NodeId node, size_t index) override;
  std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) override;
  // Provide a node's value so that the node is not copied: an array, an array that `make` appends when it is
  // first needed, or the elements of a tuple.
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
      set_elements_;  // The values of get-tuple-element nodes that were set, by tuple and index.
};

// Reverse mode: appends to l the cotangents of the inputs, computed from `cotangents`, one per node of
// `outputs`, and returns one per input. An absent cotangent is zero, in `cotangents` and in the result.
// Unwanted inputs have an absent cotangent. When an input is listed twice, the first has the sum and the
// second is absent. Throws a Refusal when a rule is missing.
std::vector<Op> AppendVjp(Lowering& l, const Subgraph& part, PrimalValues& values,
                          absl::Span<const NodeId> outputs, absl::Span<const Op> cotangents);

// Forward mode: appends to l the tangents of `outputs`, computed from those of the inputs, and returns them;
// an absent tangent is zero. A loop is replaced by a loop of values and tangents, whose values are set in
// `values`, so that the loop does not run twice. Throws a Refusal when a rule is missing.
std::vector<Op> AppendJvp(Lowering& l, const Subgraph& part, RecomputedPrimals& values,
                          absl::Span<const Op> tangents, absl::Span<const NodeId> outputs);

// Appends a body in forward mode: returns its outputs and their tangents (absent: zero).
struct JvpResult {
  std::vector<Op> values, tangents;
};
JvpResult BodyJvp(Lowering& l, const CalleeBody& body, const std::vector<Op>& parameters,
                  const std::vector<Op>& tangents, const Subgraph& around, NodeId caller);

}  // namespace hlod::lazy

// Partial evaluation: decides which primal values the transpose of a computation saves from the forward run,
// and which it recomputes.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/transform/autodiff/differentiate.h"

namespace hlod::lazy {

// Provides primal values to a transpose that is built in a separate scratch trace. There are three ways:
// recompute the value in the scratch trace from values known outside, when that is cheap; hoist it, when it
// is loop-invariant; otherwise save it as an extra result of the computation, a residual. residual_primals.cc
// has an example.
class ResidualPrimals : public PrimalValues {
 public:
  enum class Source : uint8_t {
    kInvariant,  // Known outside, and the same in all iterations.
    kSlice,      // Known outside, with one value per iteration.
    kVarying,    // Known only during the forward run.
  };

  // `sources` says, per parameter of the body, where its value comes from. Appends get-tuple-elements to the
  // body, which must outlive this object.
  ResidualPrimals(Lowering& inner, CalleeBody& body, const std::vector<Source>& sources);
  // For the nodes of an open trace from `first` on. Earlier nodes and `known` are known outside, like slices.
  ResidualPrimals(Lowering& inner, Trace& graph, NodeId first, absl::Span<const NodeId> known);

  Op Of(NodeId node) override;
  Op Element(NodeId node, size_t index) override;
  std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) override;
  bool IsFree() const override { return false; }

  // A value that the scratch trace gets from outside: the node, and the scratch parameter for it.
  struct Residual {
    NodeId node = 0;
    Op parameter;
  };
  const std::vector<Residual>& invariants() const {
    return invariants_;
  }                                                                // Residuals to be computed once,
                                                                   // outside the loop.
  const std::vector<Residual>& slices() const { return slices_; }  // Residuals that are known outside.
  const std::vector<Residual>& kept() const { return kept_; }  // Residuals to be saved by the forward run.

 private:
  enum Needs : uint8_t { kNothing = 0, kInvariants = 1, kSlices = 2, kRun = 4 };
  static uint8_t NeedsOf(Source source);
  // Returns the union of the needs of everything that the node is computed from.
  uint8_t NeedsOf(NodeId node);
  bool IsCheap(NodeId node);     // True when light opcodes alone compute the node from values known outside.
  Op Make(NodeId node);
  Op Again(NodeId node);
  Op Take(std::vector<Residual>& list, NodeId node);

  void FindElements();

  Lowering& inner_;
  hlo::Computation& computation_;
  const NodeId first_ = 0;
  absl::flat_hash_map<NodeId, Source> sources_;
  std::vector<uint8_t> needs_;  // The needs by node, from first_ on.
  bool elements_found_ = false;
  absl::flat_hash_map<NodeId, bool> cheap_;
  absl::flat_hash_map<NodeId, Op> made_;
  absl::flat_hash_map<std::pair<NodeId, size_t>, NodeId> elements_;
  std::vector<Residual> invariants_, slices_, kept_;
};

class TapeEntry;

// Makes those primals live values of the trace that the gradient of `entry` would otherwise recompute at a
// cost, and stores them in entry.kept. (keep.cc)
void KeepForBackward(TapeEntry& entry, Trace& graph, const Caller& caller);

}  // namespace hlod::lazy

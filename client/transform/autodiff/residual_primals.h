// Partial evaluation: which values of a computation its transpose takes from the first run, and which it
// computes again.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/transform/autodiff/differentiate.h"

namespace hlod::lazy {

// How the transpose, in a scratch graph, has the values of a computation's nodes.
//
// What is cheap to make of what is known outside is made again. A value that depends on nothing that varies
// is computed once, outside. Every other one that is asked for is a residual, which the computation gives as
// one more result.
class ResidualPrimals : public PrimalValues {
 public:
  enum class Source : uint8_t {
    kInvariant,  // Known outside, the same at each iteration.
    kSlice,      // Known outside, of each iteration.
    kVarying,    // Known during the first run only.
  };

  // A body, and where its parameters come from. It is added to.
  ResidualPrimals(Lowering& inner, CalleeBody& body, const std::vector<Source>& sources);
  // The nodes of an open graph from `first` on; those before it and `known` are known outside, as slices are.
  ResidualPrimals(Lowering& inner, Trace& graph, NodeId first, absl::Span<const NodeId> known);

  Op Of(NodeId node) override;
  Op Element(NodeId node, size_t index) override;
  std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) override;
  bool IsFree() const override { return false; }

  // What was asked for: nodes, each with the scratch graph's parameter that is to have its value.
  struct Residual {
    NodeId node = 0;
    Op parameter;
  };
  const std::vector<Residual>& invariants() const { return invariants_; }  // Also nodes computed of such.
  const std::vector<Residual>& slices() const { return slices_; }          // Known ones.
  const std::vector<Residual>& kept() const { return kept_; }              // ResidualPrimals.

 private:
  enum Needs : uint8_t { kNothing = 0, kInvariants = 1, kSlices = 2, kRun = 4 };
  static uint8_t NeedsOf(Source source);
  uint8_t NeedsOf(NodeId node);  // Of all that it is computed from.
  bool IsCheap(NodeId node);     // To make again from what is known outside.
  Op Make(NodeId node);
  Op Again(NodeId node);
  Op Take(std::vector<Residual>& list, NodeId node);

  void FindElements();

  Lowering& inner_;
  hlo::Computation& computation_;
  const NodeId first_ = 0;
  absl::flat_hash_map<NodeId, Source> sources_;
  std::vector<uint8_t> needs_;  // By node, from first_ on.
  bool elements_found_ = false;
  absl::flat_hash_map<NodeId, bool> cheap_;
  absl::flat_hash_map<NodeId, Op> made_;
  absl::flat_hash_map<std::pair<NodeId, size_t>, NodeId> elements_;
  std::vector<Residual> invariants_, slices_, kept_;
};

class TapeEntry;

// keep.cc: the entry's residuals as live values of the graph.
void KeepForBackward(TapeEntry& entry, Trace& graph, const Caller& caller);

}  // namespace hlod::lazy

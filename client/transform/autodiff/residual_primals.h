// Partial evaluation: decides which primal values the transpose of a computation saves from the forward run,
// and which it computes again.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/transform/autodiff/differentiate.h"

namespace hlod::lazy {

// Provides primal values to a transpose that is built in a scratch trace, apart from the computation. There
// are three ways: recompute the value in the scratch trace from values known outside, when that is cheap;
// hoist it, when it is loop-invariant; otherwise save it as an extra result of the computation, a residual.
// residual_primals.cc has an example.
class ResidualPrimals : public PrimalValues {
 public:
  enum class Source : uint8_t {
    kInvariant,  // Known outside, the same in all iterations.
    kSlice,      // Known outside, one value per iteration.
    kVarying,    // Known during the forward run only.
  };

  // `sources`: per parameter of the body, where its value comes from. Appends get-tuple-elements to the body,
  // which must outlive this.
  ResidualPrimals(Lowering& inner, CalleeBody& body, const std::vector<Source>& sources);
  // Covers the nodes of an open trace from `first` on. Earlier nodes and `known` count as slices: known
  // outside.
  ResidualPrimals(Lowering& inner, Trace& graph, NodeId first, absl::Span<const NodeId> known);

  Op Of(NodeId node) override;
  Op Element(NodeId node, size_t index) override;
  std::vector<Op> ExtendTuple(NodeId node, const TupleExtension& wider) override;
  bool IsFree() const override { return false; }

  // A value that the scratch trace takes from outside: the node, and the scratch parameter that stands for
  // it.
  struct Residual {
    NodeId node = 0;
    Op parameter;
  };
  const std::vector<Residual>& invariants() const { return invariants_; }  // To be computed once, outside.
  const std::vector<Residual>& slices() const { return slices_; }          // Known outside.
  const std::vector<Residual>& kept() const { return kept_; }              // To be saved by the forward run.

 private:
  enum Needs : uint8_t { kNothing = 0, kInvariants = 1, kSlices = 2, kRun = 4 };
  static uint8_t NeedsOf(Source source);
  uint8_t NeedsOf(NodeId node);  // The union over everything that the node is computed from.
  bool IsCheap(NodeId node);     // True when light opcodes alone compute the node from values known outside.
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

// Makes the primals that the gradient of `entry` would compute again at a cost live values of the trace, and
// stores them in entry.kept. (keep.cc)
void KeepForBackward(TapeEntry& entry, Trace& graph, const Caller& caller);

}  // namespace hlod::lazy

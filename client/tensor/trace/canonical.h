// The canonical form of a part of a graph: what some nodes depend on, in an order that does not depend on the
// order of recording; and the module made of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/trace/trace.h"

namespace hlod::lazy {

struct Canonical {
  std::unique_ptr<hlo::Computation> computation;
  std::vector<uint32_t> parameters;  // Of each of its parameters: the graph's.
  std::vector<NodeId> outputs;       // Nodes of `computation`, as the graph's were given.
  std::vector<NodeId> nodes;         // Of each of its nodes: the graph's.
};

// Walks from `outputs`, operands first.
Canonical Canonicalise(const Trace& graph, absl::Span<const NodeId> outputs);

// A module over the same tables whose entry returns the outputs: one as it is, several as a tuple. Its
// instructions stand in the order in which they were recorded. A daemon runs them in that order, so the order
// decides what is alive together: a step in the program's own order computes a layer again, and its weights'
// gradients, where the backward pass reaches the layer, while the canonical order, from the outputs down,
// would compute all layers again first. Instructions carry the operation and the source line as metadata.
// `donated`: canonical parameters whose memory it may take over.
std::unique_ptr<Module> MakeModule(std::string name, const Trace& graph, const Canonical& canonical,
                                   absl::Span<const uint32_t> donated);

}  // namespace hlod::lazy

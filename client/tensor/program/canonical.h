// The canonical form of a part of a trace: the nodes that some outputs depend on, in an order that is
// independent of the order of recording; and the module made from it.
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
  std::vector<uint32_t> parameters;  // parameters[i] is the trace's parameter for parameter i.
  std::vector<NodeId> outputs;       // The requested outputs, as nodes of `computation`.
  // nodes[i]: the trace's node that node i was copied from; kNoNode for a parameter that was added.
  std::vector<NodeId> nodes;
};

// Returns the canonical form of the nodes that `outputs` depend on, by a walk that visits operands before
// their users.
Canonical Canonicalise(const Trace& graph, absl::Span<const NodeId> outputs);

// Returns a module over the same tables whose entry returns the outputs: one as it is, several as a tuple.
// Its instructions keep the order in which they were recorded. A daemon runs them in that order, so the order
// determines which values are alive together: in the program's own order a step recomputes a layer when the
// backward pass reaches it, while the canonical order, from the outputs down, would recompute all layers
// first. Instructions carry the operation and the source line as metadata. `donated` lists the canonical
// parameters whose memory the program may take over, `output_shardings` the serialized OpShardings that the
// outputs are stated to have; empty ones state none.
std::unique_ptr<Module> MakeModule(std::string name, const Trace& graph, const Canonical& canonical,
                                   absl::Span<const uint32_t> donated,
                                   absl::Span<const std::string> output_shardings = {});

}  // namespace hlod::lazy

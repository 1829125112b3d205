// Operations on host tensors: recorded with the same lowerings, and evaluated at once in this process.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/graph.h"

namespace hlod::lazy {

// The values of nodes of a host graph. REQUIRES: TraceLock. Throws Refusal.
std::vector<std::shared_ptr<const Literal>> Evaluate(const Graph& graph, absl::Span<const NodeId> nodes);
// Makes the bytes of a recipe of the host. REQUIRES: TraceLock.
void EvaluateRecipe(Value& value);

}  // namespace hlod::lazy

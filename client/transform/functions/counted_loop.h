// Rewrites while loops with a constant trip count as scans, which can be differentiated and batched.
#pragma once

#include <optional>

#include "client/transform/functions/callee.h"

namespace hlod::lazy {

// A while loop. `init` is the node of `computation` with its initial state. `body` and `condition` are in the
// table of callees.
struct WhileLoop {
  const hlo::Computation& computation;
  NodeId init;
  hlo::ComputationId body, condition;
};
// Returns the constant trip count, or nullopt when the loop is not `for (i = a; i < b; i += c)` with
// constants (common/hlo/analysis/trip_count.h says which forms are found) or runs more than 2^20 times.
std::optional<int64_t> ScanLengthOf(const WhileLoop& loop);
// Returns the loop's body as the body of a scan whose input is ignored and whose carries are the state;
// nullopt if the state is not a tuple of arrays.
std::optional<hlo::ComputationId> ScanBodyOf(const WhileLoop& loop);

// Appends the loop to `to`, which is loop.computation, as a scan, and returns a tuple like the loop's result.
// Arrays that the iterations only read, one slice each, become inputs of the scan; arrays that they only
// write, one slice each, become outputs. Returns nullopt when ScanLengthOf() or ScanBodyOf() does.
std::optional<NodeId> AppendAsScan(hlo::Computation& to, const WhileLoop& loop);

}  // namespace hlod::lazy

// Loops of others that count from a constant to a constant: as scans, which every transform knows.
#pragma once

#include <optional>

#include "client/transform/functions/callee.h"

namespace hlod::lazy {

// A while over callees of the tracer, whose state begins as node `init` of `computation`.
struct WhileLoop {
  const hlo::Computation& computation;
  NodeId init;
  hlo::ComputationId body, condition;
};
// How often its body runs; nothing where that does not follow from the words: one element of the state begins
// as a constant, grows by a constant, and is compared with a constant.
std::optional<int64_t> ScanLengthOf(const WhileLoop& loop);
// The loop's body as that of a scan whose input is ignored and whose carries are the state. Nothing where the
// state has tuples in it.
std::optional<hlo::ComputationId> ScanBodyOf(const WhileLoop& loop);

// Appends the loop to `to`, which is its computation, as a scan: arrays of the state that the turns only take
// slices of, one after the other, become its inputs, those that they only fill become its outputs. Gives a
// tuple like the loop's. Nothing where ScanLengthOf() or ScanBodyOf() give nothing.
std::optional<NodeId> AppendAsScan(hlo::Computation& to, const WhileLoop& loop);

}  // namespace hlod::lazy

// When each value of a program is in use.
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/engine/plan/lowering.h"

namespace hlod::engine {

// Time: op i reads and writes at 2i + 1, so values that meet at one op overlap there unless the op allows
// them to share.
constexpr int32_t TimeOf(int32_t op) { return 2 * op + 1; }

struct Segment {
  int32_t start, end;  // Both inclusive.
};
// In order, not touching. More than one where control flow jumps over times at which the value need not be
// kept: a loop's state after its last use in the body and before the body's results are moved in; a
// conditional's result in the branches not yet done.
using Segments = absl::InlinedVector<Segment, 2>;

// For each value. Arguments are in use from before the first op. A value used in a loop that it was not
// computed in stays in use until that loop exits. What is written is in use for at least half a step longer,
// even when nobody reads it.
std::vector<Segments> ComputeLiveness(const FlatProgram& program);

// Adds `segments` to `into`, joining those that touch. REQUIRES: they overlap in no more than end points.
void AddSegments(Segments& into, const Segments& segments);

}  // namespace hlod::engine

// The times at which each value of a program is in use.
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/engine/plan/lowering/lowering.h"

namespace hlod::engine {

// Returns the time of op i, 2i + 1, at which it reads and writes. So values that meet at an op overlap there,
// unless the op allows them to share.
constexpr int32_t TimeOf(int32_t op) { return 2 * op + 1; }

struct Segment {
  int32_t start, end;  // Both ends are inclusive.
};
// The times at which a value is in use: segments in order that do not touch one another. There are several
// when control flow skips times at which the value is not needed: a loop's state after its last use in the
// body and before the body's results are moved in; a conditional's result in the branches that have not run
// yet.
using Segments = absl::InlinedVector<Segment, 2>;

// Returns the segments of each value. Arguments are in use from before the first op. A value that is used in
// a loop in which it was not computed stays in use until that loop exits. A value that is written is in use
// for at least half a step longer, even when no op reads it.
std::vector<Segments> ComputeLiveness(const FlatProgram& program);

// Adds `segments` to `into`, joining those that touch. REQUIRES: they overlap at most in end points.
void AddSegments(Segments& into, const Segments& segments);

}  // namespace hlod::engine

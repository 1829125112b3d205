// The order in which a reduce visits its operand; shared by recognised and general reducers.
#pragma once

#include "common/hlo/module.h"
#include "server/engine/run/step.h"
#include "server/engine/run/strided_index.h"

namespace hlod::engine {

// Element (output o, reduced position r) of the operand is at kept.Offset(o) + reduced.Offset(r), in
// elements.
struct ReduceWalk {
  StridedIndex kept, reduced;
};
ReduceWalk MakeReduceWalk(const hlo::Shape& operand, absl::Span<const int64_t> dimensions);

// Defined in reduce_general.cc: for several operands, or a reducer that is not recognised. Returns null if
// its computation cannot be a ScalarFunction.
MaybeStep MakeGeneralReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine

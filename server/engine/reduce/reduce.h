// How a reduce walks its operand, shared by the recognised reducers and the general ones.
#pragma once

#include "common/hlo/module.h"
#include "server/engine/run/step.h"
#include "server/engine/run/strided_index.h"

namespace hlod::engine {

// Element (output o, reduced position r) of the operand lies at kept.Offset(o) + reduced.Offset(r), in
// elements.
struct ReduceWalk {
  StridedIndex kept, reduced;
};
ReduceWalk MakeReduceWalk(const hlo::Shape& operand, absl::Span<const int64_t> dimensions);

// reduce_general.cc: several operands, or a reducer that is not one of the recognised ones. Null when its
// computation is not a ScalarFunction.
MaybeStep MakeGeneralReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine

// Shared by the passes over loops' bodies, in which a step that is called takes longer than a few elements.
#pragma once

#include <vector>

#include "common/passes/copy.h"

namespace hlod::passes {

// Returns, by computation, whether it is run by each iteration of a loop.
std::vector<bool> ComputationsInLoops(const hlo::Module& module);

// Returns true for types whose reductions are computed in them. (Sums of narrower floats are wider.)
bool IsExact(hlo::PrimitiveType type);

// Returns true for functions of scalars that ApplyToArrays can apply.
bool IsElementwiseFunction(const hlo::Computation& function);

// Returns a scalar broadcast to `dims`, in the place of `old`.
hlo::NodeId Spread(ComputationCopy& copy, hlo::Instruction old, hlo::NodeId scalar, const hlo::Dims& dims);

// Applies a function of scalars to each element of arrays of `dims`, in the place of `old`. Returns its
// results. REQUIRES: IsElementwiseFunction(function).
std::vector<hlo::NodeId> ApplyToArrays(ComputationCopy& copy, hlo::Instruction old,
                                       const hlo::Computation& function,
                                       const std::vector<hlo::NodeId>& arguments, const hlo::Dims& dims);

}  // namespace hlod::passes

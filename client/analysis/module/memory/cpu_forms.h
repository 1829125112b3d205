// The forms that XLA's CPU backend gives to instructions which it has no kernel for.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns the module with the copies that those forms need:
// - A dot of bf16 or f16 is computed in f32, from converted operands (XLA's FloatNormalization).
// - So are scatters, sorts and reductions of windows of bf16.
// - A quotient of floats by a broadcast array is a product with the broadcast reciprocals, which are an array
//   of their own (AlgebraicSimplifier).
// - An all-gather joins along the slowest dimension: along another one, what it reads and what it gives are
//   copied to a layout in which that one is slowest (CpuLayoutAssignment).
// - An all-to-all of one array is one of slices, each an array of its own, which are cut out of the operand
// and
//   joined after (AllToAllDecomposer).
std::unique_ptr<hlo::Module> WithCpuForms(const hlo::Module& module);

}  // namespace hlod::analysis

// Instructions that XLA's CPU backend replaces by several.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns the module with the arrays that come with these replacements:
// - A reduction of more than 32 elements along a dimension, unless it is the library's, is one of pieces of
//   32 before (TreeReductionRewriter).
// - A convolution reads and gives arrays of the one order of dimensions that its kernels have, transposed
//   before and after (ConvCanonicalization); one of bf16 or f16 is computed in f32.
// - A select-and-scatter finds the selected places by a reduction of windows of the operand and of an index
//   per dimension, and scatters (SelectAndScatterExpander).
// - A running total along a dimension of more than 16 elements is one of rows of 16, with the totals of the
//   rows before added (ReduceWindowRewriter).
std::unique_ptr<hlo::Module> WithCpuExpansions(const hlo::Module& module);

}  // namespace hlod::analysis

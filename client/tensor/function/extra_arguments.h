// The operands for a function's parameters after its arguments, with random numbers from a position that the
// caller chooses: for the bodies of loops and branches.
#pragma once

#include <vector>

#include "client/tensor/dispatch/generator.h"
#include "client/tensor/function/function.h"

namespace hlod::lazy {

// Like ExtraArguments(), but positions in the stream begin at `random` and are `repeats` times as far apart.
// Takes the function's captured tensors from the front of `captured`.
std::vector<Op> ExtraArgumentsFrom(Lowering& l, const Function& function, absl::Span<const Op>& captured,
                                   const RandomState& random, uint64_t repeats = 1);

}  // namespace hlod::lazy

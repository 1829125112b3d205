// What a function's parameters after its arguments stand for, where its random numbers begin at a place of
// the caller's choice: of the bodies of loops and branches.
#pragma once

#include <vector>

#include "client/tensor/dispatch/generator.h"
#include "client/tensor/function/function.h"

namespace hlod::lazy {

// As ExtraArguments() gives them, positions in the stream beginning at `random` and `repeats` times as far
// apart. The function's captured tensors are taken from the front of `captured`.
std::vector<Op> ExtraArgumentsFrom(Lowering& l, const Function& function, absl::Span<const Op>& captured,
                                   const RandomState& random, uint64_t repeats = 1);

}  // namespace hlod::lazy

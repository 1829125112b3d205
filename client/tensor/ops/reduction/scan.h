// Running results along a dimension: sums, products, extremes of all that came before.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Joins what stands before with what stands behind it, element by element; associative.
using JoinOps = absl::FunctionRef<std::vector<Op>(Lowering&, absl::Span<const Op>, absl::Span<const Op>)>;
// Every prefix of dimension `dim`, joined: element i becomes the join of 0 to i. The operands have one shape.
// Neighbours are joined to half as many elements, and these again, so that n elements take about 2 n joins
// (of long dimensions), in 2 log2(n) instructions.
std::vector<Op> Prefixes(Lowering& l, std::vector<Op> x, int64_t dim, JoinOps join);
// The same of one operand by an opcode.
Op Prefixes(Lowering& l, Op x, int64_t dim, hlo::Opcode opcode);

}  // namespace hlod::lazy

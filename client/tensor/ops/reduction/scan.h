// Prefix operations along a dimension: cumulative sums, products, extremes.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Combines earlier elements (the first span) with later ones, elementwise. Must be associative.
using JoinOps = absl::FunctionRef<std::vector<Op>(Lowering&, absl::Span<const Op>, absl::Span<const Op>)>;
// Returns every prefix along dimension `dim`: element i becomes the combination of elements 0 to i. The
// operands have the same shape. Neighbours are joined to half as many elements, recursively, so that n
// elements of a long dimension take about 2 n joins in 2 log2(n) instructions. A dimension that grows is
// padded with `padding`.
std::vector<Op> Prefixes(Lowering& l, std::vector<Op> x, int64_t dim, JoinOps join, double padding = 0);
// The same in the order of JAX's associative_scan, of which the joined values may depend, such as the shares
// of equal elements in the derivative of a maximum. The dimension is not padded.
std::vector<Op> PrefixesInPairs(Lowering& l, std::vector<Op> x, int64_t dim, JoinOps join);
// Like Prefixes above for one operand and an opcode.
Op Prefixes(Lowering& l, Op x, int64_t dim, hlo::Opcode opcode);

}  // namespace hlod::lazy

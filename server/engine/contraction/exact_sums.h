// Sums of products of integers that f32 computes exactly, and several times as fast as loops over integers.
#pragma once

#include "common/hlo/primitive_type.h"
#include "server/engine/run/compute_types.h"

namespace hlod::engine {

// Returns true if every sum of `terms` products is a whole number that f32 represents, in whatever order the
// products are added: up to 1,024 products of s8.
bool SumsAreExactInF32(double terms, hlo::PrimitiveType lhs, hlo::PrimitiveType rhs);

// Returns the conversion of exact sums in f32 to integers, which wrap; null for types that are no integers of
// whole bytes.
ConvertFunction FindWholeSumConversion(hlo::PrimitiveType to);

}  // namespace hlod::engine

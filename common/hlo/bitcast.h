// Expresses a bitcast without layouts. A bitcast reinterprets the bytes of its operand, which are in the
// order of the operand's layout, by the layout of its result. hlod's arrays have no layouts, so the operand
// is first brought into the order of its memory, that memory is reshaped like the result's memory, and the
// result is brought into its logical order.
//
// For example, s32[3,2]{0,1} bitcast(s32[2,3]{1,0}) is [2,3] in memory on both sides; read as [2,3] and
// transposed, it is [3,2].
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// A reshape to `dims`, then a transposition by `permutation` (as in HLO's transpose).
struct Reordering {
  Dims dims;
  Dims permutation;
};

// Returns true when an array's memory is in its logical order.
bool IsRowMajor(const Shape& shape);

struct BitcastForm {
  // Applied to the operand; the result is row-major in the order of the operand's memory.
  std::vector<Reordering> to_memory;
  // Applied to these row-major elements in the result's type.
  std::vector<Reordering> from_memory;
};

// Returns the steps of a bitcast; a list is empty when the order in memory is the logical order. REQUIRES:
// both shapes are static, pass ValidateShape, and have the same number of bits. UNIMPLEMENTED, with both
// shapes, for tiles that pad in different ways, for a change between types narrower than a byte, and for
// layouts that hlod does not model (split configurations, tiles that merge dimensions).
absl::StatusOr<BitcastForm> BitcastFormOf(const Shape& operand, const Shape& result);
// Does the same for an instruction, which the error names. Also UNIMPLEMENTED when dimensions are dynamic and
// the layouts differ.
absl::StatusOr<BitcastForm> BitcastFormOf(Instruction bitcast);

}  // namespace hlod::hlo

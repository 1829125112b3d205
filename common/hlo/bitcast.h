// A bitcast reads the bytes of its operand, which lie in memory by the operand's layout, by the layout of its
// result. Arrays of hlod have no layouts, so a bitcast is expressed on whole arrays: the operand is put into
// the order of its memory, that order is cut up as the result's memory is, and the result is put into its own
// order.
//
// For example, s32[3,2]{0,1} bitcast(s32[2,3]{1,0}) lies in memory as [2,3] on both sides; read as [2,3] and
// transposed it is [3,2].
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
  // Applied to the operand; the result lies row-major, as the operand's memory does.
  std::vector<Reordering> to_memory;
  // Applied to the row-major elements, in the result's type.
  std::vector<Reordering> from_memory;
};

// Returns the steps of a bitcast; either list is empty where the order in memory is the logical one.
// REQUIRES: both shapes are static, pass ValidateShape, and have the same number of bits. UNIMPLEMENTED, with
// both shapes, for tiles that pad in different ways, for a change between types narrower than a byte, and for
// layouts that hlod does not model (split configurations, tiles that merge dimensions).
absl::StatusOr<BitcastForm> BitcastFormOf(const Shape& operand, const Shape& result);
// Does the same for an instruction, which the error names. Also UNIMPLEMENTED when dimensions are dynamic and
// the layouts differ.
absl::StatusOr<BitcastForm> BitcastFormOf(Instruction bitcast);

}  // namespace hlod::hlo

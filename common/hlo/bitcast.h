// A bitcast reads the bytes of its operand, as the operand's layout puts them into memory, by the layout of
// its result. Here arrays have no layouts, so the same is said of whole arrays: the operand in the order of
// its memory, then that order cut up as the result's memory is, then the result in its own order.
//
// s32[3,2]{0,1} bitcast(s32[2,3]{1,0}) lies in memory as [2,3] on both sides; read as [2,3] and transposed it
// is [3,2].
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// A reshape to `dims`, then a transposition by `permutation` (as of HLO's transpose).
struct Reordering {
  Dims dims;
  Dims permutation;
};

// Whether an array's memory is in its logical order.
bool IsRowMajor(const Shape& shape);

struct BitcastForm {
  std::vector<Reordering> to_memory;    // Of the operand; what is left lies row-major, as its memory does.
  std::vector<Reordering> from_memory;  // Of the row-major elements, in the result's type.
};

// Either list is empty where the order in memory is the logical one. REQUIRES: both shapes are static and
// pass ValidateShape, and have as many bits. UNIMPLEMENTED naming both: tiles that pad in different ways,
// types below a byte that change, layouts that hlod does not model (split configurations, tiles that merge
// dimensions).
absl::StatusOr<BitcastForm> BitcastFormOf(const Shape& operand, const Shape& result);
// Of an instruction, which is named. UNIMPLEMENTED of dynamic dimensions between other layouts, too.
absl::StatusOr<BitcastForm> BitcastFormOf(Instruction bitcast);

}  // namespace hlod::hlo

// Tiles of sums of integer products, for operands of 8 and 16 bits and sums of 32 bits, which wrap.
//
// Processors multiply neighbouring 16-bit integers and add each two products in one instruction. Hence
// operands are widened to 16 bits, and depth is counted in pairs: a panel of rhs has, pair by pair, both
// elements of one column after those of the other; a row of lhs has its pairs one after another. An odd depth
// ends with a zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/hlo/primitive_type.h"

namespace hlod::engine {

// The operands and the result of a tile. Strides count elements.
struct PairTile {
  const int16_t* lhs;
  int64_t lhs_row;
  // The offsets in lhs at which sums continue, such as the positions of a convolution's kernel. The panel has
  // `pairs` pairs for each.
  const int64_t* taps;
  int64_t tap_count;
  int64_t pairs;
  const int16_t* rhs;
  int32_t* out;
  int64_t out_row;
  int columns;  // The columns to be written.
  bool adds;    // Adds to the output's contents instead of overwriting them.
};

// Widens `count` elements that are `stride` elements apart.
using WidenRow = void (*)(const std::byte* from, int64_t stride, int64_t count, int16_t* to);

// The part of rhs that a panel is made of. Strides count elements.
struct PairSource {
  const std::byte* data;
  int64_t column_stride, depth_stride;
  int64_t columns, depth;
};
// Writes a panel of PairKernels::columns() columns, of which those that rhs lacks are zeros.
using PackPairs = void (*)(const PairSource& source, int16_t* panel);

struct PairKernels {
  static constexpr int kRowsMax = 12, kVectorsMax = 2, kTypes = 3;
  int rows, lanes;  // The rows of the largest tile, and the sums of a vector.
  int columns() const { return kVectorsMax * lanes; }

  using Tile = void (*)(const PairTile& tile);
  Tile tiles[kRowsMax][kVectorsMax];  // By rows - 1 and vectors of columns - 1.
  WidenRow widen[kTypes];             // By PairTypeOf.
  PackPairs pack[kTypes];
};

// Returns the kernels for this processor.
const PairKernels& GetPairKernels();

// Returns the number of an operand's type in the tables, or nullopt if it has none.
inline std::optional<int> PairTypeOf(hlo::PrimitiveType type) {
  if (type == hlo::kS8) return 0;
  if (type == hlo::kU8) return 1;
  if (type == hlo::kS16) return 2;
  return std::nullopt;
}

// Returns true if sums of products of these types are computed in pairs.
inline bool SumsInPairs(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out) {
  constexpr int kSumBits = 32, kWholeBytesMin = 8;
  const int bits = hlo::Info(out).bits;
  return PairTypeOf(lhs) && PairTypeOf(rhs) && hlo::IsInteger(out) && bits <= kSumBits &&
         bits >= kWholeBytesMin;
}

}  // namespace hlod::engine

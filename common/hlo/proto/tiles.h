// Cuts arrays into the tiles that the devices of a mesh hold, and joins tiles. All tiles of an array have one
// shape: where a dimension does not divide evenly, the last tiles along it end with zeros.
#pragma once

#include "absl/types/span.h"
#include "common/hlo/literal.h"
#include "common/hlo/proto/tiling.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// Returns the shape of a tile, without a layout. REQUIRES, as the other functions here: the tiling is one of
// arrays of this rank.
Shape TileShape(const Shape& whole, const Tiling& tiling);

// Returns the tile at a position of an array, given as its bytes in row-major order.
Literal CutTile(absl::Span<const std::byte> bytes, const Shape& whole, const Tiling& tiling,
                const Dims& position);

// Copies a tile to its place in an array; what lies beyond the array's end is left out.
void PlaceTile(const Literal& tile, const Dims& position, Literal& whole);

// Returns the devices of the tiling that hold a tile first: each tile occurs once.
std::vector<size_t> FirstHolders(const Tiling& tiling);

}  // namespace hlod::hlo

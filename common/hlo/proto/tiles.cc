// Both directions copy rows: runs of elements along the last dimension.
#include "common/hlo/proto/tiles.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace hlod::hlo {
namespace {

// A row that a tile shares with its array, as bytes from the beginning of each.
struct TileRow {
  size_t in_whole, in_tile, bytes;
};

// Calls `visit` with each row of the part of the array that the tile at `position` has.
template <typename Visit>
void ForEachRow(const Shape& whole, const Shape& tile, const Dims& position, Visit visit) {
  const size_t rank = whole.dims.size(), width = static_cast<size_t>(ByteWidth(whole.type));
  Dims begin(rank), extent(rank);
  for (size_t d = 0; d < rank; ++d) {
    begin[d] = std::min(whole.dims[d], position[d] * tile.dims[d]);
    extent[d] = std::min(tile.dims[d], whole.dims[d] - begin[d]);
    if (extent[d] == 0) return;
  }
  const size_t row_bytes = (rank == 0 ? 1 : static_cast<size_t>(extent[rank - 1])) * width;
  Dims index(rank, 0);
  while (true) {
    size_t in_whole = 0, in_tile = 0;
    for (size_t d = 0; d < rank; ++d) {
      in_whole = in_whole * static_cast<size_t>(whole.dims[d]) + static_cast<size_t>(begin[d] + index[d]);
      in_tile = in_tile * static_cast<size_t>(tile.dims[d]) + static_cast<size_t>(index[d]);
    }
    visit(TileRow{in_whole * width, in_tile * width, row_bytes});
    size_t d = rank < 2 ? 0 : rank - 1;
    while (d > 0 && ++index[d - 1] == extent[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

Shape TileShape(const Shape& whole, const Tiling& tiling) {
  Shape tile = whole;
  tile.layout.reset();
  for (size_t d = 0; d < tile.dims.size(); ++d)
    tile.dims[d] = (tile.dims[d] + tiling.parts[d] - 1) / tiling.parts[d];
  return tile;
}

Literal CutTile(absl::Span<const std::byte> bytes, const Shape& whole, const Tiling& tiling,
                const Dims& position) {
  Literal tile(TileShape(whole, tiling));
  ForEachRow(whole, tile.shape(), position, [&](const TileRow& row) {
    std::memcpy(tile.bytes().data() + row.in_tile, bytes.data() + row.in_whole, row.bytes);
  });
  return tile;
}

void PlaceTile(const Literal& tile, const Dims& position, Literal& whole) {
  ForEachRow(whole.shape(), tile.shape(), position, [&](const TileRow& row) {
    std::memcpy(whole.bytes().data() + row.in_whole, tile.bytes().data() + row.in_tile, row.bytes);
  });
}

std::vector<size_t> FirstHolders(const Tiling& tiling) {
  std::vector<size_t> devices;
  std::set<Dims> seen;
  for (size_t device = 0; device < tiling.tiles.size(); ++device) {
    if (seen.insert(tiling.tiles[device]).second) devices.push_back(device);
  }
  return devices;
}

}  // namespace hlod::hlo

// Tile functions for the minimum processor that the compiler assumes.
#define HLOD_TILE_SET baseline
#define HLOD_TARGET
#include "server/engine/tile/ops/ops_impl.h"

namespace hlod::engine {
extern const TileOps* const kTileOps_baseline;
const TileOps* const kTileOps_baseline = &baseline::kSet;
}  // namespace hlod::engine

// Tile functions for AVX2.
#if defined(__x86_64__)
#define HLOD_TILE_SET avx2
#define HLOD_TARGET __attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt")))
#include "server/engine/tile/ops_impl.h"

namespace hlod::engine {
extern const TileOps* const kTileOps_avx2;
const TileOps* const kTileOps_avx2 = &avx2::kSet;
}  // namespace hlod::engine
#endif

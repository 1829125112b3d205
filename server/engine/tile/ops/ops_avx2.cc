// Tile functions for AVX2.
#include "common/base/system/cpu.h"

#if defined(__x86_64__)
#define HLOD_TILE_SET avx2
#define HLOD_TILE_ROUNDS
#define HLOD_SPLIT_CONVERSIONS
#define HLOD_TILE_FUSES
#define HLOD_TARGET __attribute__((target(HLOD_AVX2_FEATURES)))
#define HLOD_TARGET_HALF __attribute__((target(HLOD_AVX2_FEATURES ",f16c")))
#include "server/engine/tile/ops/ops_impl.h"

namespace hlod::engine {
extern const TileOps* const kTileOps_avx2;
const TileOps* const kTileOps_avx2 = &avx2::kSet;
}  // namespace hlod::engine
#endif

// Tile functions for AVX-512 as in x86-64-v4.
#include "common/base/cpu.h"

#if defined(__x86_64__)
#define HLOD_TILE_SET avx512
#define HLOD_TARGET __attribute__((target(HLOD_AVX512_FEATURES ",prefer-vector-width=512")))
#define HLOD_TARGET_HALF __attribute__((target(HLOD_AVX512_FEATURES ",f16c,prefer-vector-width=512")))
#include "server/engine/tile/ops_impl.h"

namespace hlod::engine {
extern const TileOps* const kTileOps_avx512;
const TileOps* const kTileOps_avx512 = &avx512::kSet;
}  // namespace hlod::engine
#endif

// Tile functions for AVX-512 as in x86-64-v4.
#include "common/base/system/cpu.h"

#if defined(__x86_64__)
#define HLOD_TILE_SET avx512
#define HLOD_TILE_ROUNDS
#define HLOD_TILE_FUSES
// Clang accepts the width only as a command-line option, and ignores an attribute with it.
#if defined(__clang__)
#define HLOD_WIDE ""
#else
#define HLOD_WIDE ",prefer-vector-width=512"
#endif
#define HLOD_TARGET __attribute__((target(HLOD_AVX512_FEATURES HLOD_WIDE)))
#define HLOD_TARGET_HALF __attribute__((target(HLOD_AVX512_FEATURES ",f16c" HLOD_WIDE)))
#define HLOD_TARGET_POPCNT __attribute__((target(HLOD_AVX512_FEATURES ",avx512vpopcntdq" HLOD_WIDE)))
#include "server/engine/tile/ops/ops_impl.h"

namespace hlod::engine {
extern const TileOps* const kTileOps_avx512;
const TileOps* const kTileOps_avx512 = &avx512::kSet;
}  // namespace hlod::engine
#endif

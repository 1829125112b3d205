// Tile functions for AVX-512 as in x86-64-v4.
#if defined(__x86_64__)
#define HLOD_TILE_SET avx512
#define HLOD_TARGET \
  __attribute__((   \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2,lzcnt,popcnt,prefer-vector-width=512")))
#include "server/engine/tile/ops_impl.h"

namespace hlod::engine {
extern const TileOps* const kTileOps_avx512;
const TileOps* const kTileOps_avx512 = &avx512::kSet;
}  // namespace hlod::engine
#endif

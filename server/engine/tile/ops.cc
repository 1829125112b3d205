// Which instruction set this processor runs, and what is said of types without one.
#include "server/engine/tile/ops.h"

#include "common/base/cpu.h"

namespace hlod::engine {

extern const TileOps* const kTileOps_baseline;
#if defined(__x86_64__)
extern const TileOps* const kTileOps_avx2;
extern const TileOps* const kTileOps_avx512;
#endif

bool CarrierOf(hlo::PrimitiveType type, Carrier* carrier) {
  const hlo::TypeInfo& info = hlo::Info(type);
  switch (info.type_class) {
    case hlo::TypeClass::kPred: *carrier = Carrier::kPred; return true;
    case hlo::TypeClass::kSigned: *carrier = info.bits == 64 ? Carrier::kI64 : Carrier::kI32; return true;
    case hlo::TypeClass::kUnsigned: *carrier = info.bits == 64 ? Carrier::kU64 : Carrier::kU32; return true;
    case hlo::TypeClass::kFloat: *carrier = info.bits == 64 ? Carrier::kF64 : Carrier::kF32; return true;
    case hlo::TypeClass::kComplex: *carrier = info.bits == 128 ? Carrier::kC128 : Carrier::kC64; return true;
    default: return false;
  }
}

bool IsCarrierStorage(hlo::PrimitiveType type) {
  const int bits = hlo::Info(type).bits;
  Carrier carrier;
  return CarrierOf(type, &carrier) && (carrier == Carrier::kPred || bits >= 32);
}

bool FoldsInDouble(FoldOp op, Carrier carrier) {
  return (op == FoldOp::kAdd || op == FoldOp::kMultiply) &&
         (carrier == Carrier::kF32 || carrier == Carrier::kF64);
}

int AvailableTileOps(const TileOps* sets[kTileSetsMax]) {
  int count = 0;
  sets[count++] = kTileOps_baseline;
#if defined(__x86_64__)
  if (BestCpuLevel() >= CpuLevel::kAvx2) sets[count++] = kTileOps_avx2;
  if (BestCpuLevel() >= CpuLevel::kAvx512) sets[count++] = kTileOps_avx512;
#endif
  return count;
}

const TileOps& GetTileOps() {
  static const TileOps& best = [&]() -> const TileOps& {
    const TileOps* sets[kTileSetsMax];
    return *sets[AvailableTileOps(sets) - 1];
  }();
  return best;
}

}  // namespace hlod::engine

// The tile functions of the instruction set in use, and the properties of types that do not depend on it.
#include "server/engine/tile/ops/ops.h"

#include "common/base/system/cpu.h"

namespace hlod::engine {

extern const TileOps* const kTileOps_baseline;
#if defined(__x86_64__)
extern const TileOps* const kTileOps_avx2;
extern const TileOps* const kTileOps_avx512;
#endif

namespace {

Carrier IntegerCarrier(int bits, bool is_signed) {
  switch (bits) {
    case 8: return is_signed ? Carrier::kI8 : Carrier::kU8;
    case 16: return is_signed ? Carrier::kI16 : Carrier::kU16;
    case 64: return is_signed ? Carrier::kI64 : Carrier::kU64;
    default: return is_signed ? Carrier::kI32 : Carrier::kU32;
  }
}

}  // namespace

bool CarrierOf(hlo::PrimitiveType type, Carrier* carrier) {
  const hlo::TypeInfo& info = hlo::Info(type);
  switch (info.type_class) {
    case hlo::TypeClass::kPred: *carrier = Carrier::kPred; return true;
    case hlo::TypeClass::kSigned: *carrier = IntegerCarrier(info.bits, true); return true;
    case hlo::TypeClass::kUnsigned: *carrier = IntegerCarrier(info.bits, false); return true;
    case hlo::TypeClass::kFloat: *carrier = info.bits == 64 ? Carrier::kF64 : Carrier::kF32; return true;
    case hlo::TypeClass::kComplex: *carrier = info.bits == 128 ? Carrier::kC128 : Carrier::kC64; return true;
    default: return false;
  }
}

bool IsCarrierStorage(hlo::PrimitiveType type) {
  Carrier carrier;
  return CarrierOf(type, &carrier) &&
         (carrier == Carrier::kPred || hlo::Info(type).bits == CarrierBytes(carrier) * 8);
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
  const TileOps* sets[kTileSetsMax];
  return *sets[AvailableTileOps(sets) - 1];
}

TileFunction FunctionOf(const TileOp& op) {
  const TileOps& ops = GetTileOps();
  switch (op.kind) {
    case TileOp::Kind::kElementwise: return ops.elementwise(op.opcode, op.from);
    case TileOp::Kind::kConvert: return ops.convert(op.from, op.to);
    case TileOp::Kind::kLoad: return ops.load(op.type);
    case TileOp::Kind::kStore: return ops.store(op.type);
    case TileOp::Kind::kNarrow: return ops.narrow(op.type);
    case TileOp::Kind::kOdd: return ops.odd(op.from);
    case TileOp::Kind::kOnBits: return ops.on_bits(op.opcode, op.type, op.to_type);
  }
  return nullptr;
}

}  // namespace hlod::engine

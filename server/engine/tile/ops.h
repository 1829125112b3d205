// The vocabulary of tile programs: functions that do one operation on a run of up to kTile elements. They are
// plain loops that the compiler vectorises; the same source is compiled for several instruction sets, and the
// best one the processor has is chosen once.
#pragma once

#include <cstdint>

#include "common/hlo/opcode.h"
#include "common/hlo/primitive_type.h"

namespace hlod::engine {

// Elements in a tile: a dozen live tiles of 4-byte elements fit the first-level cache.
inline constexpr int kTile = 512;

// What a tile's elements are while they are computed with. Narrower types are widened when loaded, and
// rounded or wrapped to their own width after each operation, so that a value is the same whether or not it
// went through memory.
enum class Carrier : uint8_t { kPred, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF32, kF64, kC64, kC128 };

// pred: a byte of 0 or 1. Integers of 8 to 64 bits their own, narrower ones of 32; floats up to 32 bits; f64;
// complex numbers of either. False for what is not an array's type.
bool CarrierOf(hlo::PrimitiveType type, Carrier* carrier);
// Bytes of one element in a tile.
inline constexpr int kCarrierBytesMax = 16;
inline int CarrierBytes(Carrier carrier) {
  switch (carrier) {
    case Carrier::kPred:
    case Carrier::kI8:
    case Carrier::kU8: return 1;
    case Carrier::kI16:
    case Carrier::kU16: return 2;
    case Carrier::kI32:
    case Carrier::kU32:
    case Carrier::kF32: return 4;
    case Carrier::kC128: return 16;
    default: return 8;
  }
}
inline bool IsComplexCarrier(Carrier carrier) {
  return carrier == Carrier::kC64 || carrier == Carrier::kC128;
}
// Whether memory holds elements of `type` just as its carrier does: no conversion at load and store.
bool IsCarrierStorage(hlo::PrimitiveType type);

// out[i] = f(a[i], b[i], c[i]) for i < n. `out` may be a, b or c, or not overlap them. `immediate` is the
// operation's constant.
using TileFunction = void (*)(void* out, const void* a, const void* b, const void* c, int n,
                              int64_t immediate);

// Joins n elements into *accumulator, a double for float sums and products, else the carrier's type.
using FoldFunction = void (*)(void* accumulator, const void* a, int n);
// Joins element i into accumulator[i].
using FoldColumnsFunction = void (*)(void* accumulators, const void* a, int n);

enum class FoldOp : uint8_t { kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kXor };
// Whether the accumulator is a double.
bool FoldsInDouble(FoldOp op, Carrier carrier);

// The functions of one instruction set. A null entry: not available for that carrier.
struct TileOps {
  const char* name;
  // An elementwise opcode whose operands (select: the last two; compare: both) are of `carrier`. Shifts,
  // count-leading-zeros, popcnt, mulhi take the width of the type as immediate; compare takes direction |
  // total_order << 8; reduce-precision exponent | mantissa << 8.
  TileFunction (*elementwise)(hlo::Opcode opcode, Carrier carrier);
  // HLO's convert between carriers. From a complex one only to pred and to the other complex one: its real
  // part is an operation.
  TileFunction (*convert)(Carrier from, Carrier to);
  // Memory to carrier and back, where a store wraps or rounds what is not narrow yet; null where memory is
  // the carrier.
  TileFunction (*load)(hlo::PrimitiveType type);
  TileFunction (*store)(hlo::PrimitiveType type);
  // Brings a carrier's elements back to the values `type` has: wraps integers, rounds floats. Null where
  // there is nothing to do.
  TileFunction (*narrow)(hlo::PrimitiveType type);
  // Integers and f64 to f32, where it is inexact to the odd one of the two neighbours: a second rounding to a
  // narrower float then gives what a single one would have. Null for other carriers.
  TileFunction (*odd)(Carrier carrier);
  // An opcode whose operands (select: the last two) are floats below f32 as memory has them, and so is its
  // result unless it is pred: what only looks at bits. Null for others.
  TileFunction (*on_bits)(hlo::Opcode opcode, hlo::PrimitiveType from, hlo::PrimitiveType to);
  FoldFunction (*fold)(FoldOp op, Carrier carrier);
  FoldColumnsFunction (*fold_columns)(FoldOp op, Carrier carrier);
};

// The best set in use (common/base/cpu.h).
const TileOps& GetTileOps();
// All sets in use, best last: for tests that hold them against each other.
inline constexpr int kTileSetsMax = 3;
int AvailableTileOps(const TileOps* sets[kTileSetsMax]);

}  // namespace hlod::engine

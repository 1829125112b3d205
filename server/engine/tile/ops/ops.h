// The vocabulary of tile programs: functions that apply one operation to up to kTile elements. They are plain
// loops that the compiler vectorises. The same source is compiled for several instruction sets, and the best
// one of the processor is chosen once.
#pragma once

#include <cstdint>

#include "common/hlo/opcode.h"
#include "common/hlo/primitive_type.h"

namespace hlod::engine {

// The number of elements in a tile. A dozen live tiles of 4-byte elements fit the L1 cache.
inline constexpr int kTile = 512;

// The type in which a tile's elements are computed. Narrower types are widened when they are loaded, and
// rounded or wrapped to their own width after each operation, so that a value does not depend on whether it
// was stored in memory.
enum class Carrier : uint8_t { kPred, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF32, kF64, kC64, kC128 };

// Sets `carrier` for a type: a byte of 0 or 1 for pred; the type itself for integers of 8 to 64 bits, and 32
// bits for narrower ones; f32 for floats up to 32 bits, f64 for f64, and the corresponding complex types.
// Returns false for a type that arrays cannot have.
bool CarrierOf(hlo::PrimitiveType type, Carrier* carrier);
// The bytes of one element in a tile.
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
// Returns true when elements of `type` are stored like their carrier, so that load and store need no
// conversion.
bool IsCarrierStorage(hlo::PrimitiveType type);

// Sets out[i] = f(a[i], b[i], c[i]) for i < n. `out` may be a, b or c, or not overlap them. `immediate` is
// the operation's constant.
using TileFunction = void (*)(void* out, const void* a, const void* b, const void* c, int n,
                              int64_t immediate);

// Combines n elements into *accumulator, which is a double for float sums and products, otherwise of the
// carrier's type.
using FoldFunction = void (*)(void* accumulator, const void* a, int n);
// Combines element i into accumulator[i].
using FoldColumnsFunction = void (*)(void* accumulators, const void* a, int n);
// Combines the elements of row i, n each, into accumulator[i], as FoldFunction does for n < kShortRow.
using FoldRowsFunction = void (*)(void* accumulators, const void* a, int rows, int n);
inline constexpr int64_t kShortRow = 32;
// Combines element i of each row of group g, `rows` rows of n elements, into accumulator[g * n + i].
using FoldGroupsFunction = void (*)(void* accumulators, const void* a, int groups, int rows, int n);

enum class FoldOp : uint8_t { kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kXor };
// Returns true when the accumulator is a double.
bool FoldsInDouble(FoldOp op, Carrier carrier);

// The functions of one instruction set. They return null for functions that do not exist for a carrier or
// type.
struct TileOps {
  const char* name;
  // Returns the function of an elementwise opcode whose operands (for select the last two; for compare both)
  // are of `carrier`. Shifts, count-leading-zeros, popcnt and mulhi take the width of the type as immediate;
  // compare takes direction | total_order << 8; reduce-precision takes exponent | mantissa << 8.
  TileFunction (*elementwise)(hlo::Opcode opcode, Carrier carrier);
  // Returns HLO's convert between carriers. A complex carrier converts only to pred and to the other complex
  // one; its real part is an operation.
  TileFunction (*convert)(Carrier from, Carrier to);
  // Return the conversion from memory to carrier, and back; a store wraps or rounds elements that are not
  // narrow yet. Null if memory holds the carrier's type.
  TileFunction (*load)(hlo::PrimitiveType type);
  TileFunction (*store)(hlo::PrimitiveType type);
  // Returns a function that wraps integers or rounds floats to the values that `type` has. Null where no
  // change is needed.
  TileFunction (*narrow)(hlo::PrimitiveType type);
  // Returns the conversion of integers and f64 to f32 that rounds inexact results to odd, so that a second
  // rounding to a narrower float has the result of a single one. Null for other carriers.
  TileFunction (*odd)(Carrier carrier);
  // Returns the function of an opcode that needs only bits: its operands (for select the last two) are floats
  // narrower than f32 as stored, and so is its result unless it is pred. Null for other opcodes.
  TileFunction (*on_bits)(hlo::Opcode opcode, hlo::PrimitiveType from, hlo::PrimitiveType to);
  FoldFunction (*fold)(FoldOp op, Carrier carrier);
  FoldColumnsFunction (*fold_columns)(FoldOp op, Carrier carrier);
  FoldRowsFunction (*fold_rows)(FoldOp op, Carrier carrier);
  FoldGroupsFunction (*fold_groups)(FoldOp op, Carrier carrier);
};

// The name of a tile function: the interpreter looks the function up, and the assembler translates the name.
struct TileOp {
  enum class Kind : uint8_t {
    kElementwise,  // `opcode` on operands of carrier `from`.
    kConvert,      // `from` to `to`.
    kLoad,         // `type` as stored to its carrier.
    kStore,        // The carrier of `type` to `type` as stored.
    kNarrow,       // Wraps or rounds to the values of `type`.
    kOdd,          // `from` to f32, rounded to odd.
    kOnBits,       // `opcode` on floats `type` as stored, with a result of `to_type`.
  };
  Kind kind = Kind::kElementwise;
  hlo::Opcode opcode = hlo::kAdd;
  Carrier from = Carrier::kF32, to = Carrier::kF32;
  hlo::PrimitiveType type = hlo::kInvalid, to_type = hlo::kInvalid;

  static TileOp Elementwise(hlo::Opcode opcode, Carrier carrier) { return {.opcode = opcode, .from = carrier}; }
  static TileOp Convert(Carrier from, Carrier to) { return {.kind = Kind::kConvert, .from = from, .to = to}; }
  static TileOp Load(hlo::PrimitiveType type) { return {.kind = Kind::kLoad, .type = type}; }
  static TileOp Store(hlo::PrimitiveType type) { return {.kind = Kind::kStore, .type = type}; }
  static TileOp Narrow(hlo::PrimitiveType type) { return {.kind = Kind::kNarrow, .type = type}; }
  static TileOp Odd(Carrier carrier) { return {.kind = Kind::kOdd, .from = carrier}; }
  static TileOp OnBits(hlo::Opcode opcode, hlo::PrimitiveType from, hlo::PrimitiveType to) {
    return {.kind = Kind::kOnBits, .opcode = opcode, .type = from, .to_type = to};
  }
};
// Returns the function of that name in the best set in use; null if it does not exist, or need not be called.
TileFunction FunctionOf(const TileOp& op);

// Returns the best set in use (common/base/system/cpu.h).
const TileOps& GetTileOps();
// Returns the number of instruction sets in use, and stores them in `sets`, the best last. For tests that
// compare them.
inline constexpr int kTileSetsMax = 3;
int AvailableTileOps(const TileOps* sets[kTileSetsMax]);

}  // namespace hlod::engine

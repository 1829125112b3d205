// Operations of tile programs as machine code.
#pragma once

#include "server/engine/assemble/memory.h"
#include "server/engine/tile/ops/ops.h"

namespace hlod::engine::assemble {

// One call of a tile program.
struct Call {
  const TileOp& op;
  int64_t immediate = 0;
  Lane a, b, c;              // The operands, as many as the operation has.
  Carrier from = Carrier::kF32;  // The carrier of the first operand.
  Carrier result = Carrier::kF32;
};

// Return true for carriers of 64 bits, which take both parts of a Lane; of floats; and of signed integers.
bool IsWide(Carrier carrier);
bool IsFloatCarrier(Carrier carrier);
bool IsSignedCarrier(Carrier carrier);

// Emits the call, unless it is a store. Returns false if there is no translation.
bool Translate(Lanes& lanes, const Call& call, Lane* out);

// Emits the sine or cosine of f32, which is right where the result of SinesAreRight is true.
void TranslateSine(Lanes& lanes, const Call& call, Lane* out);
Mask SinesAreRight(Lanes& lanes, const Num& angles);

// Returns 16-bit floats in the low bits of 32-bit elements as f32.
Num WidenHalves(Lanes& lanes, const Num& bits);

}  // namespace hlod::engine::assemble

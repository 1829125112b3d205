// Random bits and numbers by Threefry (common/hlo/math/threefry.h) from keys, as JAX assigns them: the block
// that is encrypted for an element is its flat position, as two words. 32 bits are the exclusive or of the
// two resulting words; 64 bits are both. For use inside loops, everything takes a builder only.
#pragma once

#include "client/tensor/dispatch/lowering.h"
#include "common/hlo/math/threefry.h"

namespace hlod::lazy {

using hlo::WordPair;

// Returns the blocks of `dims` elements.
WordPair Blocks(hlo::Builder& b, const Dims& dims);
// Returns the key that random::Split() puts at `index`, for each of the keys.
WordPair SplitKey(hlo::Builder& b, const WordPair& key, int64_t index);

// Returns bits as unsigned integers of `type`, for the `dims` elements of one key.
Op KeyBits(hlo::Builder& b, const WordPair& key, const Dims& dims, PrimitiveType type);
// Returns the bits of the only element of each key.
Op BitsPerKey(hlo::Builder& b, const WordPair& keys, PrimitiveType type);

// Returns the type of the bits that a number of `type`, f32 or f64, takes; refuses other types.
PrimitiveType BitsFor(PrimitiveType type);
// Returns uniform numbers in [low, high), which are scalars, by using bits as the mantissa of a number in
// [1, 2).
Op UniformFromBits(hlo::Builder& b, Op bits, PrimitiveType type, Op low, Op high);
Op UnitFromBits(hlo::Builder& b, Op bits, PrimitiveType type);
Op NormalFromBits(hlo::Builder& b, Op bits, PrimitiveType type);

}  // namespace hlod::lazy

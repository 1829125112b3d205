// Calls of operations that draw from an explicit key.
#pragma once

#include <string>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/random/threefry.h"

namespace hlod::lazy {

// Returns the words of a key, u32[2], as two scalars. Refuses other keys.
WordPair WordsOf(Lowering& l, Op key);
// Refuses a shape that no array has.
void CheckDrawn(const Dims& dims);

}  // namespace hlod::lazy

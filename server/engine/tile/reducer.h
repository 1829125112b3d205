// Recognises scalar computations that are a single operation on their two parameters.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::engine {

// The operation that a computation of two scalars consists of, in either operand order; kNone for any other
// computation.
enum class ScalarReducer : uint8_t { kNone, kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kXor, kSecond };
ScalarReducer RecogniseReducer(const hlo::Computation& computation);

}  // namespace hlod::engine

// Which scalar computations are one plain operation of their two parameters.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::engine {

// A computation of two scalars that is just one of these, in either operand order; kNone otherwise.
enum class ScalarReducer : uint8_t { kNone, kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kXor, kSecond };
ScalarReducer RecogniseReducer(const hlo::Computation& computation);

}  // namespace hlod::engine

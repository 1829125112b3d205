// Recognises reducers: scalar computations that are a single operation on their two parameters, and those of
// argmax and argmin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::engine {

// The operation that a computation of two scalars consists of, in either operand order; kNone for any other
// computation.
enum class ScalarReducer : uint8_t { kNone, kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kXor, kSecond };
ScalarReducer RecogniseReducer(const hlo::Computation& computation);

// The reducer of (value, place) pairs (a, i) and (b, j). It keeps the value a if `a > b` (or >=, unless
// `strict`; < and <= for a minimum) or, with `first_nan`, if a is NaN; else b. It keeps the place i in the
// same cases and, with `lower`, also if a == b and i < j.
struct ArgReducer {
  bool maximum = true, strict = true, first_nan = false, lower = false;
};

// Returns the reducer if the instruction is a reduce over one dimension by such a reducer whose operand 1
// counts along this dimension, as argmax of JAX and of PyTorch/XLA are. Its step does not read operand
// kPlacesOperand.
std::optional<ArgReducer> MatchArgReduce(const hlo::Module& module, hlo::Instruction instruction);

inline constexpr size_t kPlacesOperand = 1;

// Returns, by node, true for the reductions that MatchArgReduce recognises.
std::vector<bool> FindArgReduces(const hlo::Module& module, const hlo::Computation& computation);

}  // namespace hlod::engine

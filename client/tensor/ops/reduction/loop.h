// Loops in lowerings: a while over several values.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

using State = std::vector<Op>;

// Runs `body` while `condition`, a scalar pred, is true. Both are called once, with a separate builder: they
// can use only the state, whose shapes must not change.
State While(Lowering& l, const State& initial, absl::FunctionRef<Op(hlo::Builder&, const State&)> condition,
            absl::FunctionRef<State(hlo::Builder&, const State&)> body);

// Runs `body` with the scalar s64 k = 0, 1, ... up to but not including `count`.
State ForEach(Lowering& l, int64_t count, const State& initial,
              absl::FunctionRef<State(hlo::Builder&, Op k, const State&)> body);

// Appends a constant inside a loop.
Op NumberIn(hlo::Builder& b, PrimitiveType type, const Scalar& value);
inline Op NumberLike(hlo::Builder& b, Op x, const Scalar& value) {
  return NumberIn(b, b.shape(x).type, value);
}
Op FullLike(hlo::Builder& b, Op x, const Scalar& value);

}  // namespace hlod::lazy

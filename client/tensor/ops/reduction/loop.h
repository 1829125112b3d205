// Loops in lowerings: a while over several values.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

using State = std::vector<Op>;

// Runs `body` while `condition`, a scalar pred, holds. Both are built once, over a builder of their own: they
// see nothing but the state, which keeps its shapes.
State While(Lowering& l, const State& initial, absl::FunctionRef<Op(hlo::Builder&, const State&)> condition,
            absl::FunctionRef<State(hlo::Builder&, const State&)> body);

// For k = 0, 1, ... below `count`, a scalar s64.
State ForEach(Lowering& l, int64_t count, const State& initial,
              absl::FunctionRef<State(hlo::Builder&, Op k, const State&)> body);

// Constants in loops.
Op NumberIn(hlo::Builder& b, PrimitiveType type, const Scalar& value);
inline Op NumberLike(hlo::Builder& b, Op x, const Scalar& value) {
  return NumberIn(b, b.shape(x).type, value);
}
Op FullLike(hlo::Builder& b, Op x, const Scalar& value);

}  // namespace hlod::lazy

// Loops in lowerings.
#include "client/tensor/ops/reduction/loop.h"

namespace hlod::lazy {

namespace {

State Elements(hlo::Builder& b, Op tuple, size_t count) {
  State state;
  for (size_t i = 0; i < count; ++i) state.push_back(b.GetTupleElement(tuple, static_cast<int64_t>(i)));
  return state;
}

}  // namespace

State While(Lowering& l, const State& initial, absl::FunctionRef<Op(hlo::Builder&, const State&)> condition,
            absl::FunctionRef<State(hlo::Builder&, const State&)> body) {
  const size_t count = initial.size();
  const Op tuple = l.b.Tuple(initial);
  const Shape shape = l.b.shape(tuple);
  if (!l.b.status().ok()) return initial;  // The caller reports the error.
  const hlo::ComputationId goes_on = TraceTables::Get().Callee("while_condition", [&](hlo::Builder& b) {
    return condition(b, Elements(b, b.Parameter(0, shape), count));
  });
  const hlo::ComputationId step = TraceTables::Get().Callee("while_body", [&](hlo::Builder& b) {
    return b.Tuple(body(b, Elements(b, b.Parameter(0, shape), count)));
  });
  return Elements(l.b, l.b.While(tuple, goes_on, step), count);
}

State ForEach(Lowering& l, int64_t count, const State& initial,
              absl::FunctionRef<State(hlo::Builder&, Op k, const State&)> body) {
  State state = {l.Number(hlo::kS64, 0)};
  state.insert(state.end(), initial.begin(), initial.end());
  state = While(
      l, state,
      [&](hlo::Builder& b, const State& s) {
        return b.Compare(s[0], NumberIn(b, hlo::kS64, count), hlo::ComparisonDirection::kLt);
      },
      [&](hlo::Builder& b, const State& s) {
        State next = body(b, s[0], State(s.begin() + 1, s.end()));
        next.insert(next.begin(), s[0] + NumberIn(b, hlo::kS64, 1));
        return next;
      });
  return State(state.begin() + 1, state.end());
}

Op NumberIn(hlo::Builder& b, PrimitiveType type, const Scalar& value) {
  return b.Constant(NumberLiteral(type, value));
}
Op FullLike(hlo::Builder& b, Op x, const Scalar& value) {
  const Op number = NumberLike(b, x, value);
  return b.shape(x).dims.empty() ? number : b.Broadcast(number, b.shape(x).dims, {});
}

}  // namespace hlod::lazy

// Loops in lowerings.
#include "client/tensor/ops/loop.h"

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
  if (!l.b.status().ok()) return initial;  // Reported by the caller.
  const hlo::ComputationId goes_on = Tracer::Get().Callee("while_condition", [&](hlo::Builder& b) {
    return condition(b, Elements(b, b.Parameter(0, shape), count));
  });
  const hlo::ComputationId step = Tracer::Get().Callee("while_body", [&](hlo::Builder& b) {
    return b.Tuple(body(b, Elements(b, b.Parameter(0, shape), count)));
  });
  return Elements(l.b, l.b.While(tuple, goes_on, step), count);
}

// A scan over the indices: transforms know it.
State ForEach(Lowering& l, int64_t count, const State& initial,
              absl::FunctionRef<State(hlo::Builder&, Op k, const State&)> body) {
  const Op indices = l.b.Iota(Shape::Array(hlo::kS64, {count}), 0);
  std::vector<Op> operands = {indices};
  operands.insert(operands.end(), initial.begin(), initial.end());
  std::vector<Shape> shapes;
  for (const Op operand : initial) shapes.push_back(l.b.shape(operand));
  if (!l.b.status().ok()) return initial;  // Reported by the caller.
  const hlo::ComputationId step = Tracer::Get().Callee("for_each", [&](hlo::Builder& b) {
    const Op k = b.Parameter(0, Shape::Scalar(hlo::kS64));
    State state;
    for (const Shape& shape : shapes) {
      state.push_back(b.Parameter(static_cast<int64_t>(state.size()) + 1, shape));
    }
    return b.Tuple(body(b, k, state));
  });
  hlo::ScanAttributes attributes;
  attributes.num_carries = static_cast<int64_t>(initial.size());
  return Elements(l.b, l.b.Add(hlo::kScan, operands, attributes, {step}), initial.size());
}

Op NumberIn(hlo::Builder& b, PrimitiveType type, const Scalar& value) {
  return b.Constant(NumberLiteral(type, value));
}
Op FullLike(hlo::Builder& b, Op x, const Scalar& value) {
  const Op number = NumberLike(b, x, value);
  return b.shape(x).dims.empty() ? number : b.Broadcast(number, b.shape(x).dims, {});
}

}  // namespace hlod::lazy

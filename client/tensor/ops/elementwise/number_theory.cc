// Greatest common divisors and least common multiples.
#include "client/tensor/ops/elementwise/elementwise.h"
#include "hlod/ops/math.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;
using lazy::Refuse;

namespace {

Op Magnitude(Lowering& l, Op x) { return hlo::IsSigned(l.type(x)) ? l.b.Unary(hlo::kAbs, x) : x; }

// Runs Euclid's algorithm on all elements at once, until every remainder is 0.
Op GcdOps(Lowering& l, Op x, Op y) {
  const PrimitiveType type = l.type(x);
  if (!hlo::IsInteger(type)) Refuse("divisors are of integers, not of %s", hlo::Name(type));
  const Dims dims = lazy::BroadcastDims(l.dims(x), l.dims(y));
  Dims all;
  for (size_t i = 0; i < dims.size(); ++i) all.push_back(static_cast<int64_t>(i));
  const Shape array = Shape::Array(type, dims), pair = Shape::Tuple({array, array});
  const Literal zero = lazy::NumberLiteral(type, 0), one = lazy::NumberLiteral(type, 1);
  const hlo::ComputationId any = l.Reducer(hlo::kOr, hlo::kPred);
  const auto rest_of = [&](hlo::Builder& b, Op state) {
    const Op rest = b.GetTupleElement(state, 1);
    return std::pair{rest, b.Compare(rest, b.Broadcast(b.Constant(zero), dims, {}), lazy::Order::kNe)};
  };
  lazy::TraceTables& tracer = lazy::TraceTables::Get();
  const hlo::ComputationId condition = tracer.Callee("unfinished", [&](hlo::Builder& b) {
    const auto [rest, unfinished] = rest_of(b, b.Parameter(0, pair));
    return all.empty() ? unfinished
                       : b.Reduce(unfinished, b.Constant(Literal::Scalar<bool>(false)), all, any);
  });
  const hlo::ComputationId body = tracer.Callee("divide", [&](hlo::Builder& b) {
    const Op state = b.Parameter(0, pair), value = b.GetTupleElement(state, 0);
    const auto [rest, unfinished] = rest_of(b, state);
    const Op divisor = b.Select(unfinished, rest, b.Broadcast(b.Constant(one), dims, {}));
    const Op remainder = b.Select(unfinished, b.Binary(hlo::kRemainder, value, divisor), rest);
    return b.Tuple({b.Select(unfinished, rest, value), remainder});
  });
  const Op start[] = {Magnitude(l, l.BroadcastTo(x, dims)), Magnitude(l, l.BroadcastTo(y, dims))};
  return l.b.GetTupleElement(l.b.While(l.b.Tuple(start), condition, body), 0);
}

}  // namespace

Tensor Gcd(const Operand& x, const Operand& y) { return lazy::Binary(lazy::ops::Gcd, x, y, GcdOps); }
Tensor Lcm(const Operand& x, const Operand& y) {
  return lazy::Binary(lazy::ops::Lcm, x, y, [](Lowering& l, Op x, Op y) {
    const Op divisor = GcdOps(l, x, y);
    const Op none = lazy::CompareOps(l, divisor, 0, lazy::Order::kEq);
    const Op parts = lazy::DivOps(l, x, lazy::SelectOps(l, none, lazy::N(l, divisor, 1), divisor));
    return Magnitude(l, lazy::MulOps(l, parts, y));
  });
}

}  // namespace hlod

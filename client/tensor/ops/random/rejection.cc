// Random tensors by rejection: a loop draws for all elements until each has accepted a proposal. The number
// of draws is not known in advance, so they use a range of the generator's counter that is reserved for
// loops, where the second word is not 0.
#include <cmath>
#include <numbers>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/random/random.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/ops/shape/stop.h"
#include "client/tensor/value/numbers.h"
#include "common/hlo/math/special_functions.h"
#include "hlod/ops/random.h"

namespace hlod {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::State;

// Returns the position where a loop's draws begin.
Op LoopPosition(Lowering& l, const Dims& dims) {
  const lazy::RandomState state = lazy::DrawFor(l, dims);
  return l.graph.op(l.graph.NumberParameter(
      Literal::Array<uint64_t>({3}, {state.seed, uint64_t{0}, state.offset + 1}), true));
}

// Helpers for loops over f64 elements of one shape.
struct Draws {
  hlo::Builder& b;
  Dims dims;

  Op Number(double value) const {
    const Op number = lazy::NumberIn(b, hlo::kF64, value);
    return dims.empty() ? number : b.Broadcast(number, dims, {});
  }
  // Returns `count` uniform numbers per element, strictly between 0 and 1, and advances `position`.
  std::vector<Op> Uniform(Op& position, int64_t count) const {
    Dims all = {count};
    all.insert(all.end(), dims.begin(), dims.end());
    const Shape declared = Shape::Tuple({Shape::Array(hlo::kU64, {3}), Shape::Array(hlo::kU64, all)});
    const Op both = b.Add(hlo::kRngBitGenerator, {position},
                          hlo::RngBitGeneratorAttributes{hlo::RandomAlgorithm::kPhilox}, {}, &declared);
    position = b.GetTupleElement(both, 0);
    const Op shift = b.Broadcast(lazy::NumberIn(b, hlo::kU64, 12), all, {});
    const Op kept =
        b.Convert(b.Binary(hlo::kShiftRightLogical, b.GetTupleElement(both, 1), shift), hlo::kF64);
    const Op unit = (kept + lazy::FullLike(b, kept, 0.5)) * lazy::FullLike(b, kept, 0x1p-52);
    std::vector<Op> parts;
    for (int64_t i = 0; i < count; ++i) {
      Dims start(all.size(), 0), limit = all;
      start[0] = i;
      limit[0] = i + 1;
      parts.push_back(b.Reshape(b.Slice(unit, start, limit, Dims(all.size(), 1)), dims));
    }
    return parts;
  }
  Op Log(Op x) const { return b.Unary(hlo::kLog, x); }
  Op And(Op x, Op y) const { return b.Binary(hlo::kAnd, x, y); }
  Op Or(Op x, Op y) const { return b.Binary(hlo::kOr, x, y); }
  Op Less(Op x, Op y) const { return b.Compare(x, y, Order::kLt); }
  Op AtLeast(Op x, Op y) const { return b.Compare(x, y, Order::kGe); }
};

// Runs `body` until all elements are done. The state begins with the position and the mask of elements that
// are done.
State UntilDone(Lowering& l, const State& initial,
                absl::FunctionRef<State(hlo::Builder&, const State&)> body) {
  const hlo::ComputationId every = l.Reducer(hlo::kAnd, hlo::kPred);
  Dims all;
  for (size_t i = 0; i < l.dims(initial[1]).size(); ++i) all.push_back(static_cast<int64_t>(i));
  return lazy::While(
      l, initial,
      [&](hlo::Builder& b, const State& s) {
        const Op done = all.empty() ? s[1] : b.Reduce(s[1], lazy::NumberIn(b, hlo::kPred, true), all, every);
        return b.Unary(hlo::kNot, done);
      },
      body);
}

// Returns the logarithm of gamma variates of rate 1, in f64, after Marsaglia and Tsang: d (1 + c x)^3 for
// normal x. A concentration below 1 is raised by 1, and the variate multiplied by u^(1 / concentration).
Op LogGamma(Lowering& l, Op concentration) {
  const Dims dims = l.dims(concentration);
  const Draws outside{l.b, dims};
  const Op one = outside.Number(1), zero = outside.Number(0), alpha = concentration;
  const Op valid =
      outside.And(outside.Less(zero, alpha), outside.Less(alpha, outside.Number(lazy::kInfinity)));
  const Op raised = outside.Less(alpha, one);
  const Op d = l.b.Select(raised, alpha + one, alpha) - outside.Number(1.0 / 3);
  const Op c = one / l.b.Unary(hlo::kSqrt, d * outside.Number(9));
  const Op given = l.b.Select(l.b.Compare(alpha, outside.Number(lazy::kInfinity), Order::kEq), alpha,
                              outside.Number(lazy::kNan));
  const Op not_valid = l.b.Unary(hlo::kNot, valid);
  State done =
      UntilDone(l, {LoopPosition(l, dims), not_valid, given, d, c}, [&](hlo::Builder& b, const State& s) {
        const Draws m{b, dims};
        Op position = s[0];
        const std::vector<Op> u = m.Uniform(position, 3);
        const Op radius = b.Unary(hlo::kSqrt, m.Log(u[0]) * m.Number(-2));
        const Op x = radius * b.Unary(hlo::kCosine, u[1] * m.Number(2 * std::numbers::pi));
        const Op t = m.Number(1) + s[4] * x, v = t * t * t, positive = m.Less(m.Number(0), t);
        const Op log_v = m.Log(b.Select(positive, v, m.Number(1)));
        const Op bound = x * x * m.Number(0.5) + s[3] - s[3] * v + s[3] * log_v;
        const Op accepted = m.And(m.And(positive, m.Less(m.Log(u[2]), bound)), b.Unary(hlo::kNot, s[1]));
        return State{position, m.Or(s[1], accepted), b.Select(accepted, m.Log(s[3]) + log_v, s[2]), s[3],
                     s[4]};
      });
  const Op factor = outside.Uniform(done[0], 1)[0];
  const Op log_factor = outside.Log(factor) / l.b.Select(raised, alpha, one);
  return done[2] + l.b.Select(raised, log_factor, zero);
}

// Poisson counts of rates from 10 on: Hörmann's transformed rejection (PTRS, 1993). Elements with other rates
// become 0.
Op LargeCounts(Lowering& l, Op rate) {
  const Dims dims = l.dims(rate);
  const Draws outside{l.b, dims};
  const Op large = outside.And(outside.AtLeast(rate, outside.Number(10)),
                               outside.Less(rate, outside.Number(lazy::kInfinity)));
  const Op safe = l.b.Select(large, rate, outside.Number(10));
  return UntilDone(l, {LoopPosition(l, dims), l.b.Unary(hlo::kNot, large), outside.Number(0), safe},
                   [&](hlo::Builder& b, const State& s) {
                     const Draws m{b, dims};
                     const auto n = [&](double value) { return m.Number(value); };
                     Op position = s[0];
                     const std::vector<Op> uniform = m.Uniform(position, 2);
                     const Op lambda = s[3], u = uniform[0] - n(0.5), v = uniform[1];
                     const Op width = n(0.931) + n(2.53) * b.Unary(hlo::kSqrt, lambda);
                     const Op a = n(0.02483) * width - n(0.059);
                     const Op inverse = n(1.1239) + n(1.1328) / (width - n(3.4));
                     const Op bound = n(0.9277) - n(3.6224) / (width - n(2));
                     const Op us = n(0.5) - b.Unary(hlo::kAbs, u);
                     const Op k = b.Unary(hlo::kFloor, (n(2) * a / us + width) * u + lambda + n(0.43));
                     const Op at_once = m.And(m.AtLeast(us, n(0.07)), m.AtLeast(bound, v));
                     const Op never = m.Or(m.Less(k, n(0)), m.And(m.Less(us, n(0.013)), m.Less(us, v)));
                     const Op whole = b.Binary(hlo::kMaximum, k, n(0));
                     const Op left = m.Log(v) + m.Log(inverse) - m.Log(a / (us * us) + width);
                     const Op right = whole * m.Log(lambda) - lambda - hlo::Lgamma(whole + n(1));
                     const Op later = m.And(b.Unary(hlo::kNot, never), m.AtLeast(right, left));
                     const Op accepted = m.And(m.Or(at_once, later), b.Unary(hlo::kNot, s[1]));
                     return State{position, m.Or(s[1], accepted), b.Select(accepted, k, s[2]), lambda};
                   })[2];
}

// Poisson counts of rates below 10: the first k whose distribution function reaches a uniform number.
// Elements with other rates become 0.
Op SmallCounts(Lowering& l, Op rate) {
  const Dims dims = l.dims(rate);
  const Draws outside{l.b, dims};
  const Op zero = outside.Number(0);
  const Op small = outside.And(outside.Less(zero, rate), outside.Less(rate, outside.Number(10)));
  const Op safe = l.b.Select(small, rate, zero);
  Op position = LoopPosition(l, dims);
  const Op u = outside.Uniform(position, 1)[0];
  const Op none = l.b.Unary(hlo::kExponential, l.b.Unary(hlo::kNegate, safe));
  return UntilDone(l, {position, outside.AtLeast(none, u), zero, none, none, u, safe},
                   [&](hlo::Builder& b, const State& s) {
                     const Draws m{b, dims};
                     const Op k = b.Select(s[1], s[2], s[2] + m.Number(1));
                     const Op at = s[3] * s[6] / b.Binary(hlo::kMaximum, k, m.Number(1));
                     const Op p = b.Select(s[1], s[3], at), sum = b.Select(s[1], s[4], s[4] + p);
                     // Rounding can keep the sum below the largest uniform numbers, so the loop stops at k =
                     // 100, where the terms vanish.
                     const Op done = m.Or(m.AtLeast(sum, s[5]), m.AtLeast(k, m.Number(100)));
                     return State{s[0], done, k, p, sum, s[5], s[6]};
                   })[2];
}

Op CountsOps(Lowering& l, Op x) {
  const Op rate = l.Convert(x, hlo::kF64);
  const Draws m{l.b, l.dims(x)};
  const Op counts = SmallCounts(l, rate) + LargeCounts(l, rate);
  const Op infinite = l.b.Compare(rate, m.Number(lazy::kInfinity), Order::kEq);
  const Op valid = m.AtLeast(rate, m.Number(0));
  const Op known = l.b.Select(infinite, rate, counts);
  const Op made = l.Convert(l.b.Select(valid, known, m.Number(lazy::kNan)), l.type(x));
  return lazy::WithoutGradient(l, made, x);
}

// Converts x to f64 and broadcasts it to the common dimensions.
Op Widened(Lowering& l, Op x, const Dims& dims) { return l.BroadcastTo(l.Convert(x, hlo::kF64), dims); }

PrimitiveType FloatOf(Lowering& l, Operands o) {
  if (!hlo::IsFloat(l.type(o[0])))
    Refuse("parameters are of a floating type, not %s", hlo::Name(l.type(o[0])));
  return l.type(o[0]);
}

}  // namespace

Tensor Poisson(const Operand& rate) {
  return lazy::Call(lazy::ops::Poisson, {rate}, [](Lowering& l, Operands o) {
    FloatOf(l, o);
    return CountsOps(l, o[0]);
  });
}

Tensor Gamma(const Operand& concentration, const Operand& rate) {
  return lazy::Call(lazy::ops::Gamma, {concentration, rate}, [](Lowering& l, Operands o) {
    const PrimitiveType type = FloatOf(l, o);
    const Dims dims = lazy::BroadcastDims(l.dims(o[0]), l.dims(o[1]));
    const Op by = Widened(l, o[1], dims), positive = lazy::CompareOps(l, by, 0, Order::kGt);
    const Op x = l.b.Unary(hlo::kExponential, LogGamma(l, Widened(l, o[0], dims))) / by;
    return l.Convert(lazy::SelectOps(l, positive, x, l.Number(hlo::kF64, lazy::kNan)), type);
  });
}

// The first of two gamma variates of equal rate, divided by their sum.
Tensor Beta(const Operand& a, const Operand& b) {
  return lazy::Call(lazy::ops::Beta, {a, b}, [](Lowering& l, Operands o) {
    const PrimitiveType type = FloatOf(l, o);
    const Dims dims = lazy::BroadcastDims(l.dims(o[0]), l.dims(o[1]));
    const Op x = LogGamma(l, Widened(l, o[0], dims)), y = LogGamma(l, Widened(l, o[1], dims));
    return l.Convert(l.b.Unary(hlo::kLogistic, x - y), type);
  });
}

}  // namespace hlod

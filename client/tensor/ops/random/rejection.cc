// Random tensors by rejection: a loop draws for all elements until each has accepted a proposal. The number
// of draws is not known in advance, so they use a range of the generator's counter that is reserved for
// loops, where the second word is not 0.
#include <cmath>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/random/random.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/stop.h"
#include "client/tensor/value/numbers.h"
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

// The state of a loop is the position in the stream, the mask of elements that are done, their results, and
// what the proposals depend on: vectors of one length.
using Body = absl::FunctionRef<State(const Draws&, const State&)>;

// Runs `body` until at most `left` elements are not done.
State UntilLeft(Lowering& l, int64_t left, const State& initial, Body body) {
  const Dims dims = l.dims(initial[1]);
  const hlo::ComputationId add = l.Reducer(hlo::kAdd, hlo::kS64);
  return lazy::While(
      l, initial,
      [&](hlo::Builder& b, const State& s) {
        const Op open = b.Convert(b.Unary(hlo::kNot, s[1]), hlo::kS64);
        const Op count = b.Reduce(open, lazy::NumberIn(b, hlo::kS64, 0), {0}, add);
        return b.Compare(count, lazy::NumberIn(b, hlo::kS64, left), Order::kGt);
      },
      [&](hlo::Builder& b, const State& s) {
        return body(Draws{b, dims}, s);
      });
}

struct Done {
  Op position, results;
};
// Runs `body` until all elements are done.
//
// Most proposals are accepted, so two or three passes leave few elements; but the last of 100,000 needs some
// ten, each of which would compute all of them. Once an eighth is left at most, it goes on by itself.
Done UntilDone(Lowering& l, const State& initial, Body body) {
  const int64_t size = l.dims(initial[1])[0], part = size / 8;
  if (size < 1024) {
    const State all = UntilLeft(l, 0, initial, body);
    return {all[0], all[2]};
  }
  const State most = UntilLeft(l, part, initial, body);
  const Op keys[] = {l.Convert(most[1], hlo::kS32), lazy::IndexIota(l, {size}, 0)};
  const Op places = lazy::SliceDim(l, lazy::SortOps(l, keys, 0, false)[1], 0, 0, part);
  State rest = {most[0]};
  for (size_t i = 1; i < most.size(); ++i) rest.push_back(lazy::SelectSlices(l, most[i], 0, places));
  rest = UntilLeft(l, 0, rest, body);
  return {rest[0], lazy::ScatterAlong(l, most[2], 0, places, rest[2], lazy::Combine::kSet)};
}

// Returns the logarithm of gamma variates of rate 1 for a vector of concentrations, in f64, after Marsaglia
// and Tsang: d (1 + c x)^3 for normal x. A concentration below 1 is raised by 1, and the variate multiplied
// by u^(1 / concentration).
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
  const Op begin = LoopPosition(l, dims);
  Done scaled = UntilDone(l, {begin, not_valid, given, d, c}, [&](const Draws& m, const State& s) {
    hlo::Builder& b = m.b;
    Op position = s[0];
    const std::vector<Op> u = m.Uniform(position, 3);
    const Op radius = b.Unary(hlo::kSqrt, m.Log(u[0]) * m.Number(-2));
    const Op x = radius * b.Unary(hlo::kCosine, u[1] * m.Number(2 * std::numbers::pi));
    const Op t = m.Number(1) + s[4] * x, v = t * t * t, positive = m.Less(m.Number(0), t);
    const Op log_v = m.Log(b.Select(positive, v, m.Number(1)));
    const Op bound = x * x * m.Number(0.5) + s[3] - s[3] * v + s[3] * log_v;
    const Op accepted = m.And(m.And(positive, m.Less(m.Log(u[2]), bound)), b.Unary(hlo::kNot, s[1]));
    return State{position, m.Or(s[1], accepted), b.Select(accepted, log_v, s[2]), s[3], s[4]};
  });
  const Op log_gamma = scaled.results + outside.Log(d);
  const Op factor = outside.Uniform(scaled.position, 1)[0];
  const Op log_factor = outside.Log(factor) / l.b.Select(raised, alpha, one);
  return log_gamma + l.b.Select(raised, log_factor, zero);
}

// The same with its derivative rule: the derivative of the loop would be another one.
Op LogGammaVariate(Lowering& l, Op concentration) {
  return lazy::OwnDerivative(l, "log_gamma_variate", {concentration}, [&](Operands o) {
    return l.Reshape(LogGamma(l, lazy::Flat(l, o[0])), l.dims(o[0]));
  });
}

// The logarithm of n! is log_gamma - log(product).
struct LogFactorial {
  Op log_gamma, product;
};
// Appends that of whole n by Stirling's series at n + 1, or, below 9, at n + 9 and the product of the eight
// numbers between. The logarithm of the gamma function by Lanczos' sum is exact to the last digits, which a
// comparison with a random number does not need, and costs several times as much.
LogFactorial LogFactorialOf(const Draws& m, Op n) {
  const auto number = [&](double value) { return m.Number(value); };
  const Op small = m.Less(n, number(9));
  const Op z = m.b.Select(small, n + number(9), n + number(1));
  // (n + 2)(n + 7), (n + 3)(n + 6) and (n + 4)(n + 5) are larger by 6, 10 and 12.
  const Op pairs = (n + number(1)) * (n + number(8));
  const Op eight = pairs * (pairs + number(6)) * (pairs + number(10)) * (pairs + number(12));
  const Op r = number(1) / z, r2 = r * r;
  const Op series =
      r * (number(1.0 / 12) - r2 * (number(1.0 / 360) - r2 * (number(1.0 / 1260) - r2 * number(1.0 / 1680))));
  const Op log_gamma =
      (z - number(0.5)) * m.Log(z) - z + number(0.5 * std::log(2 * std::numbers::pi)) + series;
  return {log_gamma, m.b.Select(small, eight, number(1))};
}

// Poisson counts of rates from 10 on: Hörmann's transformed rejection (PTRS, 1993). Elements with other rates
// become 0. A proposal in three is compared with the density, but a loop over arrays computes the comparison
// for all: it is kept to two logarithms.
Op LargeCounts(Lowering& l, Op rate) {
  const Dims dims = l.dims(rate);
  const Draws outside{l.b, dims};
  const Op large = outside.And(outside.AtLeast(rate, outside.Number(10)),
                               outside.Less(rate, outside.Number(lazy::kInfinity)));
  const Op safe = l.b.Select(large, rate, outside.Number(10));
  const Op spread = outside.Number(0.931) + outside.Number(2.53) * l.b.Unary(hlo::kSqrt, safe);
  const State initial = {
      LoopPosition(l, dims), l.b.Unary(hlo::kNot, large), outside.Number(0), safe, outside.Log(safe), spread};
  const Done done = UntilDone(l, initial, [&](const Draws& m, const State& s) {
    hlo::Builder& b = m.b;
    const auto n = [&](double value) { return m.Number(value); };
    Op position = s[0];
    const std::vector<Op> uniform = m.Uniform(position, 2);
    const Op lambda = s[3], log_lambda = s[4], width = s[5], u = uniform[0] - n(0.5), v = uniform[1];
    const Op a = n(0.02483) * width - n(0.059);
    const Op inverse = n(1.1239) + n(1.1328) / (width - n(3.4));
    const Op bound = n(0.9277) - n(3.6224) / (width - n(2));
    const Op us = n(0.5) - b.Unary(hlo::kAbs, u);
    const Op k = b.Unary(hlo::kFloor, (n(2) * a / us + width) * u + lambda + n(0.43));
    const Op at_once = m.And(m.AtLeast(us, n(0.07)), m.AtLeast(bound, v));
    const Op never = m.Or(m.Less(k, n(0)), m.And(m.Less(us, n(0.013)), m.Less(us, v)));
    const Op whole = b.Binary(hlo::kMaximum, k, n(0));
    // log(v inverse / (a / us^2 + width)) <= k log(lambda) - lambda - log(k!)
    const LogFactorial factorial = LogFactorialOf(m, whole);
    const Op left = m.Log(v * inverse * us * us / ((a + width * us * us) * factorial.product));
    const Op right = whole * log_lambda - lambda - factorial.log_gamma;
    const Op later = m.And(b.Unary(hlo::kNot, never), m.AtLeast(right, left));
    const Op accepted = m.And(m.Or(at_once, later), b.Unary(hlo::kNot, s[1]));
    return State{position, m.Or(s[1], accepted), b.Select(accepted, k, s[2]), lambda, log_lambda, width};
  });
  return done.results;
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
  return UntilLeft(l, 0, {position, outside.AtLeast(none, u), zero, none, none, u, safe},
                   [&](const Draws& m, const State& s) {
                     hlo::Builder& b = m.b;
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
  const Op rate = l.Convert(lazy::Flat(l, x), hlo::kF64);
  const Draws m{l.b, l.dims(rate)};
  const Op counts = SmallCounts(l, rate) + LargeCounts(l, rate);
  const Op infinite = l.b.Compare(rate, m.Number(lazy::kInfinity), Order::kEq);
  const Op valid = m.AtLeast(rate, m.Number(0));
  const Op known = l.b.Select(infinite, rate, counts);
  const Op flat = l.Convert(l.b.Select(valid, known, m.Number(lazy::kNan)), l.type(x));
  const Op made = l.Reshape(flat, l.dims(x));
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
    const Op x = l.b.Unary(hlo::kExponential, LogGammaVariate(l, Widened(l, o[0], dims))) / by;
    return l.Convert(lazy::SelectOps(l, positive, x, l.Number(hlo::kF64, lazy::kNan)), type);
  });
}

// The first of two gamma variates of equal rate, divided by their sum.
Tensor Beta(const Operand& a, const Operand& b) {
  return lazy::Call(lazy::ops::Beta, {a, b}, [](Lowering& l, Operands o) {
    const PrimitiveType type = FloatOf(l, o);
    const Dims dims = lazy::BroadcastDims(l.dims(o[0]), l.dims(o[1]));
    const Op x = LogGammaVariate(l, Widened(l, o[0], dims)), y = LogGammaVariate(l, Widened(l, o[1], dims));
    return l.Convert(l.b.Unary(hlo::kLogistic, x - y), type);
  });
}

}  // namespace hlod

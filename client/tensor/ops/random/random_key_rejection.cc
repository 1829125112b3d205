// Random numbers from explicit keys by rejection, with JAX's algorithms and draws: gamma variates after
// Marsaglia and Tsang (2000), a key per element; Poisson counts after Knuth below rate 10, and by Hörmann's
// transformed rejection (PTRS, 1993) from there on. A loop draws until every element has accepted.
#include <algorithm>
#include <cmath>
#include <limits>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/random/key_operations.h"
#include "client/tensor/ops/random/key_words.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/stop.h"
#include "client/tensor/value/numbers.h"
#include "common/hlo/math/special_functions.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/softmax.h"
#include "hlod/ops/random_key.h"

namespace hlod::random {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::State;
using lazy::WordPair;

// Arithmetic on elements of one shape and type.
struct Elements {
  hlo::Builder& b;
  Op like;

  Op Number(double value) const { return lazy::FullLike(b, like, value); }
  Op Log(Op x) const { return b.Unary(hlo::kLog, x); }
  Op Less(Op x, Op y) const { return b.Compare(x, y, Order::kLt); }
  Op AtLeast(Op x, Op y) const { return b.Compare(x, y, Order::kGe); }
  Op And(Op x, Op y) const { return b.Binary(hlo::kAnd, x, y); }
  Op Or(Op x, Op y) const { return b.Binary(hlo::kOr, x, y); }
  Op Not(Op x) const { return b.Unary(hlo::kNot, x); }
};

// Returns a pred that is true when an element of `mask` is.
Op AnyOf(Lowering& l, hlo::Builder& b, Op mask) {
  Dims all;
  for (size_t i = 0; i < b.shape(mask).dims.size(); ++i) all.push_back(static_cast<int64_t>(i));
  if (all.empty()) return mask;
  return b.Reduce(mask, lazy::NumberIn(b, hlo::kPred, false), all, l.Reducer(hlo::kOr, hlo::kPred));
}

WordPair Chosen(hlo::Builder& b, Op which, const WordPair& x, const WordPair& y) {
  return {b.Select(which, x.first, y.first), b.Select(which, x.second, y.second)};
}

struct GammaParts {
  WordPair boost;  // The keys of the numbers that variates of a concentration below 1 are multiplied by.
  Op raised;    // True for those.
  Op d, v;      // Their product is a variate of the concentration, or of the concentration plus 1.
};

// Each iteration proposes one normal number x per element, with v = (1 + c x)^3. A v that is not positive is
// proposed anew with the next key of the element's chain; one that the second test rejects begins the chain
// again from the element's own next key.
GammaParts GammaOps(Lowering& l, const WordPair& key, Op alpha) {
  const PrimitiveType type = l.type(alpha), bits = lazy::BitsFor(type);
  const Dims dims = l.dims(alpha);
  const Elements m{l.b, alpha};
  const WordPair keys = hlo::Threefry(key, lazy::Blocks(l.b, dims));
  const Op raised = m.Less(alpha, m.Number(1));
  const Op d = l.b.Select(raised, alpha + m.Number(1), alpha) - m.Number(1.0 / 3);
  const Op c = m.Number(1.0 / 3) / l.b.Unary(hlo::kSqrt, d);
  const WordPair first = lazy::SplitKey(l.b, keys, 0);
  const WordPair own = lazy::SplitKey(l.b, first, 0), chain = lazy::SplitKey(l.b, first, 1),
                 tests = lazy::SplitKey(l.b, first, 2);
  // An element without a variate (its concentration is negative or NaN) accepts the first proposal.
  const State end = lazy::While(
      l,
      {l.b.Broadcast(lazy::NumberIn(l.b, hlo::kPred, false), dims, {}), own.first, own.second, chain.first,
       chain.second, tests.first, tests.second, m.Number(1), d, c},
      [&](hlo::Builder& b, const State& s) { return AnyOf(l, b, b.Unary(hlo::kNot, s[0])); },
      [&](hlo::Builder& b, const State& s) {
        const Elements m{b, s[8]};
        const WordPair own{s[1], s[2]}, chain{s[3], s[4]}, tests{s[5], s[6]};
        const Op x = lazy::NormalFromBits(b, lazy::BitsPerKey(b, lazy::SplitKey(b, chain, 1), bits), type);
        const Op linear = m.Number(1) + x * s[9], v = linear * linear * linear;
        const Op u = lazy::UnitFromBits(b, lazy::BitsPerKey(b, tests, bits), type);
        const Op square = x * x;
        const Op fails_first = m.AtLeast(u, m.Number(1) - m.Number(0.0331) * (square * square));
        const Op bound = square * m.Number(0.5) + s[8] * (m.Number(1) - v + m.Log(v));
        const Op rejected = m.And(fails_first, m.AtLeast(m.Log(u), bound));
        const Op again = b.Compare(linear, m.Number(0), Order::kLe);
        const Op accepted = m.And(m.Not(s[0]), m.And(m.Not(again), m.Not(rejected)));
        const WordPair next = Chosen(b, again, lazy::SplitKey(b, chain, 0), lazy::SplitKey(b, own, 1));
        const WordPair test = Chosen(b, again, tests, lazy::SplitKey(b, own, 2));
        const WordPair kept = Chosen(b, again, own, lazy::SplitKey(b, own, 0));
        return State{m.Or(s[0], accepted),
                     kept.first,
                     kept.second,
                     next.first,
                     next.second,
                     test.first,
                     test.second,
                     b.Select(accepted, v, s[7]),
                     s[8],
                     s[9]};
      });
  return {lazy::SplitKey(l.b, keys, 1), raised, d, end[7]};
}

Op GammaFrom(Lowering& l, const WordPair& key, Op alpha) {
  const GammaParts parts = GammaOps(l, key, alpha);
  const PrimitiveType type = l.type(alpha);
  const Elements m{l.b, alpha};
  const Op u =
      m.Number(1) - lazy::UnitFromBits(l.b, lazy::BitsPerKey(l.b, parts.boost, lazy::BitsFor(type)), type);
  const Op power = l.b.Binary(hlo::kPower, u, m.Number(1) / alpha);
  return parts.d * parts.v * l.b.Select(parts.raised, power, m.Number(1));
}

Op LogGammaFrom(Lowering& l, const WordPair& key, Op alpha) {
  const GammaParts parts = GammaOps(l, key, alpha);
  const PrimitiveType type = l.type(alpha);
  const Elements m{l.b, alpha};
  const Op unit = lazy::UnitFromBits(l.b, lazy::BitsPerKey(l.b, parts.boost, lazy::BitsFor(type)), type);
  const Op log_u = l.b.Unary(hlo::kLogPlusOne, l.b.Unary(hlo::kNegate, unit));
  const Op boosted = m.And(parts.raised, m.Not(l.b.Compare(log_u, m.Number(0), Order::kEq)));
  return m.Log(parts.d) + m.Log(parts.v) + l.b.Select(boosted, log_u * (m.Number(1) / alpha), m.Number(0));
}

// Counts the uniform numbers whose product stays above exp(-rate).
Op KnuthCounts(Lowering& l, const WordPair& key, Op rate) {
  const Elements m{l.b, rate};
  const Dims dims = l.dims(rate);
  const auto goes_on = [](const Elements& m, Op sum, Op rate) {
    return m.b.Compare(sum, m.b.Unary(hlo::kNegate, rate), Order::kGt);
  };
  const State end = lazy::While(
      l, {m.Number(0), key.first, key.second, m.Number(0), rate},
      [&](hlo::Builder& b, const State& s) {
        return AnyOf(l, b, goes_on({b, s[4]}, s[3], s[4]));
      },
      [&](hlo::Builder& b, const State& s) {
        const Elements m{b, s[4]};
        const WordPair key{s[1], s[2]}, next = lazy::SplitKey(b, key, 0);
        const Op u =
            lazy::UnitFromBits(b, lazy::KeyBits(b, lazy::SplitKey(b, key, 1), dims, hlo::kU32), hlo::kF32);
        const Op k = b.Select(goes_on(m, s[3], s[4]), s[0] + m.Number(1), s[0]);
        return State{k, next.first, next.second, s[3] + m.Log(u), s[4]};
      });
  return end[0] - m.Number(1);
}

Op RejectionCounts(Lowering& l, const WordPair& key, Op rate) {
  const Elements m{l.b, rate};
  const Dims dims = l.dims(rate);
  const State end = lazy::While(
      l,
      // An infinite rate accepts no proposal.
      {l.b.Compare(rate, m.Number(lazy::kInfinity), Order::kEq), key.first, key.second, m.Number(-1), rate},
      [&](hlo::Builder& b, const State& s) { return AnyOf(l, b, b.Unary(hlo::kNot, s[0])); },
      [&](hlo::Builder& b, const State& s) {
        const Elements m{b, s[4]};
        const auto n = [&](double value) { return m.Number(value); };
        const WordPair key{s[1], s[2]}, next = lazy::SplitKey(b, key, 0);
        const auto unit = [&](int64_t i) {
          return lazy::UnitFromBits(b, lazy::KeyBits(b, lazy::SplitKey(b, key, i), dims, hlo::kU32),
                                    hlo::kF32);
        };
        const Op lambda = s[4], u = unit(1) - n(0.5), v = unit(2);
        const Op width = n(0.931) + n(2.53) * b.Unary(hlo::kSqrt, lambda);
        const Op a = n(-0.059) + n(0.02483) * width;
        const Op inverse = n(1.1239) + n(1.1328) / (width - n(3.4));
        const Op bound = n(0.9277) - n(3.6224) / (width - n(2));
        const Op shifted = n(0.5) - b.Unary(hlo::kAbs, u);
        const Op k = b.Unary(hlo::kFloor, (n(2) * a / shifted + width) * u + lambda + n(0.43));
        const Op left = m.Log(v * inverse / (a / (shifted * shifted) + width));
        const Op right = k * m.Log(lambda) - lambda - hlo::Lgamma(k + n(1));
        const Op at_once = m.And(m.AtLeast(shifted, n(0.07)), m.AtLeast(bound, v));
        const Op never = m.Or(m.Less(k, n(0)), m.And(m.Less(shifted, n(0.013)), m.Less(shifted, v)));
        const Op accepted = m.Or(at_once, m.And(m.Not(never), m.AtLeast(right, left)));
        return State{m.Or(s[0], accepted), next.first, next.second, b.Select(accepted, k, s[3]), lambda};
      });
  return end[3];
}

// Calls `lower` with the key and the parameters, which are broadcast to `dims` or to one another and have the
// type.
template <typename F>
Tensor Drawn(const lazy::Operation& operation, const Operand& key, const std::vector<Operand>& parameters,
             const std::optional<Dims>& dims, PrimitiveType type, F lower) {
  std::vector<Operand> operands = {key};
  const Tensor& tensor = lazy::TensorOf(operation, key);
  std::vector<Tensor> numbers;  // Operands refer to them.
  numbers.reserve(parameters.size());
  for (const Operand& parameter : parameters) {
    if (parameter.tensor() != nullptr) {
      operands.push_back(parameter);
      continue;
    }
    numbers.push_back(Full({}, parameter.scalar(), {.type = type, .device = tensor.device()}));
    operands.emplace_back(numbers.back(), key.caller());
  }
  return lazy::Call(operation, operands, [&](Lowering& l, Operands o) {
    lazy::BitsFor(type);
    Dims common;
    for (const Op parameter : o.subspan(1)) common = lazy::BroadcastDims(common, l.dims(parameter));
    if (dims.has_value()) {
      if (lazy::BroadcastDims(common, *dims) != *dims) {
        Refuse("parameters of shape %s do not broadcast to the shape %s", lazy::ListText(common),
               lazy::ListText(*dims));
      }
      common = *dims;
    }
    lazy::CheckDrawn(common);
    std::vector<Op> given;
    for (const Op parameter : o.subspan(1)) {
      given.push_back(l.BroadcastTo(l.Convert(parameter, type), common));
    }
    const Op made = lower(l, lazy::WordsOf(l, o[0]), given);
    return lazy::StopGradient(l, made);
  });
}

}  // namespace

Tensor Gamma(const Operand& key, const Operand& a, const std::optional<Dims>& dims, PrimitiveType type) {
  return Drawn(ops::Gamma, key, {a}, dims, type,
               [](Lowering& l, const WordPair& key, const std::vector<Op>& given) {
                 return GammaFrom(l, key, given[0]);
               });
}

Tensor LogGamma(const Operand& key, const Operand& a, const std::optional<Dims>& dims, PrimitiveType type) {
  return Drawn(ops::LogGamma, key, {a}, dims, type,
               [](Lowering& l, const WordPair& key, const std::vector<Op>& given) {
                 return LogGammaFrom(l, key, given[0]);
               });
}

// The first of two gamma variates, divided by their sum.
Tensor Beta(const Operand& key, const Operand& a, const Operand& b, const std::optional<Dims>& dims,
            PrimitiveType type) {
  return Drawn(ops::Beta, key, {a, b}, dims, type,
               [](Lowering& l, const WordPair& key, const std::vector<Op>& given) {
                 const Op x = LogGammaFrom(l, lazy::SplitKey(l.b, key, 0), given[0]);
                 const Op y = LogGammaFrom(l, lazy::SplitKey(l.b, key, 1), given[1]);
                 const Op most = l.b.Binary(hlo::kMaximum, x, y);
                 const Op of_x = l.b.Unary(hlo::kExponential, x - most),
                          of_y = l.b.Unary(hlo::kExponential, y - most);
                 return of_x / (of_x + of_y);
               });
}

Tensor Dirichlet(const Operand& key, const Operand& alpha, const std::optional<Dims>& dims,
                 PrimitiveType type) {
  const CallerScope scope(key.caller());
  const Tensor& concentrations = lazy::TensorOf(ops::Dirichlet, alpha);
  lazy::Explain(ops::Dirichlet, {&alpha, 1}, key.caller(), [&] {
    if (concentrations.rank() == 0) Refuse("the concentrations are a vector, not a scalar");
  });
  std::optional<Dims> all = dims;
  if (all.has_value()) all->push_back(concentrations.size(-1));
  return Softmax(LogGamma(key, alpha, all, type), -1);
}

Tensor Poisson(const Operand& key, const Operand& rate, const std::optional<Dims>& dims, PrimitiveType type) {
  const Tensor counts =
      Drawn(ops::Poisson, key, {rate}, dims, kF32,
            [&](Lowering& l, const WordPair& key, const std::vector<Op>& given) {
              if (type != hlo::kS32 && type != hlo::kS64)
                Refuse("counts are s32 or s64, not %s", hlo::Name(type));
              const Op rate = given[0];
              const Elements m{l.b, rate};
              const Op large = m.AtLeast(rate, m.Number(10));
              const Op knuth = KnuthCounts(l, key, l.b.Select(large, m.Number(0), rate));
              const Op other = RejectionCounts(l, key, l.b.Select(large, rate, m.Number(1e5)));
              const Op none = l.b.Compare(rate, m.Number(0), Order::kEq);
              const Op counts = l.b.Select(none, m.Number(0), l.b.Select(large, other, knuth));
              return l.b.Convert(counts, type);
            });
  return counts;
}

}  // namespace hlod::random

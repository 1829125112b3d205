// Random numbers from explicit keys that take one draw per element.
#include "hlod/ops/random_key.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/ops/creation/factories.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/random/key_operations.h"
#include "client/tensor/ops/random/key_words.h"
#include "client/tensor/ops/random/random.h"
#include "client/tensor/ops/shape/movement.h"
#include "common/hlo/math/special_functions.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/reduction.h"

namespace hlod::random {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::WordPair;

Op KeyOps(Lowering& l, Op first, Op second) {
  const Op parts[] = {l.Reshape(first, {1}), l.Reshape(second, {1})};
  return lazy::Joined(l, parts, 0);
}

Op UniformOps(Lowering& l, const WordPair& key, const Dims& dims, PrimitiveType type, Op low, Op high) {
  return lazy::UniformFromBits(l.b, lazy::KeyBits(l.b, key, dims, lazy::BitsFor(type)), type, low, high);
}
Op UnitOps(Lowering& l, const WordPair& key, const Dims& dims, PrimitiveType type) {
  return UniformOps(l, key, dims, type, l.Number(type, 0), l.Number(type, 1));
}
Op GumbelOps(Lowering& l, const WordPair& key, const Dims& dims, PrimitiveType type) {
  const double least =
      type == hlo::kF64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  return lazy::GumbelOps(l, UniformOps(l, key, dims, type, l.Number(type, least), l.Number(type, 1)));
}

// Calls `lower` with the key's words and the checked shape.
template <typename F>
Tensor FromKey(const lazy::Operation& operation, const Operand& key, DimList dims, F lower) {
  return lazy::Call(operation, {key}, [&](Lowering& l, Operands o) {
    lazy::CheckDrawn(lazy::Copied(dims));
    return lower(l, lazy::WordsOf(l, o[0]), lazy::Copied(dims));
  });
}

}  // namespace
}  // namespace hlod::random

namespace hlod::lazy {

WordPair WordsOf(Lowering& l, Op key) {
  if (l.type(key) != hlo::kU32 || l.dims(key) != Dims{2}) {
    Refuse("a key is u32[2], as random::Key() makes it, not %s", hlo::ToStringNoLayout(l.shape(key)));
  }
  const auto word = [&](int64_t i) { return l.Reshape(SliceDim(l, key, 0, i, i + 1), {}); };
  return {word(0), word(1)};
}

void CheckDrawn(const Dims& dims) {
  const absl::Status valid = hlo::ValidateShape(Shape::Array(hlo::kU64, dims));
  if (!valid.ok()) Refuse("%s", std::string(valid.message()));
}

}  // namespace hlod::lazy

namespace hlod::random {

Tensor Key(uint64_t seed, std::optional<Device> device, Caller caller) {
  return lazy::Create(
      lazy::ops::RandomKey, {2}, kU32, lazy::FactoryDevice(device),
      [seed](Lowering& l) {
        return KeyOps(l, l.Varying(hlo::kU32, static_cast<int64_t>(seed >> 32)),
                      l.Varying(hlo::kU32, static_cast<int64_t>(seed & 0xFFFFFFFF)));
      },
      caller);
}

Tensor Split(const Operand& key, int64_t count) {
  return lazy::Call(ops::Split, {key}, [&](Lowering& l, Operands o) {
    if (count < 0) Refuse("the number of keys (%d) is negative", count);
    const WordPair words = hlo::Threefry(lazy::WordsOf(l, o[0]), lazy::Blocks(l.b, {count}));
    const Op parts[] = {l.Reshape(words.first, {count, 1}), l.Reshape(words.second, {count, 1})};
    return lazy::Joined(l, parts, 1);
  });
}

Tensor FoldIn(const Operand& key, const Operand& data) {
  return lazy::Call(ops::FoldIn, {key, data}, [](Lowering& l, Operands o) {
    lazy::RequireIndex(l, o[1]);
    if (!l.dims(o[1]).empty()) Refuse("data of shape %s are not one number", lazy::ListText(l.dims(o[1])));
    const WordPair made =
        hlo::Threefry(lazy::WordsOf(l, o[0]), {l.Number(hlo::kU32, 0), l.Convert(o[1], hlo::kU32)});
    return KeyOps(l, made.first, made.second);
  });
}

Tensor Bits(const Operand& key, DimList dims, PrimitiveType type) {
  return FromKey(ops::Bits, key, dims, [type](Lowering& l, const WordPair& key, const Dims& dims) {
    if (type != hlo::kU8 && type != hlo::kU16 && type != hlo::kU32 && type != hlo::kU64) {
      Refuse("bits are u8, u16, u32 or u64, not %s", hlo::Name(type));
    }
    return lazy::KeyBits(l.b, key, dims, type);
  });
}

Tensor Uniform(const Operand& key, DimList dims, double low, double high, PrimitiveType type) {
  return FromKey(ops::Uniform, key, dims, [=](Lowering& l, const WordPair& key, const Dims& dims) {
    return UniformOps(l, key, dims, type, l.Varying(type, low), l.Varying(type, high));
  });
}

Tensor Normal(const Operand& key, DimList dims, PrimitiveType type) {
  return FromKey(ops::Normal, key, dims, [=](Lowering& l, const WordPair& key, const Dims& dims) {
    return lazy::NormalFromBits(l.b, lazy::KeyBits(l.b, key, dims, lazy::BitsFor(type)), type);
  });
}

Tensor TruncatedNormal(const Operand& key, DimList dims, double low, double high, PrimitiveType type) {
  return FromKey(ops::TruncatedNormal, key, dims, [=](Lowering& l, const WordPair& key, const Dims& dims) {
    if (!(low < high)) Refuse("no number lies between %g and %g", low, high);
    lazy::BitsFor(type);
    const Op first = l.Varying(type, low), last = l.Varying(type, high);
    const Op root = l.Number(type, std::numbers::sqrt2);
    const Op a = l.b.Unary(hlo::kErf, first / root), b = l.b.Unary(hlo::kErf, last / root);
    const Op x = hlo::ErfInv(UniformOps(l, key, dims, type, a, b)) * l.Full(type, dims, std::numbers::sqrt2);
    const Op least = hlo::NextAfter(first, l.Number(type, std::numeric_limits<double>::infinity()));
    const Op greatest = hlo::NextAfter(last, l.Number(type, -std::numeric_limits<double>::infinity()));
    return l.b.Binary(hlo::kMinimum, l.b.Binary(hlo::kMaximum, x, l.BroadcastTo(least, dims)),
                      l.BroadcastTo(greatest, dims));
  });
}

Tensor Exponential(const Operand& key, DimList dims, PrimitiveType type) {
  return FromKey(ops::Exponential, key, dims, [=](Lowering& l, const WordPair& key, const Dims& dims) {
    const Op left = l.b.Unary(hlo::kNegate, UnitOps(l, key, dims, type));
    return l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kLogPlusOne, left));
  });
}

Tensor Gumbel(const Operand& key, DimList dims, PrimitiveType type) {
  return FromKey(ops::Gumbel, key, dims, [=](Lowering& l, const WordPair& key, const Dims& dims) {
    return GumbelOps(l, key, dims, type);
  });
}

// Uses two draws per element, so that the remainder is nearly unbiased: ((high mod span) 2^bits + low) mod
// span.
Tensor Randint(const Operand& key, DimList dims, int64_t low, int64_t high, PrimitiveType type) {
  return FromKey(ops::Randint, key, dims, [=](Lowering& l, const WordPair& key, const Dims& dims) {
    if (type != hlo::kS32 && type != hlo::kS64) Refuse("integers are s32 or s64, not %s", hlo::Name(type));
    const bool fits = type == hlo::kS64 || (low >= std::numeric_limits<int32_t>::min() &&
                                            high <= std::numeric_limits<int32_t>::max());
    if (low >= high || !fits)
      Refuse("no integer of %s is at least %d and below %d", hlo::Name(type), low, high);
    const PrimitiveType bits = type == hlo::kS32 ? hlo::kU32 : hlo::kU64;
    const WordPair keys = hlo::Threefry(key, lazy::Blocks(l.b, {2}));
    const auto draw = [&](int64_t i) {
      const auto word = [&](Op x) { return l.Reshape(lazy::SliceDim(l, x, 0, i, i + 1), {}); };
      return lazy::KeyBits(l.b, {word(keys.first), word(keys.second)}, dims, bits);
    };
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const Op by = l.BroadcastTo(l.Convert(l.Varying(hlo::kS64, static_cast<int64_t>(span)), bits), dims);
    const auto rest = [&](Op x) { return l.b.Binary(hlo::kRemainder, x, by); };
    const Op half = rest(l.Full(bits, dims, int64_t{1} << (type == hlo::kS32 ? 16 : 32)));
    const Op offset = rest(rest(draw(0)) * rest(half * half) + rest(draw(1)));
    return l.Convert(offset, type) + l.BroadcastTo(l.Varying(type, low), dims);
  });
}

Tensor Bernoulli(const Operand& key, const Operand& p, DimList dims) {
  const auto below = [&](Lowering& l, Op key, Op p) {
    const Op unit = UnitOps(l, lazy::WordsOf(l, key), lazy::Copied(dims), l.type(p));
    return l.b.Compare(unit, l.BroadcastTo(p, lazy::Copied(dims)), Order::kLt);
  };
  if (p.tensor() == nullptr) {
    const Scalar number = p.scalar();
    return lazy::Call(ops::Bernoulli, {key},
                      [&](Lowering& l, Operands o) { return below(l, o[0], l.Varying(hlo::kF32, number)); });
  }
  return lazy::Call(ops::Bernoulli, {key, p}, [&](Lowering& l, Operands o) { return below(l, o[0], o[1]); });
}

Tensor Categorical(const Operand& key, const Operand& logits) {
  const CallerScope scope(key.caller());
  const Tensor noisy = lazy::Call(ops::Categorical, {key, logits}, [](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[1]);
    if (dims.empty() || dims.back() == 0) Refuse("logits of shape %s have no classes", lazy::ListText(dims));
    return GumbelOps(l, lazy::WordsOf(l, o[0]), dims, l.type(o[1])) + o[1];
  });
  return Argmax(noisy, -1);
}

}  // namespace hlod::random

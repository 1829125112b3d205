// Threefry and the numbers made of its bits.
#include "client/tensor/ops/random/threefry.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "client/tensor/ops/reduction/loop.h"
#include "common/hlo/math/special_functions.h"

namespace hlod::lazy {
namespace {

Op Spread(hlo::Builder& b, Op x, const Dims& dims) {
  return b.shape(x).dims == dims ? x : b.Broadcast(x, dims, {});
}
Op FullOf(hlo::Builder& b, PrimitiveType type, const Dims& dims, const Scalar& value) {
  return Spread(b, NumberIn(b, type, value), dims);
}

Op Rotated(hlo::Builder& b, Op x, int by) {
  const Op left = b.Binary(hlo::kShiftLeft, x, FullLike(b, x, by));
  const Op right = b.Binary(hlo::kShiftRightLogical, x, FullLike(b, x, 32 - by));
  return b.Binary(hlo::kOr, left, right);
}

Op BitsOfWords(hlo::Builder& b, const Words& words, PrimitiveType type) {
  if (type != hlo::kU64) {
    const Op bits = b.Binary(hlo::kXor, words.first, words.second);
    return type == hlo::kU32 ? bits : b.Convert(bits, type);
  }
  const Op wide = b.Convert(words.first, type);
  const Op high = b.Binary(hlo::kShiftLeft, wide, FullLike(b, wide, 32));
  return b.Binary(hlo::kOr, high, b.Convert(words.second, type));
}

}  // namespace

// Runs five groups of four rounds; after each group the next two of the key's three words are added.
Words Threefry(hlo::Builder& b, const Words& key, const Words& block) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  constexpr int64_t kParity = 0x1BD11BDA;
  const Dims dims = b.shape(block.first).dims;
  const auto exclusive_or = [&](Op x, Op y) { return b.Binary(hlo::kXor, x, y); };
  const Op third = exclusive_or(exclusive_or(key.first, key.second), FullLike(b, key.first, kParity));
  const Op words[] = {Spread(b, key.first, dims), Spread(b, key.second, dims), Spread(b, third, dims)};
  Words x = {block.first + words[0], block.second + words[1]};
  for (int group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      x.first = x.first + x.second;
      x.second = exclusive_or(Rotated(b, x.second, rotation), x.first);
    }
    x.first = x.first + words[(group + 1) % 3];
    x.second = x.second + words[(group + 2) % 3] + FullLike(b, x.second, group + 1);
  }
  return x;
}

Words Blocks(hlo::Builder& b, const Dims& dims) {
  // An iota per dimension can be divided along that dimension.
  std::optional<Op> sum;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    const Op along = b.Iota(Shape::Array(hlo::kU64, dims), static_cast<int64_t>(d));
    const Op scaled = stride == 1 ? along : along * FullLike(b, along, stride);
    sum = sum.has_value() ? *sum + scaled : scaled;
    stride *= dims[d];
  }
  const Op place = sum.has_value() ? *sum : NumberIn(b, hlo::kU64, 0);
  const Op high = b.Binary(hlo::kShiftRightLogical, place, FullLike(b, place, 32));
  return {b.Convert(high, hlo::kU32), b.Convert(place, hlo::kU32)};
}

Words SplitKey(hlo::Builder& b, const Words& key, int64_t index) {
  return Threefry(b, key, {FullLike(b, key.first, 0), FullLike(b, key.first, index)});
}

Op KeyBits(hlo::Builder& b, const Words& key, const Dims& dims, PrimitiveType type) {
  return BitsOfWords(b, Threefry(b, key, Blocks(b, dims)), type);
}
Op BitsPerKey(hlo::Builder& b, const Words& keys, PrimitiveType type) {
  return BitsOfWords(b, SplitKey(b, keys, 0), type);
}

PrimitiveType BitsFor(PrimitiveType type) {
  if (type != hlo::kF32 && type != hlo::kF64) Refuse("numbers are f32 or f64, not %s", hlo::Name(type));
  return type == hlo::kF64 ? hlo::kU64 : hlo::kU32;
}

Op UniformFromBits(hlo::Builder& b, Op bits, PrimitiveType type, Op low, Op high) {
  const bool wide = type == hlo::kF64;
  const Dims dims = b.shape(bits).dims;
  const Op mantissa = b.Binary(hlo::kShiftRightLogical, bits, FullLike(b, bits, wide ? 12 : 9));
  const Op one = FullLike(b, bits, wide ? int64_t{0x3FF0000000000000} : int64_t{0x3F800000});
  const Shape shape = Shape::Array(type, dims);
  const Op float_bits = b.Binary(hlo::kOr, mantissa, one);
  const Op unit =
      b.Add(hlo::kBitcastConvert, {float_bits}, hlo::NoAttributes{}, {}, &shape) - FullOf(b, type, dims, 1);
  const Op spread_low = Spread(b, low, dims);
  return b.Binary(hlo::kMaximum, spread_low, unit * Spread(b, high - low, dims) + spread_low);
}

Op UnitFromBits(hlo::Builder& b, Op bits, PrimitiveType type) {
  return UniformFromBits(b, bits, type, NumberIn(b, type, 0), NumberIn(b, type, 1));
}

Op NormalFromBits(hlo::Builder& b, Op bits, PrimitiveType type) {
  const double low = type == hlo::kF64 ? std::nextafter(-1.0, 0.0) : double{std::nextafter(-1.0F, 0.0F)};
  const Op u = UniformFromBits(b, bits, type, NumberIn(b, type, low), NumberIn(b, type, 1));
  return hlo::ErfInv(u) * FullLike(b, u, std::numbers::sqrt2);
}

}  // namespace hlod::lazy

// The numbers made of Threefry's bits.
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

Op BitsOfWords(hlo::Builder& b, const WordPair& words, PrimitiveType type) {
  if (type != hlo::kU64) {
    const Op bits = b.Binary(hlo::kXor, words.first, words.second);
    return type == hlo::kU32 ? bits : b.Convert(bits, type);
  }
  const Op wide = b.Convert(words.first, type);
  const Op high = b.Binary(hlo::kShiftLeft, wide, FullLike(b, wide, 32));
  return b.Binary(hlo::kOr, high, b.Convert(words.second, type));
}

}  // namespace

WordPair Blocks(hlo::Builder& b, const Dims& dims) {
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

WordPair SplitKey(hlo::Builder& b, const WordPair& key, int64_t index) {
  return hlo::Threefry(key, {FullLike(b, key.first, 0), FullLike(b, key.first, index)});
}

Op KeyBits(hlo::Builder& b, const WordPair& key, const Dims& dims, PrimitiveType type) {
  return BitsOfWords(b, hlo::Threefry(key, Blocks(b, dims)), type);
}
Op BitsPerKey(hlo::Builder& b, const WordPair& keys, PrimitiveType type) {
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

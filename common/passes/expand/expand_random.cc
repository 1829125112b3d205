// Draws the same numbers as the evaluator: uniform ones from the high bits, normal ones by Box and Muller.
#include "common/passes/expand/expand_random.h"

#include <cmath>

#include "common/hlo/builder.h"

namespace hlod::passes {

using namespace hlo;

namespace {

class Random {
 public:
  Random(Module& to, Instruction rng)
      : type_(rng.shape().type),
        dims_(rng.shape().dims),
        count_(ElementCount(rng.shape()).value_or(0)),
        wide_(Info(type_).bits == 64),
        b_(to, "rng") {
    low_ = b_.Parameter(0, Shape::Scalar(type_));
    high_ = b_.Parameter(1, Shape::Scalar(type_));
    state_ = b_.Parameter(2, Shape::Array(kU64, {2}));
  }

  ComputationId Make(RandomDistribution distribution, uint64_t key) {
    Op result;
    if (distribution == RandomDistribution::kNormal) {
      result = Normal(key);
    } else if (IsFloat(type_)) {
      const Op low = Wide(low_), high = Wide(high_);
      result = Unit(Bits(key, count_)) * (high - low) + low;
    } else {
      const Op low = b_.Convert(low_, Unsigned()), high = b_.Convert(high_, Unsigned());
      result = b_.Binary(kRemainder, Bits(key, count_), high - low) + low;
    }
    static_cast<void>(b_.Build(b_.Reshape(b_.Convert(result, type_), dims_)));
    return b_.id();
  }

 private:
  PrimitiveType Unsigned() const { return wide_ ? kU64 : kU32; }
  PrimitiveType Float() const { return wide_ ? kF64 : kF32; }
  Op Wide(Op x) { return b_.Convert(x, Float()); }
  Op Number(double value) {
    return wide_ ? b_.Constant(Literal::Scalar(value)) : b_.Constant(static_cast<float>(value));
  }

  Op Bits(uint64_t key, int64_t count) {
    const Op words[] = {b_.Constant(Literal::Vector<uint64_t>({key})), state_};
    const Shape declared = Shape::Tuple({Shape::Array(kU64, {3}), Shape::Array(Unsigned(), {count})});
    const Op pair = b_.Add(kRngBitGenerator, {b_.Concatenate(words, 0)},
                           RngBitGeneratorAttributes{RandomAlgorithm::kPhilox}, {}, &declared);
    return b_.GetTupleElement(pair, 1);
  }
  // Returns numbers in [0, 1).
  Op Unit(Op bits) {
    const Op shift =
        wide_ ? b_.Constant(Literal::Scalar<uint64_t>(12)) : b_.Constant(Literal::Scalar<uint32_t>(9));
    return Wide(b_.Binary(kShiftRightLogical, bits, shift)) * Number(std::ldexp(1, wide_ ? -52 : -23));
  }
  Op Normal(uint64_t key) {
    const int64_t pairs = (count_ + 1) / 2;
    const Op unit = Unit(Bits(key, 2 * pairs));
    const Op u = b_.Binary(kMaximum, b_.Slice(unit, {0}, {pairs}), Number(1e-7f));
    const Op angle = b_.Slice(unit, {pairs}, {2 * pairs}) * Number(static_cast<float>(2 * M_PI));
    const Op radius = b_.Unary(kSqrt, b_.Unary(kLog, u) * Number(-2));
    const Op both[] = {b_.Unary(kSine, angle) * radius, b_.Unary(kCosine, angle) * radius};
    const Op normal = b_.Slice(b_.Concatenate(both, 0), {0}, {count_});
    return normal * Wide(high_) + Wide(low_);
  }

  const PrimitiveType type_;
  const Dims dims_;
  const int64_t count_;
  const bool wide_;
  Builder b_;
  Op low_, high_, state_;
};

}  // namespace

ComputationId ExpandRng(Module& to, Instruction rng, uint64_t key) {
  return Random(to, rng).Make(rng.attributes<RngAttributes>().distribution, key);
}

int64_t WordsDrawn(Instruction rng) {
  const int64_t count = ElementCount(rng.shape()).value_or(0);
  return Info(rng.shape().type).bits == 64 ? 2 * count : count;
}

}  // namespace hlod::passes

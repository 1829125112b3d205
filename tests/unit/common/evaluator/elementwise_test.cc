// The special cases of elementwise opcodes: integers at the ends of their range, NaN and signed zeros,
// rounding, conversions.
#include <cmath>
#include <complex>
#include <limits>

#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const float kNanF = std::numeric_limits<float>::quiet_NaN();

TEST(IntegerArithmetic, DivisionByZeroGivesAllOnesAndOverflowWraps) {
  const Literal a = Literal::Vector<int8_t>({7, -7, 0, -128, -128}),
                b = Literal::Vector<int8_t>({0, 0, 0, -1, 1});
  EXPECT_THAT(Numbers(Apply(kDivide, {a, b})), ElementsAre(-1, -1, -1, -128, -128));
  EXPECT_THAT(Numbers(Apply(kRemainder, {a, b})), ElementsAre(7, -7, 0, 0, 0));
  const Literal c = Literal::Vector<uint8_t>({7, 0}), zero = Literal::Vector<uint8_t>({0, 0});
  EXPECT_THAT(Numbers(Apply(kDivide, {c, zero})), ElementsAre(255, 255));
  EXPECT_THAT(Numbers(Apply(kRemainder, {c, zero})), ElementsAre(7, 0));
  const Literal low = Literal::Scalar<int64_t>(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Apply(kDivide, {low, Literal::Scalar<int64_t>(-1)}), low);
  EXPECT_EQ(Apply(kRemainder, {low, Literal::Scalar<int64_t>(-1)}), Literal::Scalar<int64_t>(0));
}

TEST(IntegerArithmetic, RemainderHasTheSignOfTheDividend) {
  EXPECT_THAT(Numbers(Apply(kRemainder, {Literal::Vector<int32_t>({7, -7, 7, -7}),
                                         Literal::Vector<int32_t>({3, 3, -3, -3})})),
              ElementsAre(1, -1, 1, -1));
}

TEST(IntegerArithmetic, WrapsToTheWidth) {
  EXPECT_THAT(Numbers(Apply(kAdd, {Literal::Vector<int8_t>({127, -128}), Literal::Vector<int8_t>({1, -1})})),
              ElementsAre(-128, 127));
  EXPECT_THAT(
      Numbers(Apply(kMultiply, {Literal::Vector<uint16_t>({65535}), Literal::Vector<uint16_t>({65535})})),
      ElementsAre(1));
  EXPECT_THAT(Numbers(Apply(kAbs, {Literal::Vector<int32_t>({INT32_MIN, -5})})),
              ElementsAre(-2147483648.0, 5));
  EXPECT_THAT(Numbers(Apply(kNegate, {Literal::Vector<int8_t>({-128, 3})})), ElementsAre(-128, -3));
  EXPECT_THAT(
      Numbers(Apply(kAdd, {Literal::Vector<S4>({S4(7), S4(-8)}), Literal::Vector<S4>({S4(1), S4(-1)})})),
      ElementsAre(-8, 7));
  EXPECT_THAT(Numbers(Apply(kSubtract, {Literal::Vector<U4>({U4(0)}), Literal::Vector<U4>({U4(1)})})),
              ElementsAre(15));
}

TEST(IntegerArithmetic, ShiftsBeyondTheWidthLeaveZerosOrTheSign) {
  const Literal x = Literal::Vector<int8_t>({-64, -64, -64, 64}), by = Literal::Vector<int8_t>({1, 8, -1, 7});
  EXPECT_THAT(Numbers(Apply(kShiftLeft, {x, by})), ElementsAre(-128, 0, 0, 0));
  EXPECT_THAT(Numbers(Apply(kShiftRightLogical, {x, by})), ElementsAre(96, 0, 0, 0));
  EXPECT_THAT(Numbers(Apply(kShiftRightArithmetic, {x, by})), ElementsAre(-32, -1, -1, 0));
  // An arithmetic shift of an unsigned type fills with the top bit, like that of a signed type.
  EXPECT_THAT(Numbers(Apply(kShiftRightArithmetic,
                            {Literal::Vector<uint8_t>({0x80}), Literal::Vector<uint8_t>({7})})),
              ElementsAre(255));
}

TEST(IntegerArithmetic, NegativePowersAreZeroUnlessTheBaseIsAUnit) {
  EXPECT_THAT(Numbers(Apply(kPower, {Literal::Vector<int32_t>({2, 1, -1, -1, 0, 3, 0, 65536}),
                                     Literal::Vector<int32_t>({-1, -5, -3, -2, -1, 4, 0, 2})})),
              ElementsAre(0, 1, -1, 1, 0, 81, 1, 0));
}

TEST(IntegerArithmetic, CountsBitsOfTheWidth) {
  EXPECT_THAT(Numbers(Apply(kClz, {Literal::Vector<int8_t>({0, 1, -1, 64})})), ElementsAre(8, 7, 0, 1));
  EXPECT_THAT(Numbers(Apply(kPopcnt, {Literal::Vector<int8_t>({0, -1, 7})})), ElementsAre(0, 8, 3));
  EXPECT_THAT(Numbers(Apply(kClz, {Literal::Vector<uint64_t>({0, 1})})), ElementsAre(64, 63));
}

TEST(IntegerArithmetic, MulhiIsTheUpperHalf) {
  EXPECT_THAT(Numbers(Apply(kMulhi, {Literal::Vector<int8_t>({100, -128, -1}),
                                     Literal::Vector<int8_t>({100, -128, 1})})),
              ElementsAre(39, 64, -1));
  const uint64_t all = ~uint64_t{0};
  EXPECT_EQ(Apply(kMulhi, {Literal::Scalar(all), Literal::Scalar(all)}), Literal::Scalar(all - 1));
}

TEST(Pred, AddAndMaximumAreOrMultiplyAndMinimumAreAnd) {
  const Literal a = Literal::Vector<bool>({false, false, true, true}),
                b = Literal::Vector<bool>({false, true, false, true});
  for (Opcode opcode : {kAdd, kMaximum, kOr})
    EXPECT_THAT(Numbers(Apply(opcode, {a, b})), ElementsAre(0, 1, 1, 1));
  for (Opcode opcode : {kMultiply, kMinimum, kAnd})
    EXPECT_THAT(Numbers(Apply(opcode, {a, b})), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(Numbers(Apply(kNot, {a})), ElementsAre(1, 1, 0, 0));
}

TEST(FloatArithmetic, NanWinsInMaximumMinimumAndClamp) {
  const Literal a = Literal::Vector<float>({kNanF, 1, 2}), b = Literal::Vector<float>({1, kNanF, 3});
  EXPECT_TRUE(std::isnan(Numbers(Apply(kMaximum, {a, b}))[0]));
  EXPECT_TRUE(std::isnan(Numbers(Apply(kMaximum, {a, b}))[1]));
  EXPECT_TRUE(std::isnan(Numbers(Apply(kMinimum, {a, b}))[1]));
  EXPECT_EQ(Numbers(Apply(kMaximum, {a, b}))[2], 3);
  const Literal clamped = Apply(
      kClamp, {Literal::Scalar(0.0f), Literal::Vector<float>({-1, 0.5, 9, kNanF}), Literal::Scalar(1.0f)});
  EXPECT_EQ(Numbers(clamped)[0], 0);
  EXPECT_EQ(Numbers(clamped)[1], 0.5);
  EXPECT_EQ(Numbers(clamped)[2], 1);
  EXPECT_TRUE(std::isnan(Numbers(clamped)[3]));
}

TEST(FloatArithmetic, SignKeepsZerosAndNan) {
  const std::vector<double> sign =
      Numbers(Apply(kSign, {Literal::Vector<float>({-0.0f, 0.0f, -3, 4, kNanF})}));
  EXPECT_TRUE(std::signbit(sign[0]));
  EXPECT_FALSE(std::signbit(sign[1]));
  EXPECT_EQ(sign[2], -1);
  EXPECT_EQ(sign[3], 1);
  EXPECT_TRUE(std::isnan(sign[4]));
}

TEST(FloatArithmetic, RoundsHalvesAwayFromZeroOrToEven) {
  const Literal x = Literal::Vector<float>({0.5, 1.5, 2.5, -0.5, -2.5});
  EXPECT_THAT(Numbers(Apply(kRoundNearestAfz, {x})), ElementsAre(1, 2, 3, -1, -3));
  EXPECT_THAT(Numbers(Apply(kRoundNearestEven, {x})), ElementsAre(0, 2, 2, 0, -2));
}

TEST(FloatArithmetic, SmallArgumentsKeepTheirDigits) {
  // expm1(x) = x + x^2/2, log1p(x) = x - x^2/2 for tiny x; in f32 both are x.
  const Literal tiny = Literal::Scalar(1e-10f);
  EXPECT_EQ(Apply(kExponentialMinusOne, {tiny}), tiny);
  EXPECT_EQ(Apply(kLogPlusOne, {tiny}), tiny);
  EXPECT_FLOAT_EQ(Apply(kErf, {Literal::Scalar(0.5f)}).data<float>()[0],
                  0.5204999f);  // Abramowitz and Stegun, table 7.1.
  EXPECT_EQ(Apply(kCbrt, {Literal::Scalar(-27.0f)}), Literal::Scalar(-3.0f));
  EXPECT_EQ(Apply(kLogistic, {Literal::Scalar(-1000.0f)}), Literal::Scalar(0.0f));
}

TEST(FloatArithmetic, Bf16RoundsAfterEachInstruction) {
  // bf16 has 8 bits: beyond 256 only even numbers exist, and ties go to the even mantissa.
  const Literal sum = Apply(kAdd, {Literal::Vector<BF16>({BF16(256.0f), BF16(258.0f)}),
                                   Literal::Vector<BF16>({BF16(1.0f), BF16(1.0f)})});
  EXPECT_THAT(Numbers(sum), ElementsAre(256, 260));
  EXPECT_THAT(Numbers(Apply(kMultiply, {Literal::Vector<F8E4M3FN>({F8E4M3FN(15.0f)}),
                                        Literal::Vector<F8E4M3FN>({F8E4M3FN(3.0f)})})),
              ElementsAre(44));  // 45 is between the neighbours 44 and 48.
}

TEST(ComplexArithmetic, FollowsTheFormulas) {
  using C = std::complex<float>;
  const Literal a = Literal::Scalar(C(1, 2)), b = Literal::Scalar(C(3, -1));
  EXPECT_EQ(Apply(kMultiply, {a, b}), Literal::Scalar(C(5, 5)));
  EXPECT_EQ(Apply(kDivide, {Literal::Scalar(C(5, 5)), b}), Literal::Scalar(C(1, 2)));
  EXPECT_EQ(Apply(kAbs, {Literal::Scalar(C(3, 4))}), Literal::Scalar(5.0f));
  EXPECT_EQ(Apply(kImag, {a}), Literal::Scalar(2.0f));
  EXPECT_EQ(Apply(kComplex, {Literal::Scalar(3.0f), Literal::Scalar(-1.0f)}), b);
  EXPECT_EQ(Apply(kPower, {Literal::Scalar(C(0, 0)), Literal::Scalar(C(0, 0))}), Literal::Scalar(C(1, 0)));
  EXPECT_EQ(Apply(kSign, {Literal::Scalar(C(0, -2))}), Literal::Scalar(C(0, -1)));
}

// Values of jaxlib 0.10.2 on the CPU.
TEST(ComplexArithmetic, PowersWhereTheLogarithmHasNoValue) {
  using C = std::complex<float>;
  const float inf = std::numeric_limits<float>::infinity();
  const auto power = [](C z, C w) { return Apply(kPower, {Literal::Scalar(z), Literal::Scalar(w)}); };
  for (const C z : {C(0, 0), C(inf, 0), C(kNanF, 0), C(kNanF, kNanF)})
    EXPECT_EQ(power(z, 0), Literal::Scalar(C(1, 0)));
  for (const C w : {C(kNanF, 0), C(inf, 0), C(1, inf)}) EXPECT_EQ(power(1, w), Literal::Scalar(C(1, 0)));
  for (const C w : {C(2, 0), C(0.5f, 0), C(inf, 0)}) EXPECT_EQ(power(0, w), Literal::Scalar(C(0, 0)));
  for (const C w : {C(-1, 0), C(0, 1), C(1, 1), C(kNanF, 0)}) {
    const C value = power(0, w).data<C>()[0];
    EXPECT_TRUE(std::isnan(value.real()) && std::isnan(value.imag())) << w;
  }
  EXPECT_EQ(Apply(kExponentialMinusOne, {Literal::Scalar(C(inf, 0))}), Literal::Scalar(C(inf, 0)));
}

TEST(Compare, TotalOrderPlacesZerosAndNans) {
  const Literal a = Literal::Vector<float>({-0.0f, 0.0f, -kNanF, kNanF, 1, kNanF});
  const Literal b = Literal::Vector<float>({0.0f, -0.0f, -std::numeric_limits<float>::infinity(),
                                            std::numeric_limits<float>::infinity(), 2, kNanF});
  const auto compare = [&](ComparisonDirection direction, ComparisonType type) {
    return Numbers(
        Result(EvaluateOne({.opcode = kCompare, .attributes = CompareAttributes{direction, type}}, {a, b})));
  };
  using enum ComparisonDirection;
  EXPECT_THAT(compare(kLt, ComparisonType::kTotalOrder), ElementsAre(1, 0, 1, 0, 1, 0));
  EXPECT_THAT(compare(kEq, ComparisonType::kTotalOrder), ElementsAre(0, 0, 0, 0, 0, 1));
  EXPECT_THAT(compare(kLt, ComparisonType::kFloat), ElementsAre(0, 0, 0, 0, 1, 0));
  EXPECT_THAT(compare(kEq, ComparisonType::kFloat), ElementsAre(1, 1, 0, 0, 0, 0));
  EXPECT_THAT(compare(kNe, ComparisonType::kFloat), ElementsAre(0, 0, 1, 1, 1, 1));
}

std::vector<double> Converted(Literal from, PrimitiveType to) {
  Shape shape = from.shape();
  shape.type = to;
  return Numbers(Result(EvaluateOne({.opcode = kConvert, .declared = shape}, {std::move(from)})));
}

TEST(Convert, FloatToIntegerTruncatesAndSaturates) {
  const Literal x = Literal::Vector<float>({2.9f, -2.9f, 300, -300, kNanF, static_cast<float>(kInf)});
  EXPECT_THAT(Converted(x, kS8), ElementsAre(2, -2, 127, -128, 0, 127));
  EXPECT_THAT(Converted(x, kU8), ElementsAre(2, 0, 255, 0, 0, 255));
  EXPECT_THAT(Converted(x, kU4), ElementsAre(2, 0, 15, 0, 0, 15));
  EXPECT_THAT(Converted(x, kS4), ElementsAre(2, -2, 7, -8, 0, 7));
  EXPECT_EQ(Converted(Literal::Scalar(1e30f), kS64)[0], static_cast<double>(INT64_MAX));
  EXPECT_EQ(Converted(Literal::Scalar(1e30f), kU64)[0], static_cast<double>(UINT64_MAX));
  EXPECT_THAT(Converted(Literal::Vector<float>({0, -0.0f, 0.25, kNanF}), kPred), ElementsAre(0, 0, 1, 1));
}

TEST(Convert, IntegerToIntegerWraps) {
  EXPECT_THAT(Converted(Literal::Vector<int32_t>({300, -1, 128}), kS8), ElementsAre(44, -1, -128));
  EXPECT_THAT(Converted(Literal::Vector<int8_t>({-1}), kU16), ElementsAre(65535));
  EXPECT_THAT(Converted(Literal::Vector<int32_t>({256, 0}), kPred), ElementsAre(1, 0));
}

TEST(Convert, LongIntegerToFloatRoundsOnce) {
  // 2^62 + 2^38 is halfway between two floats; adding one decides upwards, though a double cannot represent
  // it.
  const int64_t half = (int64_t{1} << 62) + (int64_t{1} << 38);
  EXPECT_EQ(Converted(Literal::Scalar(half), kF32)[0], std::ldexp(1.0, 62));
  EXPECT_EQ(Converted(Literal::Scalar(half + 1), kF32)[0], std::ldexp(1.0, 62) + std::ldexp(1.0, 39));
}

TEST(Convert, ToSmallFloatsOverflowsAsTheFormatSays) {
  const Literal x = Literal::Vector<float>({500, -500});
  EXPECT_THAT(Converted(x, kF8E5M2), ElementsAre(512, -512));
  EXPECT_TRUE(std::isnan(Converted(x, kF8E4M3FN)[0]));
  EXPECT_THAT(Converted(x, kF8E4M3), ElementsAre(kInf, -kInf));
  EXPECT_THAT(Converted(x, kF4E2M1FN), ElementsAre(6, -6));
}

Literal Bitcast(Literal from, Shape to) {
  return Result(EvaluateOne({.opcode = kBitcastConvert, .declared = to}, {std::move(from)}));
}

TEST(BitcastConvert, SplitsFromTheLowestBitsUp) {
  EXPECT_EQ(Bitcast(Literal::Scalar(1.0f), Shape::Scalar(kU32)), Literal::Scalar<uint32_t>(0x3f800000));
  EXPECT_THAT(Numbers(Bitcast(Literal::Vector<uint32_t>({0x04030201}), Shape::Array(kU8, {1, 4}))),
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Numbers(Bitcast(Literal::Array<uint8_t>({1, 2}, {0x34, 0x12}), Shape::Array(kU16, {1}))),
              ElementsAre(0x1234));
  EXPECT_THAT(Numbers(Bitcast(Literal::Vector<uint8_t>({0x8f, 0x71}), Shape::Array(kS4, {2, 2}))),
              ElementsAre(-1, -8, 1, 7));
  EXPECT_THAT(Numbers(Bitcast(Literal::Array<S4>({1, 2}, {S4(-1), S4(7)}), Shape::Array(kU8, {1}))),
              ElementsAre(0x7f));
  EXPECT_THAT(Numbers(Bitcast(Literal::Vector<U4>({U4(15), U4(8)}), Shape::Array(kS4, {2}))),
              ElementsAre(-1, -8));
}

TEST(ReducePrecision, RoundsTheMantissaAndFlushesTheExponent) {
  const Literal x = Literal::Vector<float>({1.00390625f, 1.01171875f, 70000, 1e-6f, -1e-9f, 3});
  // Rounded to bf16's format: 1 + 2^-8 is a tie, which goes to the even 1; 1 + 3 * 2^-8 is a tie, which goes
  // to the even 1 + 2^-6.
  const Literal bf16 =
      Result(EvaluateOne({.opcode = kReducePrecision, .attributes = ReducePrecisionAttributes{8, 7}}, {x}));
  EXPECT_EQ(Numbers(bf16)[0], 1);
  EXPECT_EQ(Numbers(bf16)[1], 1.015625);
  // Rounded to the format of half: 70000 overflows; 1e-6 is below the smallest normal number 2^-14.
  const std::vector<double> f16 = Numbers(
      Result(EvaluateOne({.opcode = kReducePrecision, .attributes = ReducePrecisionAttributes{5, 10}}, {x})));
  EXPECT_EQ(f16[2], kInf);
  EXPECT_EQ(f16[3], 0);
  EXPECT_TRUE(std::signbit(f16[4]));
  EXPECT_EQ(f16[5], 3);
}

TEST(StochasticConvert, RandomNumberDecidesTheRounding) {
  const Literal x = Literal::Vector<float>({2.25f, 2.25f, -2.25f, 1e9f});
  const uint32_t quarter = 0x40000000;
  const Literal random = Literal::Vector<uint32_t>({quarter - 1, quarter, 0, 0});
  EXPECT_THAT(Numbers(Result(EvaluateOne({.opcode = kStochasticConvert, .declared = Shape::Array(kS8, {4})},
                                         {x, random}))),
              ElementsAre(3, 2, -3, 127));
  // The value is between the bf16 neighbours 256 and 258: half of the random numbers round up.
  const Literal bf16 = Result(
      EvaluateOne({.opcode = kStochasticConvert, .declared = Shape::Array(kBF16, {2})},
                  {Literal::Vector<float>({257, 257}), Literal::Vector<uint32_t>({0x7fffffff, 0x80000000})}));
  EXPECT_THAT(Numbers(bf16), ElementsAre(258, 256));
}

TEST(Select, ScalarPredicateChoosesAWholeArray) {
  const Literal a = Literal::Vector<int32_t>({1, 2}), b = Literal::Vector<int32_t>({3, 4});
  EXPECT_EQ(Apply(kSelect, {Literal::Scalar(true), a, b}), a);
  EXPECT_THAT(Numbers(Apply(kSelect, {Literal::Vector<bool>({false, true}), a, b})), ElementsAre(3, 2));
}

}  // namespace
}  // namespace hlod

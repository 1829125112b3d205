// Literals: storage, equality, and conversion with HLO's special cases.
#include "common/hlo/literal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace hlod::hlo {
namespace {

using ::testing::ElementsAre;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Literal Converted(const Literal& literal, PrimitiveType type) { return Convert(literal, type).value(); }

TEST(Literal, IsZeroFilledAndAligned) {
  const Literal literal(Shape::Array(kF64, {3, 5}));
  EXPECT_EQ(literal.element_count(), 15);
  EXPECT_EQ(literal.bytes().size(), 120u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(literal.bytes().data()) % 64, 0u);
  for (const double x : literal.data<double>()) EXPECT_EQ(x, 0);
}

TEST(Literal, CopiesOwnTheirBytes) {
  Literal a = Literal::Vector<int32_t>({1, 2, 3});
  const Literal b = a;
  a.data<int32_t>()[0] = 9;
  EXPECT_THAT(b.data<int32_t>(), ElementsAre(1, 2, 3));
  const Literal tuple = Literal::MakeTuple([&] {
    std::vector<Literal> elements;
    elements.push_back(a);
    elements.push_back(Literal::Scalar(true));
    return elements;
  }());
  const Literal copy = tuple;
  EXPECT_TRUE(copy == tuple);
  EXPECT_EQ(copy.Leaves().size(), 2u);
  EXPECT_EQ(ToString(copy.shape()), "(s32[3], pred[])");
}

TEST(Literal, EqualityIsOfBytes) {
  EXPECT_FALSE(Literal::Scalar(0.0f) == Literal::Scalar(-0.0f));
  EXPECT_TRUE(Literal::Scalar(kNan) == Literal::Scalar(kNan));
  EXPECT_FALSE(Literal::Vector<float>({1}) == Literal::Scalar(1.0f));
  EXPECT_TRUE(Literal() == Literal());
}

TEST(Literal, DropsLayouts) {
  Shape shape = Shape::Array(kF32, {2, 3});
  shape.layout = Layout::RowMajor(2);
  EXPECT_EQ(Literal(shape).shape(), Shape::Array(kF32, {2, 3}));
}

TEST(LiteralMake, RefusesWhatIsTooLargeOrNoShape) {
  EXPECT_EQ(Literal::Make(Shape::Array(kF32, {1 << 20}), 1 << 20).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Literal::Make(Shape::Array(kF32, {int64_t{1} << 62}), INT64_MAX).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Literal::Make(Shape(), 1).status().code(), absl::StatusCode::kInvalidArgument);
  Shape unbounded = Shape::Array(kF32, {kUnboundedSize});
  unbounded.dynamic = {true};
  EXPECT_EQ(Literal::Make(unbounded, INT64_MAX).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Literal::Make(Shape::Token(), 0).ok());
}

TEST(Convert, FloatsTruncateAndSaturateToIntegers) {
  const Literal floats = Literal::Vector<float>({1.9f, -1.9f, 3e9f, -3e9f, kInf, -kInf, kNan});
  EXPECT_THAT(Converted(floats, kS32).data<int32_t>(),
              ElementsAre(1, -1, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0));
  EXPECT_THAT(Converted(floats, kU8).data<uint8_t>(), ElementsAre(1, 0, 255, 0, 255, 0, 0));
  EXPECT_THAT(Converted(floats, kS64).data<int64_t>(),
              ElementsAre(1, -1, 3000000000, -3000000000, INT64_MAX, INT64_MIN, 0));
  EXPECT_THAT(Converted(floats, kU64).data<uint64_t>(), ElementsAre(1, 0, 3000000000, 0, UINT64_MAX, 0, 0));
  const Literal fours = Converted(floats, kS4);
  EXPECT_EQ(fours.data<S4>()[2], 7);
  EXPECT_EQ(fours.data<S4>()[3], -8);
  EXPECT_EQ(fours.data<S4>()[6], 0);
}

TEST(Convert, IntegersWrap) {
  const Literal ints = Literal::Vector<int32_t>({300, -1, 128});
  EXPECT_THAT(Converted(ints, kU8).data<uint8_t>(), ElementsAre(44, 255, 128));
  EXPECT_THAT(Converted(ints, kS8).data<int8_t>(), ElementsAre(44, -1, -128));
  EXPECT_THAT(Converted(ints, kU64).data<uint64_t>(), ElementsAre(300, UINT64_MAX, 128));
}

TEST(Convert, AnythingButZeroIsTrue) {
  EXPECT_THAT(Converted(Literal::Vector<float>({0, -0.0f, 0.1f, kNan}), kPred).data<bool>(),
              ElementsAre(false, false, true, true));
  EXPECT_THAT(Converted(Literal::Vector<int32_t>({0, 256}), kPred).data<bool>(), ElementsAre(false, true));
  EXPECT_THAT(Converted(Literal::Vector<std::complex<float>>({{0, 1}, {0, 0}}), kPred).data<bool>(),
              ElementsAre(true, false));
  EXPECT_THAT(Converted(Literal::Vector<bool>({true, false}), kF32).data<float>(), ElementsAre(1, 0));
}

TEST(Convert, ComplexKeepsItsRealPart) {
  const Literal complex = Literal::Vector<std::complex<float>>({{1.5f, 2}, {-3.7f, 4}});
  EXPECT_THAT(Converted(complex, kF64).data<double>(), ElementsAre(1.5, -3.7f));
  EXPECT_THAT(Converted(complex, kS32).data<int32_t>(), ElementsAre(1, -3));
  EXPECT_THAT(Converted(Literal::Vector<int32_t>({2}), kC64).data<std::complex<float>>(),
              ElementsAre(std::complex<float>(2, 0)));
}

TEST(Convert, RoundsOnce) {
  // 2^24 + 1 is between two floats and goes to the even one below; 2^53 + 2^45 + 1 is just above the middle
  // of two bf16 neighbours.
  EXPECT_THAT(Converted(Literal::Vector<int32_t>({(1 << 24) + 1}), kF32).data<float>(),
              ElementsAre(16777216.0f));
  const Literal large = Converted(Literal::Vector<int64_t>({(int64_t{1} << 53) + (int64_t{1} << 45) + 1,
                                                            (int64_t{1} << 53) + (int64_t{1} << 45)}),
                                  kBF16);
  EXPECT_EQ(static_cast<float>(large.data<BF16>()[0]), std::ldexp(1 + 1.0f / 128, 53));
  EXPECT_EQ(static_cast<float>(large.data<BF16>()[1]), std::ldexp(1.0f, 53));
  EXPECT_THAT(Converted(Literal::Vector<uint64_t>({UINT64_MAX}), kF32).data<float>(),
              ElementsAre(18446744073709551616.0f));
  EXPECT_EQ(static_cast<float>(Converted(Literal::Scalar<int64_t>(INT64_MIN), kBF16).data<BF16>()[0]),
            std::ldexp(-1.0f, 63));
}

TEST(Convert, GoesBetweenAllArrayTypes) {
  for (int from = 1; from < 37; ++from) {
    for (int to = 1; to < 37; ++to) {
      const auto a = PrimitiveTypeFromNumber(from), b = PrimitiveTypeFromNumber(to);
      if (!a || !b || !IsArrayType(*a) || !IsArrayType(*b)) continue;
      // One is a value of every type except s1, whose values are 0 and -1.
      const Literal one = Converted(Literal::Vector<int32_t>({1, 1, 1}), *a);

      if (*a == kS1 || *b == kS1) continue;
      EXPECT_EQ(ElementAsDouble(Converted(one, *b), 2), 1) << Name(*a) << " to " << Name(*b);
    }
  }
}

TEST(Convert, RefusesTuples) {
  EXPECT_EQ(Convert(Literal::MakeTuple({}), kF32).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Convert(Literal::Scalar(1.0f), kTupleType).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Literal, WhatWasMovedFromIsEmpty) {
  Literal from = Literal::Array<float>({2, 2}, {1, 2, 3, 4});
  const Literal made = std::move(from);
  Literal assigned;
  Literal other = Literal::Vector<float>({5});
  assigned = std::move(other);
  for (const Literal* const moved : {&from, &other}) {
    EXPECT_EQ(moved->element_count(), 0);
    EXPECT_TRUE(moved->bytes().empty());
    EXPECT_TRUE(moved->data<float>().empty());
    EXPECT_EQ(*moved, Literal());
  }
  EXPECT_EQ(made, Literal::Array<float>({2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(assigned, Literal::Vector<float>({5}));
}

TEST(LiteralDeath, ArrayTakesAsManyValuesAsItsDimensionsDo) {
  EXPECT_DEATH(Literal::Array<float>({2, 2}, {1, 2, 3}),
               "3 values were given for a literal of f32\\[2,2\\], which takes 4");
  EXPECT_DEATH(Literal::Array<float>({2}, {1, 2, 3}),
               "3 values were given for a literal of f32\\[2\\], which takes 2");
}

}  // namespace
}  // namespace hlod::hlo

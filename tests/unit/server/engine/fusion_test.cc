// Fused kernels: the groups that are formed, and the results of tile programs on every instruction set,
// compared with those of the instructions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "common/base/errors/status.h"
#include "common/hlo/analysis/effects.h"
#include "common/hlo/builder.h"
#include "common/hlo/text/text.h"
#include "server/engine/tile/fusion.h"
#include "server/engine/tile/ops/ops.h"
#include "server/engine/tile/reducer.h"
#include "server/engine/tile/scalar_function.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Builder;
using hlo::Op;
using hlo::Shape;

// ----------------------------------------------------------------------------------------------
// single-precision functions

struct Function {
  hlo::Opcode opcode;
  double (*reference)(double);
  double low, high;
  double ulps;  // The error allowed against the C library in double precision.
};

const Function kFunctions[] = {
    {hlo::kExponential, [](double x) { return std::exp(x); }, -104, 89, 3},
    {hlo::kExponentialMinusOne, [](double x) { return std::expm1(x); }, -20, 80, 8},
    {hlo::kLog, [](double x) { return std::log(x); }, 1e-40, 1e30, 4},
    {hlo::kLogPlusOne, [](double x) { return std::log1p(x); }, -0.999, 1e6, 6},
    {hlo::kTanh, [](double x) { return std::tanh(x); }, -12, 12, 6},
    {hlo::kLogistic, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 6},
    {hlo::kErf, [](double x) { return std::erf(x); }, -5, 5, 8},
    {hlo::kSine, [](double x) { return std::sin(x); }, -1000, 1000, 1},
    {hlo::kCosine, [](double x) { return std::cos(x); }, -1000, 1000, 1},
    {hlo::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-30, 1e30, 2},
    {hlo::kAsin, [](double x) { return std::asin(x); }, -1, 1, 4},
    {hlo::kAcos, [](double x) { return std::acos(x); }, -1, 1, 4},
    {hlo::kAtan, [](double x) { return std::atan(x); }, -50, 50, 4},
};

class TileMath : public testing::TestWithParam<Function> {};

TEST_P(TileMath, StaysWithinItsUlpsOnEveryInstructionSet) {
  const Function& function = GetParam();
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  std::vector<float> x, y(kTile);
  for (int i = 0; i < 64 * kTile; ++i) {
    const double t = i / (64.0 * kTile);
    x.push_back(
        static_cast<float>(function.low + (function.high - function.low) * t));  // Points spread evenly over
                                                                                 // the range.
    const double sign = (i & 1) != 0 && function.low < 0 ? -1 : 1;
    const double small = sign * std::pow(10.0, -30 * t);  // Points down to tiny values.
    if (small > function.low && small < function.high) x.push_back(static_cast<float>(small));
  }
  for (int set = 0; set < count; ++set) {
    const TileFunction f = sets[set]->elementwise(function.opcode, Carrier::kF32);
    double worst = 0, at = 0;
    for (size_t start = 0; start + kTile <= x.size(); start += kTile) {
      f(y.data(), x.data() + start, nullptr, nullptr, kTile, 0);
      for (int i = 0; i < kTile; ++i) {
        const double want = function.reference(x[start + i]);
        const float rounded = static_cast<float>(std::fabs(want));
        if (!std::isfinite(rounded)) continue;
        const double ulp = std::max<double>(std::nextafter(rounded, INFINITY) - rounded, 1.4e-45);
        const double error = std::fabs(y[i] - want) / ulp;
        if (!(error <= worst)) {
          worst = error;
          at = x[start + i];
        }
      }
    }
    EXPECT_LE(worst, function.ulps) << sets[set]->name << " " << hlo::Name(function.opcode) << "(" << at
                                    << ")";
  }
}
INSTANTIATE_TEST_SUITE_P(All, TileMath, testing::ValuesIn(kFunctions), [](const auto& info) {
  std::string name(hlo::Name(info.param.opcode));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Floats of every magnitude, and the neighbours of multiples of pi/2, where a sine or cosine nearly vanishes.
TEST(TileMath, SineAndCosineHoldOverTheWholeRange) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4099) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (int64_t n = 1; n < 6'000'000; n += 37) {
    const auto near = static_cast<float>(static_cast<double>(n) * 1.5707963267948966);
    x.insert(x.end(), {std::nextafter(near, 0.0f), near, -near});
  }
  x.resize(x.size() / kTile * kTile);
  for (const Function& function : kFunctions) {
    if (function.opcode != hlo::kSine && function.opcode != hlo::kCosine) continue;
    std::vector<double> want(x.size());
    for (size_t i = 0; i < x.size(); ++i) want[i] = function.reference(x[i]);
    const TileOps* sets[kTileSetsMax];
    const int count = AvailableTileOps(sets);
    for (int set = 0; set < count; ++set) {
      const TileFunction f = sets[set]->elementwise(function.opcode, Carrier::kF32);
      for (size_t start = 0; start < x.size(); start += kTile) {
        float y[kTile];
        std::copy_n(x.data() + start, kTile, y);
        f(y, y, nullptr, nullptr, kTile, 0);  // In place, as programs do.
        for (int i = 0; i < kTile; ++i) {
          const double exact = want[start + i];
          const auto size = static_cast<float>(std::fabs(exact));
          const bool right = std::isnan(exact)
                                 ? std::isnan(y[i])
                                 : std::fabs(y[i] - exact) <= 1.0 * (std::nextafter(size, 2.0f) - size);
          ASSERT_TRUE(right) << sets[set]->name << " " << hlo::Name(function.opcode) << "(" << x[start + i]
                             << ") = " << y[i] << ", not " << exact;
        }
      }
    }
  }
}

// Floats of every magnitude to powers of every magnitude, and those that C's standard lists.
TEST(TileMath, PowersAreThoseOfTheCLibrary) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = INFINITY;
  std::vector<float> x, y;
  const auto add = [&](float base, float exponent) {
    x.push_back(base);
    y.push_back(exponent);
  };
  constexpr float kSpecial[] = {0,    -0.0f,  1,       -1,          kInf,       -kInf,        kNaN,
                                0.5f, -0.5f,  2,       -2,          3,          -3,           4,
                                1.5,  1e-40f, -1e-40f, 1e38f,       -8,         -1.5f,        1e-30f,
                                2e9f, 3e9f,   -3e9f,   16777215.0f, 8388609.0f, -16777217.0f, 1e-45f};
  for (const float base : kSpecial) {
    for (const float exponent : kSpecial) add(base, exponent);
  }
  std::mt19937 random(4);
  for (int i = 0; i < 200'000; ++i) {
    add(std::bit_cast<float>(static_cast<uint32_t>(random())),
        std::bit_cast<float>(static_cast<uint32_t>(random())));
    const float base = std::bit_cast<float>(static_cast<uint32_t>(random() % 0x7f800000u));
    // Results between the least and the greatest float.
    const double most = 150 / std::max(std::fabs(std::log2(double{base})), 1e-3);
    const double share = static_cast<double>(random()) / 4294967296.0 * 2 - 1;
    add(base, static_cast<float>(most * share));
    add(-base, static_cast<float>(std::rint(most * share)));
  }
  while (x.size() % kTile != 0) add(1, 1);
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    const TileFunction f = sets[set]->elementwise(hlo::kPower, Carrier::kF32);
    for (size_t start = 0; start < x.size(); start += kTile) {
      float z[kTile];
      std::copy_n(x.data() + start, kTile, z);
      f(z, z, y.data() + start, nullptr, kTile, 0);  // In place, as programs do.
      for (int i = 0; i < kTile; ++i) {
        const float base = x[start + i], exponent = y[start + i];
        const double exact = std::pow(double{base}, double{exponent});
        const auto want = static_cast<float>(exact);
        bool right = want == z[i] && std::signbit(want) == std::signbit(z[i]);
        if (std::isnan(want)) right = std::isnan(z[i]);
        else if (!right && std::isfinite(want) && want != 0)
          right = std::fabs(z[i] - exact) <= 0.55 * (std::nextafter(std::fabs(want), kInf) - std::fabs(want));
        ASSERT_TRUE(right) << sets[set]->name << " " << base << "^" << exponent << " = " << z[i] << ", not "
                           << want;
      }
    }
  }
}

TEST(TileMath, NaNInfinityAndZeroComeOutAsTheCLibrarySays) {
  const float x[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.0f, -1.0f, 200.0f, -200.0f};
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    for (const Function& function : kFunctions) {
      float y[std::size(x)];
      sets[set]->elementwise(function.opcode, Carrier::kF32)(y, x, nullptr, nullptr, std::size(x), 0);
      for (size_t i = 0; i < std::size(x); ++i) {
        const auto want = static_cast<float>(function.reference(x[i]));
        const std::string what =
            absl::StrFormat("%s %s(%f)", sets[set]->name, hlo::Name(function.opcode), x[i]);
        if (std::isnan(want)) EXPECT_TRUE(std::isnan(y[i])) << what << " = " << y[i];
        else if (std::isinf(want)) EXPECT_EQ(y[i], want) << what;
        else if (want == 0) EXPECT_TRUE(y[i] == 0 && std::signbit(y[i]) == std::signbit(want)) << what;
        else EXPECT_NEAR(y[i] / want, 1, 1e-6) << what;
      }
    }
  }
}

struct WideFunction {
  hlo::Opcode opcode;
  long double (*reference)(long double);
  double low, high, ulps;
};
const WideFunction kWideFunctions[] = {
    {hlo::kExponential, [](long double x) { return std::exp(x); }, -744, 709, 2},
    {hlo::kExponentialMinusOne, [](long double x) { return std::expm1(x); }, -40, 700, 8},
    {hlo::kTanh, [](long double x) { return std::tanh(x); }, -22, 22, 4},
    {hlo::kLogistic, [](long double x) { return 1 / (1 + std::exp(-x)); }, -700, 700, 4},
    {hlo::kLog, [](long double x) { return std::log(x); }, 5e-324, 1e308, 2},
    {hlo::kLogPlusOne, [](long double x) { return std::log1p(x); }, -0.999, 1e10, 4},
};

TEST(TileMath, DoublePrecisionStaysWithinItsUlpsOnEveryInstructionSet) {
  const double special[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 800, -800};
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (const WideFunction& function : kWideFunctions) {
    std::vector<double> x(std::begin(special), std::end(special));
    while (x.size() < 32 * kTile) {
      const double t = static_cast<double>(x.size()) / (32.0 * kTile);
      x.push_back(function.low + (function.high - function.low) * t);
      x.push_back(4 * t - 2);
      x.push_back(std::pow(10.0, -40 * t) * (x.size() % 2 == 0 ? 1 : -1));
    }
    x.resize(32 * kTile);
    for (int set = 0; set < count; ++set) {
      double worst = 0, at = 0;
      for (size_t start = 0; start < x.size(); start += kTile) {
        double y[kTile];
        sets[set]->elementwise(function.opcode, Carrier::kF64)(y, x.data() + start, nullptr, nullptr, kTile,
                                                               0);
        for (int i = 0; i < kTile; ++i) {
          const long double want = function.reference(x[start + i]);
          const auto rounded = static_cast<double>(want);
          if (std::isnan(rounded)) {
            EXPECT_TRUE(std::isnan(y[i])) << x[start + i];
          }
          if (std::isinf(rounded)) {
            EXPECT_EQ(y[i], rounded) << x[start + i];
          }
          if (rounded == 0) {
            EXPECT_EQ(std::signbit(y[i]), std::signbit(rounded)) << x[start + i];
          }
          if (!std::isfinite(rounded)) continue;
          const double size = std::fabs(rounded);
          const auto error =
              static_cast<double>(std::fabs(y[i] - want) / (std::nextafter(size, INFINITY) - size));
          if (!(error <= worst)) {
            worst = error;
            at = x[start + i];
          }
        }
      }
      EXPECT_LE(worst, function.ulps)
          << sets[set]->name << " " << hlo::Name(function.opcode) << "(" << at << ")";
    }
  }
}

// By hand, for two matrices of two rows and three columns.
TEST(TileOps, ColumnsOfSmallMatricesAreCombinedIntoAnAccumulatorEach) {
  const TileOps& ops = GetTileOps();
  const float x[] = {1, 2, -0.0f, 3, NAN, 0, 4, 5, 6, -7, 0.5f, 8};
  double sums[] = {100, 0, 0, 0, 0, 1};
  ops.fold_groups(FoldOp::kAdd, Carrier::kF32)(sums, x, 2, 2, 3);
  EXPECT_EQ(sums[0], 104);
  EXPECT_TRUE(std::isnan(sums[1]));
  EXPECT_EQ(sums[2], 0);
  EXPECT_EQ(sums[3], -3);
  EXPECT_EQ(sums[4], 5.5);
  EXPECT_EQ(sums[5], 15);
  float least[] = {INFINITY, 9, 9, -8, 9, 9};
  ops.fold_groups(FoldOp::kMinimum, Carrier::kF32)(least, x, 2, 2, 3);
  EXPECT_EQ(least[0], 1);
  EXPECT_TRUE(std::isnan(least[1]));
  EXPECT_TRUE(std::signbit(least[2]));
  EXPECT_EQ(least[3], -8);
  EXPECT_EQ(least[4], 0.5f);
  EXPECT_EQ(least[5], 6);
  int32_t wide[8] = {};  // One matrix of three rows and eight columns.
  int32_t numbers[24];
  for (int i = 0; i < 24; ++i) numbers[i] = i;
  ops.fold_groups(FoldOp::kAdd, Carrier::kI32)(wide, numbers, 1, 3, 8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(wide[i], 24 + 3 * i);
}

// By hand: minima and maxima with NaN are NaN, and -0 comes before 0. Sums begin with their accumulator.
TEST(TileOps, ShortRowsAreCombinedIntoAnAccumulatorEach) {
  const TileOps& ops = GetTileOps();
  const float x[] = {1, 2, 4, -0.0f, 0.0f, -0.0f, NAN, 3, 5, 0.5f, -8, 0.25f};
  double sums[] = {100, 0, 0, 1};
  ops.fold_rows(FoldOp::kAdd, Carrier::kF32)(sums, x, 4, 3);
  EXPECT_EQ(sums[0], 107);
  EXPECT_EQ(sums[1], 0);
  EXPECT_TRUE(std::isnan(sums[2]));
  EXPECT_EQ(sums[3], -6.25);
  float largest[] = {-INFINITY, -INFINITY, -INFINITY, 0.75f},
        least[] = {INFINITY, INFINITY, INFINITY, INFINITY};
  ops.fold_rows(FoldOp::kMaximum, Carrier::kF32)(largest, x, 4, 3);
  ops.fold_rows(FoldOp::kMinimum, Carrier::kF32)(least, x, 4, 3);
  EXPECT_EQ(largest[0], 4);
  EXPECT_FALSE(std::signbit(largest[1]));
  EXPECT_TRUE(std::isnan(largest[2]));
  EXPECT_EQ(largest[3], 0.75f);
  EXPECT_EQ(least[0], 1);
  EXPECT_TRUE(std::signbit(least[1]));
  EXPECT_TRUE(std::isnan(least[2]));
  EXPECT_EQ(least[3], -8);
  const int32_t bits[] = {7, 5, 12, 10};
  int32_t joined[] = {-1, 6};
  ops.fold_rows(FoldOp::kAnd, Carrier::kI32)(joined, bits, 2, 2);
  EXPECT_EQ(joined[0], 5);
  EXPECT_EQ(joined[1], 0);
}

TEST(TileOps, IntegersArePoweredAndTheirBitsCounted) {
  const int32_t base[] = {3, -2, -1, -1, 1, 2, 0, 0, 5, 7},
                exponent[] = {5, 3, -3, -4, -7, -1, 0, 4, 13, 100};
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    int32_t power[10];
    sets[set]->elementwise(hlo::kPower, Carrier::kI32)(power, base, exponent, nullptr, 10, 0);
    // 7^100 modulo 2^32, by hand (Python).
    EXPECT_THAT(power, testing::ElementsAre(243, -8, -1, 1, 1, 0, 1, 0, 1220703125, 1027218017))
        << sets[set]->name;
    const uint64_t bits[] = {0, 1, ~uint64_t{0}, uint64_t{1} << 63, 0x0f0f};
    uint64_t ones[5], zeros[5];
    sets[set]->elementwise(hlo::kPopcnt, Carrier::kU64)(ones, bits, nullptr, nullptr, 5, 64);
    sets[set]->elementwise(hlo::kClz, Carrier::kU64)(zeros, bits, nullptr, nullptr, 5, 64);
    EXPECT_THAT(ones, testing::ElementsAre(0, 1, 64, 1, 8));
    EXPECT_THAT(zeros, testing::ElementsAre(64, 63, 0, 0, 52));
    const int32_t narrow[] = {-1, 0, 1, -128};
    int32_t few[4];
    sets[set]->elementwise(hlo::kPopcnt, Carrier::kI32)(few, narrow, nullptr, nullptr, 4, 8);
    EXPECT_THAT(few, testing::ElementsAre(8, 0, 1, 1));
    sets[set]->elementwise(hlo::kClz, Carrier::kI32)(few, narrow, nullptr, nullptr, 4, 8);
    EXPECT_THAT(few, testing::ElementsAre(0, 8, 7, 0));
    const int64_t high[] = {INT64_MIN, -1, int64_t{1} << 62};
    const int64_t other[] = {INT64_MIN, 1, 12};
    int64_t product[3];
    sets[set]->elementwise(hlo::kMulhi, Carrier::kI64)(product, high, other, nullptr, 3, 64);
    EXPECT_THAT(product, testing::ElementsAre(int64_t{1} << 62, -1, 3));
  }
}

// Zero divides to all ones and leaves the dividend; the least number over -1 wraps (HLO's semantics).
template <typename T>
void CheckDivisions(const TileOps& ops, Carrier carrier, const std::vector<T>& numbers) {
  std::vector<T> a, b, quotient, rest, wanted_quotient, wanted_rest;
  for (const T x : numbers) {
    for (const T y : numbers) {
      a.push_back(x);
      b.push_back(y);
      const auto p = static_cast<int64_t>(x), q = static_cast<int64_t>(y);
      wanted_quotient.push_back(static_cast<T>(q == 0 ? -1 : p / q));
      wanted_rest.push_back(static_cast<T>(q == 0 ? p : p % q));
    }
  }
  quotient.resize(a.size());
  rest.resize(a.size());
  ASSERT_LE(a.size(), kTile);
  const int count = static_cast<int>(a.size());
  ops.elementwise(hlo::kDivide, carrier)(quotient.data(), a.data(), b.data(), nullptr, count, 0);
  ops.elementwise(hlo::kRemainder, carrier)(rest.data(), a.data(), b.data(), nullptr, count, 0);
  EXPECT_THAT(quotient, testing::ElementsAreArray(wanted_quotient)) << ops.name;
  EXPECT_THAT(rest, testing::ElementsAreArray(wanted_rest)) << ops.name;
}

TEST(TileOps, IntegersAreDividedExactly) {
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    CheckDivisions<int32_t>(*sets[set], Carrier::kI32,
                            {0, 1, -1, 2, 3, -7, 10, 65535, 65536, -65537, 715827882, 1431655765, 2147483646,
                             INT32_MAX, -INT32_MAX, INT32_MIN});
    CheckDivisions<uint32_t>(*sets[set], Carrier::kU32,
                             {0, 1, 2, 3, 7, 10, 65535, 65536, 65537, 715827883, 2863311531, 2147483647,
                              2147483648, 2147483649, UINT32_MAX - 1, UINT32_MAX});
    CheckDivisions<int8_t>(*sets[set], Carrier::kI8, {0, 1, -1, 2, 3, -7, 126, 127, -127, -128});
    CheckDivisions<uint16_t>(*sets[set], Carrier::kU16, {0, 1, 2, 3, 7, 255, 256, 32767, 32768, 65535});
  }
}

// The C library's fmod is exact.
TEST(TileOps, RemaindersOfFloatsAreExact) {
  std::vector<float> numbers = {0.0f,   -0.0f, 1.0f,   -1.0f,       0.1f,  3.0f,     -7.5f,     1e-45f,
                                1e-38f, 3e38f, -3e38f, 16777216.0f, 1e10f, INFINITY, -INFINITY, NAN};
  std::vector<float> a, b;
  for (const float x : numbers) {
    for (const float y : numbers) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  std::mt19937 random(3);
  while (a.size() < 2 * kTile) {
    const auto of = [&] {
      return std::ldexp(static_cast<float>(random() % 16777216), static_cast<int>(random() % 60) - 40);
    };
    a.push_back(of());
    b.push_back(-of());
  }
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    for (int start = 0; start < 2 * kTile; start += kTile) {
      float y[kTile];
      std::copy_n(b.data() + start, kTile, y);
      sets[set]->elementwise(hlo::kRemainder, Carrier::kF32)(y, a.data() + start, y, nullptr, kTile, 0);
      for (int i = 0; i < kTile; ++i) {
        const float want = std::fmod(a[start + i], b[start + i]);
        const bool right = std::isnan(want) ? std::isnan(y[i])
                                            : std::bit_cast<uint32_t>(want) == std::bit_cast<uint32_t>(y[i]);
        ASSERT_TRUE(right) << sets[set]->name << " " << a[start + i] << " % " << b[start + i] << " = "
                           << y[i];
      }
    }
  }
}

TEST(TileOps, AnglesOfAllQuadrantsAreTheCLibrarys) {
  const float numbers[] = {0.0f,   -0.0f,  1.0f,   -1.0f,    0.3f,      -2.5f,
                           1e-30f, -1e30f, 1e-45f, INFINITY, -INFINITY, NAN};
  std::vector<float> a, b;
  for (const float x : numbers) {
    for (const float y : numbers) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    std::vector<float> angles(a.size());
    sets[set]->elementwise(hlo::kAtan2, Carrier::kF32)(angles.data(), a.data(), b.data(), nullptr,
                                                       static_cast<int>(a.size()), 0);
    for (size_t i = 0; i < a.size(); ++i) {
      const float want = std::atan2(a[i], b[i]);
      if (std::isnan(want)) EXPECT_TRUE(std::isnan(angles[i])) << a[i] << " " << b[i];
      else EXPECT_NEAR(angles[i], want, 4e-7f * std::fabs(want)) << a[i] << " " << b[i];
      if (want == 0) EXPECT_EQ(std::signbit(angles[i]), std::signbit(want)) << a[i] << " " << b[i];
    }
  }
}

TEST(TileOps, ConversionsSaturateTruncateAndTakeNanToZero) {
  const float x[] = {NAN, INFINITY, -INFINITY, 1.9f, -1.9f, 3e9f, -3e9f, 5e9f};
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    int32_t s32[8];
    uint32_t u32[8];
    sets[set]->convert(Carrier::kF32, Carrier::kI32)(s32, x, nullptr, nullptr, 8, 0);
    sets[set]->convert(Carrier::kF32, Carrier::kU32)(u32, x, nullptr, nullptr, 8, 0);
    EXPECT_THAT(s32, testing::ElementsAre(0, INT32_MAX, INT32_MIN, 1, -1, INT32_MAX, INT32_MIN, INT32_MAX));
    EXPECT_THAT(u32, testing::ElementsAre(0, UINT32_MAX, 0, 1, 0, 3000000000u, 0, UINT32_MAX));
  }
}

// Enough elements for the loops over vectors; 2^53 - 1 and 2^63 - 1024 use all bits of a double.
constexpr struct {
  double from;
  int64_t to_s64;
  uint64_t to_u64;
} kWideConversions[] = {
    {0.0, 0, 0},
    {-0.0, 0, 0},
    {0.75, 0, 0},
    {-0.75, 0, 0},
    {1.5, 1, 1},
    {-1.5, -1, 0},
    {4294967295.75, 4294967295, 4294967295},
    {4294967296.5, 4294967296, 4294967296},
    {-1e10, -10000000000, 0},
    {0x1p53 - 1, (int64_t{1} << 53) - 1, (uint64_t{1} << 53) - 1},
    {0x1p62, int64_t{1} << 62, uint64_t{1} << 62},
    {-0x1p62, -(int64_t{1} << 62), 0},
    {0x1p63 - 1024, INT64_MAX - 1023, (uint64_t{1} << 63) - 1024},
    {0x1p63, INT64_MAX, uint64_t{1} << 63},
    {-0x1p63, INT64_MIN, 0},
    {0x1p64 - 2048, INT64_MAX, UINT64_MAX - 2047},
    {0x1p64, INT64_MAX, UINT64_MAX},
    {1e300, INT64_MAX, UINT64_MAX},
    {-1e300, INT64_MIN, 0},
    {NAN, 0, 0},
    {INFINITY, INT64_MAX, UINT64_MAX},
    {-INFINITY, INT64_MIN, 0},
};

TEST(TileOps, ConversionsToWideIntegersAreExactAndSaturate) {
  constexpr int kCount = std::size(kWideConversions);
  double numbers[kCount];
  int64_t s64[kCount];
  uint64_t u64[kCount];
  for (int i = 0; i < kCount; ++i) {
    numbers[i] = kWideConversions[i].from;
    s64[i] = kWideConversions[i].to_s64;
    u64[i] = kWideConversions[i].to_u64;
  }
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    int64_t to_signed[kCount];
    uint64_t to_unsigned[kCount];
    sets[set]->convert(Carrier::kF64, Carrier::kI64)(to_signed, numbers, nullptr, nullptr, kCount, 0);
    sets[set]->convert(Carrier::kF64, Carrier::kU64)(to_unsigned, numbers, nullptr, nullptr, kCount, 0);
    EXPECT_THAT(to_signed, testing::ElementsAreArray(s64)) << set;
    EXPECT_THAT(to_unsigned, testing::ElementsAreArray(u64)) << set;
    float singles[kCount];
    for (int i = 0; i < kCount; ++i) singles[i] = static_cast<float>(i) * 3e17f - 1e18f;
    sets[set]->convert(Carrier::kF32, Carrier::kI64)(to_signed, singles, nullptr, nullptr, kCount, 0);
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(to_signed[i], static_cast<int64_t>(singles[i])) << i;
  }
}

// ---------------------------------------------------------------------------------------------- groups

std::vector<FusionGroup> Groups(const hlo::Module& module) {
  return PlanFusion(module, module.entry(), std::vector<bool>(module.entry().size(), true),
                    hlo::FindSideEffects(module), StepReads(module, module.entry()));
}

TEST(Fusion, AChainOfElementwiseInstructionsIsOneGroupAndItsBiasIsNeverMade) {
  hlo::Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {64, 10}));
  const Op bias = b.Parameter(1, Shape::Array(hlo::kF32, {10}));
  const Op y = b.Unary(hlo::kTanh, x + b.Broadcast(bias, {64, 10}, {1}));
  ASSERT_TRUE(b.Build(y * b.Constant(2.0f)).ok());
  const auto groups = Groups(module);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].nodes.size(), 3u);
  EXPECT_THAT(groups[0].inputs, testing::ElementsAre(x.id, bias.id));
  auto plan = ExpectAgreesWithEvaluator(module);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->stats().steps, 1);
  EXPECT_EQ(plan->stats().fused_steps, 1);
}

// With edges a -> dot -> c and a -> c, a and c must not be in one group, because the group would depend on
// itself.
TEST(Fusion, AGroupNeverDependsOnItselfThroughAnotherStep) {
  hlo::Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {8, 8}));
  const Op a = b.Unary(hlo::kExponential, x);
  const Op d = b.MatMul(a, a);
  ASSERT_TRUE(b.Build(a + d).ok());
  EXPECT_EQ(Groups(module).size(), 2u);
  EXPECT_NE(ExpectAgreesWithEvaluator(module, 1e-4, 1e-4), nullptr);
}

// A reshape that does not fit the strides of what is repeated is a step of its own.
TEST(Fusion, AGroupNeverDependsOnItselfThroughAReshapeOfABroadcast) {
  hlo::Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {8}));
  const Op a = b.Unary(hlo::kNegate, x);
  const Op repeated = b.Reshape(b.Broadcast(a, {8, 3}, {0}), {24});
  ASSERT_TRUE(b.Build(a + b.Slice(repeated, {0}, {8})).ok());
  EXPECT_EQ(Groups(module).size(), 2u);
  EXPECT_NE(ExpectAgreesWithEvaluator(module), nullptr);
}

TEST(Fusion, SoftmaxTakesFewPassesAndNoReferenceStep) {
  hlo::Module module("m");
  const hlo::ComputationId max = hlo::AddScalarReducer(module, hlo::kMaximum, hlo::kF32);
  const hlo::ComputationId add = hlo::AddScalarReducer(module, hlo::kAdd, hlo::kF32);
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {37, 100}));
  const Op top = b.Reduce(x, b.Constant(-INFINITY), {1}, max);
  const Op e = b.Unary(hlo::kExponential, x - b.Broadcast(top, {37, 100}, {0}));
  const Op sum = b.Reduce(e, b.Constant(0.0f), {1}, add);
  ASSERT_TRUE(b.Build(e / b.Broadcast(sum, {37, 100}, {0})).ok());
  auto plan = ExpectAgreesWithEvaluator(module);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->stats().reference_steps, 0);
  EXPECT_EQ(plan->stats().steps, 1) << "The maximum is not in the chain.";
}
TEST(Fusion, ALayerNormIsOneStepAndALoneReduceKeepsItsOwn) {
  hlo::Module module("m");
  const hlo::ComputationId add = hlo::AddScalarReducer(module, hlo::kAdd, hlo::kF32);
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {37, 100}));
  const Op mean = b.Reduce(x, b.Constant(0.0f), {1}, add) * b.Constant(0.01f);
  const Op centred = x - b.Broadcast(mean, {37, 100}, {0});
  const Op variance = b.Reduce(centred * centred, b.Constant(0.0f), {1}, add) * b.Constant(0.01f);
  const Op norm = centred * b.Broadcast(b.Unary(hlo::kRsqrt, variance), {37, 100}, {0});
  const Op y = b.Parameter(1, Shape::Array(hlo::kF32, {37, 100}));
  ASSERT_TRUE(b.Build(b.Tuple({norm, b.Reduce(y, b.Constant(0.0f), {1}, add)})).ok());
  auto plan = ExpectAgreesWithEvaluator(module, 1e-4, 1e-4);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->stats().reference_steps, 0);
  EXPECT_EQ(plan->stats().fused_steps, 1);
  EXPECT_EQ(plan->stats().steps, 2);
}

TEST(Fusion, AReductionMayBeginWithAnyElementOfAnArray) {
  for (const bool computed : {false, true}) {
    hlo::Module module("m");
    const hlo::ComputationId add = hlo::AddScalarReducer(module, hlo::kAdd, hlo::kF32);
    Builder b(module, "main");
    Op x = b.Parameter(0, Shape::Array(hlo::kF32, {37, 100}));
    const Op y = b.Parameter(1, Shape::Array(hlo::kF32, {4}));
    if (computed) x = b.Unary(hlo::kTanh, x);
    const Op sum = b.Reduce(x, b.Reshape(b.Slice(y, {2}, {3}, {1}), {}), {1}, add);
    ASSERT_TRUE(b.Build(x - b.Broadcast(sum, {37, 100}, {0})).ok());
    EXPECT_NE(ExpectAgreesWithEvaluator(module, 1e-4, 1e-4), nullptr) << computed;
  }
}

// Rows longer and shorter than a tile, columns likewise, and all combined.
TEST(Fusion, ReductionsOfComputedValuesAgreeInEveryDirection) {
  for (const auto& [outer, reduced, inner] : std::vector<std::array<int64_t, 3>>{{5, 7, 1},
                                                                                 {5, 2000, 1},
                                                                                 {1, 700, 1},
                                                                                 {1, 33, 9},
                                                                                 {3, 40, 1300},
                                                                                 {1, 1, 5},
                                                                                 {513, 2, 1},
                                                                                 {2, 600, 3},
                                                                                 {3, 0, 5}}) {
    for (hlo::PrimitiveType type : {hlo::kF32, hlo::kBF16, hlo::kS32, hlo::kS8, hlo::kU64, hlo::kF64}) {
      hlo::Module module("m");
      const hlo::ComputationId add = hlo::AddScalarReducer(module, hlo::kAdd, type);
      Builder b(module, "main");
      const Op x = b.Parameter(0, Shape::Array(type, {outer, reduced, inner}));
      const Op square = x * x;
      const Op sum = b.Reduce(square, b.Parameter(1, Shape::Scalar(type)), {1}, add);
      ASSERT_TRUE(b.Build(b.Tuple({sum, square})).ok()) << b.status();
      SCOPED_TRACE(absl::StrFormat("%s [%d,%d,%d]", hlo::Name(type), outer, reduced, inner));
      EXPECT_NE(
          ExpectAgreesWithEvaluator(module, type == hlo::kBF16 ? 2e-2 : 1e-5, type == hlo::kBF16 ? 1 : 1e-3),
          nullptr);
    }
  }
}

// Few outputs of many elements: the reduction itself is split, also in its own pass over several rows or
// columns, and the parts do not depend on the team.
// Small matrices are reduced several at a time; the last tile has fewer.
TEST(Fusion, ReductionsOfManySmallMatricesAgree) {
  for (const auto& [in, out, dimension] :
       {std::tuple{"[700,4,4]", "[700,4]", "1"}, std::tuple{"[77,12,12]", "[77,12]", "1"},
        std::tuple{"[300,2,3]", "[300,3]", "1"}, std::tuple{"[5,16,32]", "[5,32]", "1"},
        std::tuple{"[2000,4]", "[2000]", "1"}, std::tuple{"[90,33,7]", "[90,7]", "1"}}) {
    for (const std::string op : {"add", "maximum", "minimum"}) {
      const auto module = hlo::ParseModule(
          "f {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] " + op +
          "(a, b)\n}\nENTRY e {\n x = f32" + in + " parameter(0)\n y = f32" + out +
          " parameter(1)\n i = f32[] parameter(2)\n z = f32" + in + " broadcast(y), dimensions={0" +
          (std::string(out).find(',') == std::string::npos ? "" : ",2") + "}\n s = f32" + in +
          " multiply(x, z)\n ROOT r = f32" + out + " reduce(s, i), dimensions={" + dimension +
          "}, to_apply=f\n}\n");
      ASSERT_TRUE(module.ok()) << module.status();
      const auto plan = ExpectAgreesWithEvaluator(**module);
      ASSERT_NE(plan, nullptr) << in;
      EXPECT_EQ(plan->stats().fused_steps, 1) << in;
    }
  }
}
TEST(Fusion, LongReductionsOfComputedValuesAreSplitAndHaveTheSameBitsForEveryTeam) {
  for (const auto& [outer, reduced, inner] : std::vector<std::array<int64_t, 3>>{
           {1, 300'001, 1}, {3, 100'003, 1}, {1, 3001, 100}, {2, 257, 701}, {1, 131'073, 2}}) {
    for (hlo::PrimitiveType type : {hlo::kF32, hlo::kF64, hlo::kS32, hlo::kS8}) {
      hlo::Module module("m");
      const hlo::ComputationId add = hlo::AddScalarReducer(module, hlo::kAdd, type);
      const hlo::ComputationId max = hlo::AddScalarReducer(module, hlo::kMaximum, type);
      Builder b(module, "main");
      const Op x = b.Parameter(0, Shape::Array(type, {outer, reduced, inner}));
      const Op square = x * x, init = b.Parameter(1, Shape::Scalar(type));
      ASSERT_TRUE(b.Build(b.Tuple({b.Reduce(square, init, {1}, add), b.Reduce(square, init, {1}, max)})).ok())
          << b.status();
      SCOPED_TRACE(absl::StrFormat("%s [%d,%d,%d]", hlo::Name(type), outer, reduced, inner));
      const auto plan = ExpectAgreesWithEvaluator(module, 1e-4, 1e-3);
      ASSERT_NE(plan, nullptr);
      EXPECT_EQ(plan->stats().steps, 1) << "The squares are not stored.";
      const hlo::Literal arguments[] = {Sample(Shape::Array(type, {outer, reduced, inner}), 3),
                                        Sample(Shape::Scalar(type), 4)};
      const auto one = RunPlan(*Compile(module, {.threads = 1}).value(), arguments);
      const auto three = RunPlan(*Compile(module, {.threads = 3}).value(), arguments);
      ASSERT_TRUE(one.ok() && three.ok());
      for (size_t r = 0; r < 2; ++r)
        EXPECT_TRUE(std::ranges::equal((*one)[r].bytes(), (*three)[r].bytes())) << r;
    }
  }
}

TEST(Fusion, ViewsReadSlicesReversesReshapesAndIotasInPlace) {
  hlo::Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {12, 10}));
  const Op slice = b.Slice(x, {1, 2}, {11, 10}, {2, 1});                                 // [5,8]
  const Op reversed = b.Add(hlo::kReverse, {slice}, hlo::DimensionsAttributes{{0, 1}});  // [5,8]
  const Op flat = b.Reshape(reversed, {40});
  const Op row = b.Reshape(b.Slice(x, {0, 0}, {1, 8}), {8});
  const Op spread = b.Reshape(b.Broadcast(row, {5, 8}, {1}), {40});
  const Op iota = b.Convert(b.Reshape(b.Iota(Shape::Array(hlo::kS32, {5, 8}), 1), {40}), hlo::kF32);
  const Op sum = b.Unary(hlo::kNegate, flat) + spread * iota;
  ASSERT_TRUE(b.Build(sum).ok()) << b.status();
  auto plan = ExpectAgreesWithEvaluator(module);
  ASSERT_NE(plan, nullptr);
}

// ---------------------------------------------------------------------------------------------- random
// programs

// Compares an elementwise program of one or two shapes, with broadcasts and reductions between them, with the
// evaluator.
void RandomProgram(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % n); };
  static constexpr hlo::PrimitiveType kTypes[] = {hlo::kF32, hlo::kS32, hlo::kBF16,
                                                  hlo::kU8,  hlo::kF64, hlo::kS16};
  const hlo::PrimitiveType type = kTypes[pick(std::size(kTypes))];
  const int64_t rows = 1 + pick(40), columns = 1 + pick(70);
  hlo::Module module("random");
  const hlo::ComputationId reducer = hlo::AddScalarReducer(module, hlo::kMaximum, type);
  Builder b(module, "main");
  std::vector<Op> full = {b.Parameter(0, Shape::Array(type, {rows, columns})),
                          b.Parameter(1, Shape::Array(type, {rows, columns}))};
  std::vector<Op> thin = {b.Parameter(2, Shape::Array(type, {columns}))};
  static constexpr hlo::Opcode kBinary[] = {hlo::kAdd, hlo::kSubtract, hlo::kMultiply, hlo::kMaximum,
                                            hlo::kMinimum};
  for (int i = 0; i < 25; ++i) {
    const Op x = full[pick(static_cast<int>(full.size()))], y = full[pick(static_cast<int>(full.size()))];
    const Op t = thin[pick(static_cast<int>(thin.size()))];
    switch (pick(6)) {
      case 0: full.push_back(b.Select(b.Compare(x, y, hlo::ComparisonDirection::kLt), x, y)); break;
      case 1: full.push_back(b.Binary(kBinary[pick(5)], x, b.Broadcast(t, {rows, columns}, {1}))); break;
      case 2: thin.push_back(b.Reduce(x, b.Reshape(b.Slice(t, {0}, {1}), {}), {0}, reducer)); break;
      case 3: thin.push_back(b.Binary(kBinary[pick(5)], t, thin[pick(static_cast<int>(thin.size()))])); break;
      case 4: full.push_back(b.Unary(hlo::kAbs, x)); break;
      default: full.push_back(b.Binary(kBinary[pick(5)], x, y)); break;
    }
    // Values must stay bounded: products of products would overflow to NaN, and differ by rounding
    // everywhere.
    if (hlo::IsFloat(type)) {
      const Op one = b.Convert(b.Constant(1.0f), type), minus = b.Convert(b.Constant(-1.0f), type);
      full.back() = b.Clamp(minus, full.back(), one);
    }
  }
  ASSERT_TRUE(b.Build(b.Tuple({full.back(), thin.back(), full[full.size() / 2]})).ok()) << b.status();
  SCOPED_TRACE(absl::StrFormat("seed %d, %s[%d,%d]", seed, hlo::Name(type), rows, columns));
  EXPECT_NE(ExpectAgreesWithEvaluator(module, type == hlo::kBF16 ? 2e-2 : 1e-5,
                                      type == hlo::kBF16 ? 2e-2 : 1e-5, seed),
            nullptr);
}

TEST(Fusion, RandomProgramsAgreeWithTheEvaluator) {
  for (uint32_t seed = 0; seed < 60 && !HasFailure(); ++seed) RandomProgram(seed);
}

// ---------------------------------------------------------------------------------------------- scalar
// functions

TEST(ScalarFunction, RunsAComparatorOnManyPairsAndMayWriteOverItsParameters) {
  hlo::Module module("m");
  Builder b(module, "max_and_sum");
  const Op x = b.Parameter(0, Shape::Scalar(hlo::kF32)), y = b.Parameter(1, Shape::Scalar(hlo::kF32));
  ASSERT_TRUE(b.Build(b.Tuple({b.Binary(hlo::kMaximum, x, y), x + y})).ok());
  auto function = MakeScalarFunction(module, b.id());
  ASSERT_NE(function, nullptr);
  ASSERT_EQ(function->parameter_count(), 2);
  ASSERT_EQ(function->result_count(), 2);
  std::vector<float> p(1000), q(1000);
  for (int i = 0; i < 1000; ++i) {
    p[i] = static_cast<float>(i);
    q[i] = 500.5f;
  }
  const std::byte* in[] = {reinterpret_cast<std::byte*>(p.data()), reinterpret_cast<std::byte*>(q.data())};
  std::byte* out[] = {reinterpret_cast<std::byte*>(p.data()), reinterpret_cast<std::byte*>(q.data())};
  function->Run(in, out, 1000);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(p[i], std::max(static_cast<float>(i), 500.5f));
    EXPECT_EQ(q[i], static_cast<float>(i) + 500.5f);
  }
}

TEST(ScalarFunction, SwappedParametersAreReadBeforeTheyAreWritten) {
  hlo::Module module("m");
  Builder b(module, "swap");
  const Op x = b.Parameter(0, Shape::Scalar(hlo::kS32)), y = b.Parameter(1, Shape::Scalar(hlo::kS32));
  ASSERT_TRUE(b.Build(b.Tuple({y, x})).ok());
  auto function = MakeScalarFunction(module, b.id());
  ASSERT_NE(function, nullptr);
  int32_t p[] = {1, 2, 3}, q[] = {4, 5, 6};
  const std::byte* in[] = {reinterpret_cast<std::byte*>(p), reinterpret_cast<std::byte*>(q)};
  std::byte* out[] = {reinterpret_cast<std::byte*>(p), reinterpret_cast<std::byte*>(q)};
  function->Run(in, out, 3);
  EXPECT_THAT(p, testing::ElementsAre(4, 5, 6));
  EXPECT_THAT(q, testing::ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace hlod::engine

// Types that C++ does not have, in the engine: small floats compared with their conversions in common/hlo,
// conversions that must round once, and complex functions at the limits of their formulas.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/hlo/literal.h"
#include "common/hlo/text/text.h"
#include "server/engine/run/small_floats.h"
#include "server/engine/tile/ops/ops.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

template <typename F>
void ForEachSmallFloat(F f) {
  for (int number = 1; number < 64; ++number) {
    const std::optional<hlo::PrimitiveType> type = hlo::PrimitiveTypeFromNumber(number);
    if (!type) continue;
    hlo::VisitType(*type, [&]<typename T>() {
      if constexpr (hlo::kIsSmallFloat<T>) f.template operator()<T>(*type);
    });
  }
}

template <typename T>
std::vector<T> AllOf() {
  std::vector<T> all;
  constexpr int kSign = T::kFloatFlavor == hlo::FloatFlavor::kPowerOfTwo ? 0 : 1;
  for (uint32_t bits = 0; bits < 1u << (T::kExponentBits + T::kMantissaBits + kSign); ++bits)
    all.push_back(T::FromBits(static_cast<typename T::Storage>(bits)));
  return all;
}

// Returns each value of the type, the number halfway to the next, the neighbours of both in f32, and samples
// of all f32.
template <typename T>
std::vector<float> Interesting() {
  std::vector<float> values;
  const auto with_neighbours = [&](float value) {
    for (int step = -1; step <= 1; ++step)
      values.push_back(std::bit_cast<float>(std::bit_cast<uint32_t>(value) + step));
  };
  const std::vector<T> all = AllOf<T>();
  for (size_t i = 0; i < all.size(); ++i) {
    with_neighbours(all[i]);
    if (i + 1 < all.size())
      with_neighbours(static_cast<float>(all[i]) / 2 + static_cast<float>(all[i + 1]) / 2);
  }
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65'537)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return values;
}

// Returns true when the bits are equal, or both are NaN.
template <typename T>
bool Same(T a, T b) {
  const auto x = static_cast<float>(a), y = static_cast<float>(b);
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (std::isnan(x) && std::isnan(y));
}

TEST(SmallFloats, AreWidenedAndRoundedAsTheirTypesSay) {
  ForEachSmallFloat([]<typename T>(hlo::PrimitiveType type) {
    for (const T value : AllOf<T>()) {
      const float want = value, got = WidenSmall(value);
      ASSERT_TRUE(Same(got, want)) << hlo::Name(type) << " " << static_cast<int>(value.bits()) << ": " << got;
    }
    for (const float value : Interesting<T>()) {
      const T want(value), got = RoundToSmall<T>(value);
      ASSERT_TRUE(Same(got, want)) << hlo::Name(type) << " of " << std::hexfloat << value << ": " << want
                                   << ", not " << got;
    }
  });
}

TEST(SmallFloats, TilesHaveThemOnEveryInstructionSet) {
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  ForEachSmallFloat([&]<typename T>(hlo::PrimitiveType type) {
    const std::vector<float> values = Interesting<T>();
    for (int set = 0; set < count; ++set) {
      // The lengths are not multiples of a vector's length.
      for (size_t start = 0; start < values.size(); start += 61) {
        const int n = static_cast<int>(std::min<size_t>(61, values.size() - start));
        T stored[61];
        float loaded[61], narrowed[61];
        sets[set]->store(type)(stored, values.data() + start, nullptr, nullptr, n, 0);
        sets[set]->load(type)(loaded, stored, nullptr, nullptr, n, 0);
        sets[set]->narrow(type)(narrowed, values.data() + start, nullptr, nullptr, n, 0);
        for (int i = 0; i < n; ++i) {
          const T want(values[start + i]);
          ASSERT_TRUE(Same(stored[i], want) && Same(loaded[i], static_cast<float>(want)) &&
                      Same(narrowed[i], static_cast<float>(want)))
              << sets[set]->name << " " << hlo::Name(type) << " of " << std::hexfloat << values[start + i];
        }
      }
    }
  });
}

// Operations on the bits agree with operations on the numbers, for each value of each type.
TEST(SmallFloats, BitsAloneSayAsMuchAsNumbers) {
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  ForEachSmallFloat([&]<typename T>(hlo::PrimitiveType type) {
    const std::vector<T> all = AllOf<T>();
    const int n = static_cast<int>(all.size());
    for (int set = 0; set < count; ++set) {
      const auto run = [&](hlo::Opcode opcode, hlo::PrimitiveType to, void* out) {
        sets[set]->on_bits(opcode, type, to)(out, all.data(), nullptr, nullptr, n, 0);
      };
      std::vector<T> magnitude(n), negated(n);
      std::vector<uint8_t> finite(n), nonzero(n);
      run(hlo::kAbs, type, magnitude.data());
      run(hlo::kNegate, type, negated.data());
      run(hlo::kIsFinite, hlo::kPred, finite.data());
      run(hlo::kConvert, hlo::kPred, nonzero.data());
      for (int i = 0; i < n; ++i) {
        const float value = all[i];
        ASSERT_TRUE(Same(magnitude[i], T(std::fabs(value))) && Same(negated[i], T(-value)) &&
                    finite[i] == (std::isfinite(value) ? 1 : 0) && nonzero[i] == (value != 0 ? 1 : 0))
            << sets[set]->name << " " << hlo::Name(type) << " " << value;
      }
    }
  });
}
TEST(SmallFloats, F8E5M2IsTheUpperHalfOfF16) {
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  const std::vector<hlo::F16> halves = AllOf<hlo::F16>();
  const std::vector<hlo::F8E5M2> bytes = AllOf<hlo::F8E5M2>();
  for (int set = 0; set < count; ++set) {
    std::vector<hlo::F8E5M2> rounded(halves.size());
    std::vector<hlo::F16> widened(bytes.size());
    sets[set]->on_bits(hlo::kConvert, hlo::kF16, hlo::kF8E5M2)(rounded.data(), halves.data(), nullptr,
                                                               nullptr, static_cast<int>(halves.size()), 0);
    sets[set]->on_bits(hlo::kConvert, hlo::kF8E5M2, hlo::kF16)(widened.data(), bytes.data(), nullptr, nullptr,
                                                               static_cast<int>(bytes.size()), 0);
    for (size_t i = 0; i < halves.size(); ++i)
      ASSERT_TRUE(Same(rounded[i], hlo::F8E5M2(static_cast<float>(halves[i])))) << halves[i];
    for (size_t i = 0; i < bytes.size(); ++i)
      ASSERT_TRUE(Same(widened[i], hlo::F16(static_cast<float>(bytes[i])))) << bytes[i];
  }
}

// Returns the only result of a module without arguments.
hlo::Literal ResultOf(const std::string& text) {
  const auto module = hlo::ParseModule(text);
  if (!module.ok()) throw std::runtime_error(module.status().ToString());
  const auto plan = Compile(**module);
  if (!plan.ok()) throw std::runtime_error(plan.status().ToString());
  const auto results = RunPlan(**plan, {});
  if (!results.ok()) throw std::runtime_error(results.status().ToString());
  return results->front();
}

// If each number were rounded to f32 first, it would become a tie, and then go to the even neighbour below.
TEST(SmallFloats, WideTypesRoundOnce) {
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    const double f64[] = {1 + 0x1p-11 + 0x1p-40,
                          -(1 + 0x1p-11 + 0x1p-40),
                          1 + 0x1p-11,
                          0x1p-25,
                          0x1p-25 + 0x1p-70,
                          65519.999999999,
                          65520,
                          1e300,
                          1e-300,
                          -INFINITY,
                          NAN};
    const float f16[] = {1 + 0x1p-10, -(1 + 0x1p-10), 1, 0,         0x1p-24, 65504,
                         INFINITY,    INFINITY,       0, -INFINITY, NAN};
    float odd[11];
    hlo::F16 got[11];
    sets[set]->odd(Carrier::kF64)(odd, f64, nullptr, nullptr, 11, 0);
    sets[set]->store(hlo::kF16)(got, odd, nullptr, nullptr, 11, 0);
    for (int i = 0; i < 11; ++i)
      EXPECT_TRUE(Same(got[i], hlo::F16(f16[i]))) << sets[set]->name << " " << f64[i];

    constexpr int64_t kBig = int64_t{1} << 40, kHalf = int64_t{1} << 32;
    const int64_t s64[] = {
        kBig + kHalf + 1, kBig + kHalf, kBig + 3 * kHalf, -kBig - kHalf - 1, INT64_MAX, INT64_MIN, -1};
    const double bf16[] = {0x1p40 + 0x1p33, 0x1p40, 0x1p40 + 0x1p34, -0x1p40 - 0x1p33, 0x1p63, -0x1p63, -1};
    hlo::BF16 rounded[7];
    sets[set]->odd(Carrier::kI64)(odd, s64, nullptr, nullptr, 7, 0);
    sets[set]->store(hlo::kBF16)(rounded, odd, nullptr, nullptr, 7, 0);
    for (int i = 0; i < 7; ++i)
      EXPECT_EQ(static_cast<float>(rounded[i]), bf16[i]) << sets[set]->name << " " << s64[i];
    const uint64_t u64[] = {UINT64_MAX, (uint64_t{1} << 63) + (uint64_t{1} << 55) + 1};
    sets[set]->odd(Carrier::kU64)(odd, u64, nullptr, nullptr, 2, 0);
    sets[set]->store(hlo::kBF16)(rounded, odd, nullptr, nullptr, 2, 0);
    EXPECT_EQ(static_cast<float>(rounded[0]), 0x1p64f);
    EXPECT_EQ(static_cast<float>(rounded[1]), 0x1p63f + 0x1p56f);
  }
}

// 2048 + 1 is a tie, and 2048 is the even neighbour: adding 1 twice is still 2048, where a sum in f32 would
// be 2050. The value in the middle is both used and a result.
TEST(SmallFloats, EachOperationIsRounded) {
  const hlo::Literal twice = ResultOf(R"(HloModule m
ENTRY e {
  a = f16[3] constant({2048, 2050, 65504})
  b = f16[3] constant({1, 1, 16})
  s = f16[3] add(a, b)
  t = f16[3] add(s, b)
  u = f16[3] subtract(t, s)
  ROOT r = f16[3] add(u, s)
})");
  EXPECT_EQ(static_cast<float>(twice.data<hlo::F16>()[0]), 2048.0f);
  EXPECT_EQ(static_cast<float>(twice.data<hlo::F16>()[1]), 2052.0f);
  // The difference of infinities is NaN.
  EXPECT_TRUE(std::isnan(static_cast<float>(twice.data<hlo::F16>()[2])));

  for (const std::string type : {"f16", "bf16", "f8e4m3fn", "f8e5m2", "s8", "u4"}) {
    const bool is_float = type[0] == 'f' || type[0] == 'b';
    const auto module = hlo::ParseModule(
        "HloModule m\nENTRY e {\n a = " + type + "[700] parameter(0)\n b = " + type +
        "[700] parameter(1)\n s = " + type + "[700] multiply(a, b)\n w = " + (is_float ? "f32" : "s32") +
        "[700] convert(s)\n t = " + type + "[700] add(s, b)\n ROOT r = (" + type + "[700], " +
        (is_float ? "f32" : "s32") + "[700], " + type + "[700]) tuple(s, w, t)\n}\n");
    ASSERT_TRUE(module.ok()) << module.status();
    const auto plan = ExpectAgreesWithEvaluator(**module, 0, 0);
    ASSERT_NE(plan, nullptr) << type;
    EXPECT_EQ(plan->stats().steps, 1) << type;
  }
}

// 1 + 1 is -2 in two bits, also as a number of four.
TEST(SmallIntegers, AreWrappedBeforeTheyAreWidened) {
  const hlo::Literal wide = ResultOf(R"(HloModule m
ENTRY e {
  a = s2[2] constant({1, -2})
  s = s2[2] add(a, a)
  w = s4[2] convert(s)
  ROOT r = s32[2] convert(w)
})");
  EXPECT_EQ(wide, hlo::Literal::Vector<int32_t>({-2, 0}));
  for (const std::string from : {"s2", "u2", "s4", "u4", "s8", "u8", "s16"}) {
    for (const std::string to : {"s2", "u2", "s4", "u4", "s8", "u8", "s16", "u16"}) {
      const auto module =
          hlo::ParseModule("HloModule m\nENTRY e {\n a = " + from + "[700] parameter(0)\n s = " + from +
                           "[700] add(a, a)\n ROOT w = " + to + "[700] convert(s)\n}\n");
      ASSERT_TRUE(module.ok()) << module.status();
      EXPECT_NE(ExpectAgreesWithEvaluator(**module, 0, 0), nullptr) << from << " to " << to;
    }
  }
}

// ---------------------------------------------------------------------------------------------- complex
// numbers

using Wide = std::complex<double>;
struct ComplexFunction {
  hlo::Opcode opcode;
  Wide (*reference)(Wide);
};
const ComplexFunction kComplexFunctions[] = {
    {hlo::kExponential, [](Wide z) { return std::exp(z); }},
    {hlo::kLog, [](Wide z) { return std::log(z); }},
    {hlo::kSqrt, [](Wide z) { return std::sqrt(z); }},
    {hlo::kRsqrt, [](Wide z) { return 1.0 / std::sqrt(z); }},
    {hlo::kSine, [](Wide z) { return std::sin(z); }},
    {hlo::kCosine, [](Wide z) { return std::cos(z); }},
    {hlo::kTan, [](Wide z) { return std::tan(z); }},
    {hlo::kTanh, [](Wide z) { return std::tanh(z); }},
    {hlo::kSinh, [](Wide z) { return std::sinh(z); }},
    {hlo::kCosh, [](Wide z) { return std::cosh(z); }},
    {hlo::kLogistic, [](Wide z) { return 1.0 / (1.0 + std::exp(-z)); }},
};

// Results w of functions of c64 are within a few units in the last place of |w|, no matter which part has the
// error. A result that is not finite in the double precision reference, or too large for f32, is not finite
// here.
TEST(ComplexTiles, FunctionsHoldOverTheWholePlane) {
  const float parts[] = {0,     -0.0f,      1e-30f, -1e-30f, 1e-8f,    1e-3f,     0.5f,
                         -0.5f, 0.9999999f, 1,      -1,      1.5708f,  2,         -3.14159f,
                         10,    -37,        79,     -81,     95,       1e4f,      -9e6f,
                         1e18f, -1e19f,     3e38f,  -3e38f,  INFINITY, -INFINITY, NAN};
  std::vector<std::complex<float>> x;
  for (const float re : parts) {
    for (const float im : parts) x.emplace_back(re, im);
  }
  for (int i = 0; i < 4000; ++i)  // Also points near the unit circle, where a logarithm nearly vanishes.
    x.push_back(
        std::polar(i % 2 == 0 ? 1.0f + 1e-4f * static_cast<float>(i % 7 - 3) : 0.002f * static_cast<float>(i),
                   0.0031f * static_cast<float>(i)));
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    for (const ComplexFunction& function : kComplexFunctions) {
      const TileFunction f = sets[set]->elementwise(function.opcode, Carrier::kC64);
      for (size_t start = 0; start < x.size(); start += kTile) {
        const int n = static_cast<int>(std::min<size_t>(kTile, x.size() - start));
        std::complex<float> y[kTile];
        std::copy_n(x.data() + start, n, y);
        f(y, y, nullptr, nullptr, n, 0);  // In place, as programs do.
        for (int i = 0; i < n; ++i) {
          const Wide z(x[start + i]), want = function.reference(z);
          const std::complex<float> single(want);
          const bool finite = std::isfinite(single.real()) && std::isfinite(single.imag());
          const bool right = finite ? std::abs(Wide(y[i]) - want) <= 2e-6 * std::abs(want) + 1e-37
                                    : !std::isfinite(y[i].real()) || !std::isfinite(y[i].imag());
          EXPECT_TRUE(right) << sets[set]->name << " " << hlo::Name(function.opcode) << z << " = " << y[i]
                             << ", not " << want;
        }
      }
    }
  }
}

TEST(ComplexTiles, DivisionAndMagnitudeDoNotOverflowOnTheWay) {
  const TileOps* sets[kTileSetsMax];
  const int count = AvailableTileOps(sets);
  for (int set = 0; set < count; ++set) {
    const Wide a[] = {{1e200, 1e200}, {3e-300, 4e-300}, {1, 2}, {INFINITY, 1}, {1, 1}, {0, 0}};
    const Wide b[] = {{1e200, 0}, {1e-300, 0}, {3, -4}, {1, 1}, {0, 0}, {5, 5}};
    Wide quotient[6];
    sets[set]->elementwise(hlo::kDivide, Carrier::kC128)(quotient, a, b, nullptr, 6, 0);
    EXPECT_EQ(quotient[0], Wide(1, 1));
    EXPECT_NEAR(std::abs(quotient[1] - Wide(3, 4)), 0, 1e-14);
    EXPECT_NEAR(std::abs(quotient[2] - Wide(-0.2, 0.4)), 0, 1e-15);
    EXPECT_TRUE(std::isinf(quotient[3].real()));
    EXPECT_FALSE(std::isfinite(quotient[4].real()));
    EXPECT_EQ(quotient[5], Wide(0, 0));
    double magnitude[4];
    sets[set]->elementwise(hlo::kAbs, Carrier::kC128)(magnitude, a, nullptr, nullptr, 4, 0);
    EXPECT_DOUBLE_EQ(magnitude[0], 1e200 * std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(magnitude[1], 5e-300);
    EXPECT_EQ(magnitude[3], INFINITY);
    const std::complex<float> c[] = {{3e38f, 0}, {0, -3e38f}, {3e-30f, 4e-30f}, {-INFINITY, NAN}};
    float single[4];
    sets[set]->elementwise(hlo::kAbs, Carrier::kC64)(single, c, nullptr, nullptr, 4, 0);
    EXPECT_EQ(single[0], 3e38f);
    EXPECT_EQ(single[1], 3e38f);
    EXPECT_FLOAT_EQ(single[2], 5e-30f);
    EXPECT_EQ(single[3], INFINITY);
  }
}

TEST(ComplexTiles, AProgramOfThemIsOneStep) {
  for (const std::string type : {"c64", "c128"}) {
    const std::string real = type == "c64" ? "f32" : "f64";
    const auto module =
        hlo::ParseModule("HloModule m\nENTRY e {\n a = " + type + "[700] parameter(0)\n b = " + type +
                         "[700] parameter(1)\n p = pred[700] compare(a, b), direction=NE\n m = " + type +
                         "[700] multiply(a, b)\n s = " + type + "[700] select(p, m, b)\n x = " + real +
                         "[700] real(s)\n y = " + real + "[700] abs(s)\n z = " + type +
                         "[700] complex(x, y)\n h = f16[700] convert(z)\n ROOT r = (" + type +
                         "[700], f16[700]) tuple(z, h)\n}\n");
    ASSERT_TRUE(module.ok()) << module.status();
    const auto plan = ExpectAgreesWithEvaluator(**module, 1e-3, 1e-4);
    ASSERT_NE(plan, nullptr) << type;
    EXPECT_EQ(plan->stats().steps, 1) << plan->Dump();
  }
}

}  // namespace
}  // namespace hlod::engine

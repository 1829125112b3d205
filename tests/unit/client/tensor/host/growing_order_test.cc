// Running sums and orders of views that grow, and views of the end of a cache, compile for a bounded set of
// lengths. Expected values are from loops in this file.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

// One program for the first step; for each of the paddings 64 and 128 two for the next lengths; one per bound
// 32, 64 and 128; and one for the length 64, which needs no padding.
constexpr int64_t kPaddedMax = 9;

class GrowingOrder : public TensorTest {
 protected:
  static constexpr int64_t kLength = 128, kSteps = 100;
  // Numbers that are neither in order nor of one sign; some are equal.
  static float Entry(int64_t i) { return static_cast<float>(i * 37 % 101 % 23) - 9; }
  static std::vector<float> Entries(int64_t begin, int64_t end) {
    std::vector<float> entries;
    for (int64_t i = begin; i < end; ++i) entries.push_back(Entry(i));
    return entries;
  }
  Tensor Cache() { return OnDevice(Entries(0, kLength), {kLength}); }

  // Calls `call` with views of the first 1, 2, ... elements, and compares the sum of each result.
  void ExpectSums(const std::function<Tensor(const Tensor&)>& call,
                  const std::function<double(std::vector<float>)>& expected, int64_t compiles,
                  int64_t first = 1) {
    const Tensor cache = Cache();
    for (int64_t length = first; length <= kSteps; ++length) {
      // The result of the call is gone when the sum is read: otherwise it would be a result that grows.
      const auto sum = [&] { return Sum(call(cache.Slice(0, 0, length)).To(kF64)); };
      const double wanted = expected(Entries(0, length));
      EXPECT_NEAR(sum().Item<double>(), wanted, 1e-5 * (1 + std::abs(wanted))) << length;
    }
    EXPECT_LE(GetTraceStats().compiles, compiles);
  }
};

double SumOf(const std::vector<float>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::vector<float> InOrder(std::vector<float> values) {
  std::ranges::sort(values);
  return values;
}

TEST_F(GrowingOrder, RunningSums) {
  ExpectSums([](const Tensor& x) { return Cumsum(x, 0); },
             [](const std::vector<float>& x) {
               double all = 0, sum = 0;
               for (const float each : x) all += sum += each;
               return all;
             },
             kPaddedMax);
}

// Types of eight bits may have no infinity, or no NaN of either sign, that would come behind all elements.
TEST_F(GrowingOrder, SortsOfNarrowFloatsAreNotPadded) {
  for (const PrimitiveType type : {kF8E4M3FN, kF8E5M2FNUZ, kF8E5M2}) {
    const Tensor cache = OnDevice({3, -2, 0.5, -1}, {4}).To(type);
    for (const bool descending : {false, true}) {
      for (int64_t length = 1; length <= 4; ++length) {
        const std::vector<float> all = {3, -2, 0.5, -1};
        std::vector<float> expected = InOrder({all.begin(), all.begin() + length});
        if (descending) std::ranges::reverse(expected);
        EXPECT_EQ(Sort(cache.Slice(0, 0, length), 0, descending).values.To(kF32).ToVector<float>(), expected);
        EXPECT_EQ(Topk(cache.Slice(0, 0, length), 1, 0, descending).values.To(kF32).Item<float>(),
                  expected[0]);
      }
    }
  }
}

TEST_F(GrowingOrder, RunningProducts) {
  ExpectSums([](const Tensor& x) { return Cumprod(x.To(kF64) / 8, 0); },
             [](const std::vector<float>& x) {
               double all = 0, product = 1;
               for (const float each : x) all += product *= each / 8;
               return all;
             },
             kPaddedMax);
}

// The product of the last three elements overflows f32, but no running product does, and no gradient.
TEST_F(GrowingOrder, GradientsOfRunningProducts) {
  const std::vector<float> values = {0x1p-60f, 0x1p-60f, 0x1p50f, 0x1p50f, 0x1p50f, 0x1p-40f, -3, 0.5f};
  Tensor cache = OnDevice(values, {8});
  cache.RequiresGrad_();
  for (const int64_t length : {5, 3, 4, 5, 6, 7, 8, 2}) {
    Sum(Cumprod(cache.Slice(0, 0, length), 0)).Backward();
    const std::vector<float> gradient = cache.Grad().ToVector<float>();
    for (int64_t i = 0; i < 8; ++i) {
      double expected = 0, without = 1;  // The sum of the running products from i on, without the factor i.
      for (int64_t k = 0; k < length; ++k) {
        if (k != i) without *= values[k];
        if (k >= i) expected += without;
      }
      if (i >= length) expected = 0;
      EXPECT_NEAR(gradient[i], expected, 1e-6 * std::abs(expected)) << i << " of " << length;
    }
    cache.ZeroGrad();
  }
  EXPECT_LE(GetTraceStats().compiles, kPaddedMax - 4);
}

TEST_F(GrowingOrder, RunningLogarithmsOfSums) {
  ExpectSums([](const Tensor& x) { return Logcumsumexp(x.To(kF64), 0); },
             [](const std::vector<float>& x) {
               double all = 0, sum = 0;
               for (const float each : x) all += std::log(sum += std::exp(static_cast<double>(each)));
               return all;
             },
             kPaddedMax);
}

TEST_F(GrowingOrder, RunningMaxima) {
  ExpectSums([](const Tensor& x) { return Cummax(x, 0).values; },
             [](const std::vector<float>& x) {
               double all = 0;
               float most = x[0];
               for (const float each : x) all += most = std::max(most, each);
               return all;
             },
             kPaddedMax);
}

// The gradient of the sum of running sums counts the sums that an element is part of.
TEST_F(GrowingOrder, GradientsOfRunningSums) {
  Tensor cache = Cache();
  cache.RequiresGrad_();
  for (int64_t length = 1; length <= kSteps; ++length) {
    Sum(Cumsum(cache.Slice(0, 0, length), 0)).Backward();
    std::vector<float> expected(kLength);
    for (int64_t i = 0; i < length; ++i) expected[i] = static_cast<float>(length - i);
    EXPECT_EQ(cache.Grad().ToVector<float>(), expected) << length;
    cache.ZeroGrad();
  }
  EXPECT_LE(GetTraceStats().compiles, kPaddedMax);
}

double SumOfFirst(std::vector<float> values, bool largest) {
  std::ranges::sort(values);
  if (largest) std::ranges::reverse(values);
  return SumOf({values.begin(), values.begin() + 3});
}

TEST_F(GrowingOrder, TheLargestThree) {
  ExpectSums([](const Tensor& x) { return Topk(x, 3).values; },
             [](const std::vector<float>& x) { return SumOfFirst(x, true); }, kPaddedMax, 3);
}

TEST_F(GrowingOrder, TheSmallestThreeOfPositiveNumbers) {
  ExpectSums([](const Tensor& x) { return Topk(x + 10, 3, -1, false).values; },
             [](const std::vector<float>& x) { return SumOfFirst(x, false) + 30; }, kPaddedMax, 3);
}

TEST_F(GrowingOrder, TheSmallestThreeIntegers) {
  ExpectSums([](const Tensor& x) { return Topk(x.To(kS32) + 10, 3, -1, false).values; },
             [](const std::vector<float>& x) { return SumOfFirst(x, false) + 30; }, kPaddedMax, 3);
}

// NaN is the largest; none of them is a padding's.
TEST_F(GrowingOrder, TheSmallestThreeBesideNan) {
  const Tensor cache = Where(Lt(Cache(), -5), NAN, Cache());
  for (int64_t length = 10; length <= kSteps; ++length) {
    std::vector<float> numbers;
    for (const float each : Entries(0, length)) {
      if (each >= -5) numbers.push_back(each);
    }
    const auto smallest = [&] { return Sum(Topk(cache.Slice(0, 0, length), 3, -1, false).values); };
    EXPECT_EQ(smallest().Item<float>(), SumOfFirst(numbers, false)) << length;
  }
  EXPECT_LE(GetTraceStats().compiles, kPaddedMax + 1);
}

TEST_F(GrowingOrder, Medians) {
  ExpectSums([](const Tensor& x) { return Median(x, 0).values; },
             [](std::vector<float> x) { return InOrder(x)[(x.size() - 1) / 2]; }, 2 * kPaddedMax);
}

TEST_F(GrowingOrder, MediansOfAll) {
  ExpectSums([](const Tensor& x) { return Median(x); },
             [](std::vector<float> x) { return InOrder(x)[(x.size() - 1) / 2]; }, 2 * kPaddedMax);
}

TEST_F(GrowingOrder, TheKthValue) {
  ExpectSums([](const Tensor& x) { return Kthvalue(x, 5, 0).values; },
             [](std::vector<float> x) { return InOrder(x)[4]; }, kPaddedMax, 5);
}

double Weighted(const std::vector<float>& values) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += static_cast<double>(i) * values[i];
  return sum;
}

TEST_F(GrowingOrder, SortsAscending) {
  ExpectSums(
      [](const Tensor& x) { return Sort(x, 0).values * Arange(0, x.numel(), 1, {.device = x.device()}); },
      [](std::vector<float> x) { return Weighted(InOrder(x)); }, kPaddedMax);
}

TEST_F(GrowingOrder, SortsDescending) {
  ExpectSums(
      [](const Tensor& x) {
        return Sort(x, 0, true).values * Arange(0, x.numel(), 1, {.device = x.device()});
      },
      [](std::vector<float> x) {
        x = InOrder(x);
        std::ranges::reverse(x);
        return Weighted(x);
      },
      kPaddedMax);
}

TEST_F(GrowingOrder, PlacesInOrder) {
  ExpectSums([](const Tensor& x) { return Argsort(x, 0) * Arange(0, x.numel(), 1, {.device = x.device()}); },
             [](const std::vector<float>& x) {
               std::vector<size_t> places(x.size());
               std::iota(places.begin(), places.end(), 0);
               std::ranges::stable_sort(places, [&](size_t a, size_t b) { return x[a] < x[b]; });
               return Weighted({places.begin(), places.end()});
             },
             kPaddedMax);
}

// The smallest of the elements that are most frequent.
TEST_F(GrowingOrder, Modes) {
  ExpectSums([](const Tensor& x) { return Mode(x, 0).values; },
             [](std::vector<float> x) {
               x = InOrder(x);
               const auto count = [&](float each) { return std::ranges::count(x, each); };
               return *std::ranges::max_element(x, {}, count);
             },
             2 * kPaddedMax);
}

TEST_F(GrowingOrder, DifferencesOfNeighbours) {
  ExpectSums([](const Tensor& x) { return Abs(Diff(x)); },
             [](const std::vector<float>& x) {
               double sum = 0;
               for (size_t i = 1; i < x.size(); ++i) sum += std::abs(x[i] - x[i - 1]);
               return sum;
             },
             kPaddedMax, 2);
}

// The end of a cache shrinks as its beginning grows: one program for each bound below 128, 64 and 32, after
// one whose start is a constant and two of their own sizes.
TEST_F(GrowingOrder, TheRestOfACache) {
  const Tensor cache = Cache();
  for (int64_t place = 1; place <= kSteps; ++place) {
    const std::vector<float> rest = Entries(place, kLength);
    const auto sums = [&] { return Sum(cache.Slice(0, place)) + Amax(cache.Slice(0, place)); };
    EXPECT_EQ(sums().Item<float>(), SumOf(rest) + *std::ranges::max_element(rest)) << place;
  }
  EXPECT_LE(GetTraceStats().compiles, 7);
}

TEST_F(GrowingOrder, GradientsOfTheRestOfACache) {
  Tensor cache = Cache();
  cache.RequiresGrad_();
  for (int64_t place = 1; place <= kSteps; ++place) {
    const Tensor rest = cache.Slice(0, place);
    Sum(rest * rest).Backward();
    std::vector<float> expected(kLength);
    for (int64_t i = place; i < kLength; ++i) expected[i] = 2 * Entry(i);
    EXPECT_EQ(cache.Grad().ToVector<float>(), expected) << place;
    cache.ZeroGrad();
  }
  EXPECT_LE(GetTraceStats().compiles, 7);
}

// The window over the last 16 elements grows until it slides.
TEST_F(GrowingOrder, AWindowOverTheLastElements) {
  const Tensor cache = Cache();
  for (int64_t length = 1; length <= kSteps; ++length) {
    const int64_t begin = std::max<int64_t>(0, length - 16);
    const auto sum = [&] { return Sum(cache.Slice(0, begin, length)); };
    EXPECT_EQ(sum().Item<float>(), SumOf(Entries(begin, length))) << length;
  }
  EXPECT_LE(GetTraceStats().compiles, 5);
}

}  // namespace
}  // namespace hlod

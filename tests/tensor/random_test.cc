// Random tensors: their distributions, and that the seed decides.
#include "tests/tensor/fixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hlod {
namespace {

constexpr int64_t kCount = 20000;
constexpr double kSigmas = 5;  // The seed is fixed: what passes once passes always.

class Random : public TensorTest {
 protected:
  void SetUp() override {
    TensorTest::SetUp();
    ManualSeed(5);
  }
  static void ForEachPlace(const Device& device, const std::function<void(const Device&)>& body) {
    for (const Device& at : {Device(), device}) {
      SCOPED_TRACE(at.ToString());
      body(at);
    }
  }
  // Mean and variance are near those of the distribution; `fourth` is its fourth central moment.
  static void ExpectMoments(const Tensor& x, double mean, double variance, double fourth) {
    const std::vector<double> values = x.To(kF64).ToVector<double>();
    const double n = static_cast<double>(values.size());
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    EXPECT_NEAR(sum / n, mean, kSigmas * std::sqrt(variance / n));
    EXPECT_NEAR(squares / n, variance, kSigmas * std::sqrt((fourth - variance * variance) / n));
  }
  // How often each of 0, 1, ... occurs, against probabilities.
  static void ExpectFrequencies(const std::vector<int64_t>& values, const std::vector<double>& expected) {
    std::vector<double> counts(expected.size());
    for (const int64_t value : values) {
      ASSERT_TRUE(value >= 0 && value < static_cast<int64_t>(expected.size())) << value;
      ++counts[value];
    }
    const auto n = static_cast<double>(values.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const double p = expected[i];
      EXPECT_NEAR(counts[i] / n, p, kSigmas * std::sqrt(p * (1 - p) / n)) << i;
    }
  }
};

TEST_F(Random, NumbersHaveTheirDistributions) {
  ForEachPlace(device(), [](const Device& at) {
    const TensorOptions floats = {kF32, at}, integers = {kS64, at};
    ExpectMoments(Rand({kCount}, floats), 0.5, 1.0 / 12, 1.0 / 80);
    ExpectMoments(Randn({kCount}, floats), 0, 1, 3);
    ExpectMoments(Uniform({kCount}, -1, 3, floats), 1, 16.0 / 12, 256.0 / 80);
    ExpectMoments(Normal(2, 0.5, {kCount}, floats), 2, 0.25, 3 * 0.0625);
    ExpectMoments(Bernoulli(Full({kCount}, 0.3, floats)), 0.3, 0.21,
                  0.3 * std::pow(0.7, 4) + 0.7 * std::pow(0.3, 4));
    ExpectMoments(Bernoulli(Zeros({kCount}, integers), 0.5), 0.5, 0.25, 0.0625);
    ExpectFrequencies(Sub(Randint(-3, 5, {kCount}, integers), -3).ToVector<int64_t>(),
                      std::vector<double>(8, 0.125));
  });
}

TEST_F(Random, NormalTakesTensorsOfMeansAndDeviations) {
  ForEachPlace(device(), [](const Device& at) {
    const Tensor mean = FromValues<float>({-5, 10}, Dims{2, 1}, at), zero = Zeros({2, kCount}, {kF32, at});
    const Tensor x = Normal(mean, zero + 0.5);
    EXPECT_EQ(x.dims(), (Dims{2, kCount}));
    ExpectMoments(x[0], -5, 0.25, 3 * 0.0625);
    ExpectMoments(x[1], 10, 0.25, 3 * 0.0625);
    EXPECT_THAT(Normal(mean, 0.0).ToVector<float>(), ElementsAre(-5, 10));
  });
}

TEST_F(Random, APermutationHasEveryNumberOnceAndNoPlaceOfItsOwn) {
  ForEachPlace(device(), [](const Device& at) {
    std::vector<int64_t> firsts;
    for (int i = 0; i < 300; ++i) {
      std::vector<int64_t> order = Randperm(5, {kS64, at}).ToVector<int64_t>();
      firsts.push_back(order[0]);
      std::sort(order.begin(), order.end());
      EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
    }
    ExpectFrequencies(firsts, std::vector<double>(5, 0.2));
    EXPECT_EQ(Randperm(0, {kS64, at}).dims(), Dims{0});
  });
}

TEST_F(Random, MultinomialDrawsInProportionToTheWeights) {
  ForEachPlace(device(), [](const Device& at) {
    const Tensor weights = FromValues<float>({1, 0, 3, 4}, Dims{4}, at);
    ExpectFrequencies(Multinomial(weights, kCount, true).ToVector<int64_t>(), {0.125, 0, 0.375, 0.5});
    // Without replacement: the first as before, none twice, and what has no weight last.
    const int64_t rows = 4000;
    const Tensor once = Multinomial(weights.Expand({rows, 4}), 4);
    EXPECT_EQ(once.dims(), (Dims{rows, 4}));
    ExpectFrequencies(once.Select(1, 0).Contiguous().ToVector<int64_t>(), {0.125, 0, 0.375, 0.5});
    ExpectFrequencies(once.Select(1, 3).Contiguous().ToVector<int64_t>(), {0, 1, 0, 0});
    std::vector<int64_t> row = once[7].Contiguous().ToVector<int64_t>();
    std::sort(row.begin(), row.end());
    EXPECT_THAT(row, ElementsAre(0, 1, 2, 3));
  });
}

TEST_F(Random, TheSeedDecidesAndWhereSyncFallsDoesNot) {
  ForEachPlace(device(), [](const Device& at) {
    const auto draw = [&](uint64_t seed, bool sync) {
      ManualSeed(seed);
      const Tensor x = Zeros({2, 3}, {kF32, at});
      const std::vector<Tensor> drawn = {RandLike(x),
                                         RandnLike(x),
                                         RandintLike(x, 0, 1000),
                                         Randint(0, 1000, {4}, {kF32, at}),
                                         Randperm(9, {kF32, at}),
                                         Bernoulli(x + 0.5),
                                         Bernoulli(x, 0.5),
                                         Normal(x, 1.0),
                                         Normal(0, 1, {3}, {kF32, at}),
                                         Multinomial(x + 1, 2).To(kF32),
                                         Multinomial(x + 1, 5, true).To(kF32)};
      if (sync) Sync();
      std::vector<float> numbers;
      for (const Tensor& tensor : drawn) {
        for (const float value : tensor.ToVector<float>()) numbers.push_back(value);
      }
      return numbers;
    };
    const std::vector<float> numbers = draw(3, false);
    EXPECT_EQ(draw(3, true), numbers);
    EXPECT_NE(draw(4, false), numbers);
  });
}

TEST_F(Random, RefusalsNameTheValues) {
  const Tensor x = OnDevice({1, 2}, {2});
  const std::vector<std::pair<std::function<void()>, const char*>> cases = {
      {[&] { Randint(3, 3, {2}); }, "no integer is at least 3 and below 3"},
      {[&] { Normal(0, -1, {2}); }, "the standard deviation (-1) is negative"},
      {[&] { Normal(x, -2.0); }, "the standard deviation (-2) is negative"},
      {[&] { Bernoulli(x, 1.5); }, "the probability (1.5) is not between 0 and 1"},
      {[&] { Bernoulli(x.To(kS32)); }, "probabilities are of a floating type, not s32"},
      {[&] { Multinomial(x, 3); }, "3 samples cannot be drawn of 2 weights"},
      {[&] { Multinomial(x, 0); }, "the number of samples (0) must be positive"},
      {[&] { Rand({2}, {.type = kS32}); }, "random numbers of type s32 do not exist"},
      {[&] { Randperm(-1); }, "-1"},
  };
  for (const auto& [body, text] : cases) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument) << text;
    EXPECT_THAT(last_what_, HasSubstr(text));
  }
}

}  // namespace
}  // namespace hlod

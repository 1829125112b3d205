// Random tensors: their distributions, and reproducibility by the seed.
#include "tests/unit/client/tensor/fixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace hlod {
namespace {

constexpr int64_t kCount = 20000;
constexpr double kSigmas = 5;  // The seed is fixed, so the outcome is the same in every run.

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
  // Expects mean and variance near those of the distribution; `fourth` is its fourth central moment.
  static void ExpectMoments(const Tensor& x, double mean, double variance, double fourth) {
    const std::vector<double> values = x.To(kF64).ToVector<double>();
    const double n = static_cast<double>(values.size());
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    EXPECT_NEAR(sum / n, mean, kSigmas * std::sqrt(variance / n));
    EXPECT_NEAR(squares / n, variance, kSigmas * std::sqrt((fourth - variance * variance) / n));
  }
  // Compares the frequency of each of 0, 1, ... with its probability.
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

TEST_F(Random, SamplersHaveTheirMeansAndVariances) {
  ForEachPlace(device(), [](const Device& at) {
    const TensorOptions floats = {kF32, at};
    const auto all = [&](double value) { return Full({kCount}, value, floats); };
    ExpectMoments(Exponential({kCount}, 2, floats), 0.5, 0.25, 9.0 / 16);
    ExpectMoments(Exponential(all(0.5)), 2, 4, 9 * 16);
    // The central moments of the gamma distribution: k, 3 k^2 + 6 k, divided by powers of the rate.
    for (const double k : {0.3, 1.0, 7.5}) {
      ExpectMoments(Gamma(all(k), 2), k / 2, k / 4, (3 * k * k + 6 * k) / 16);
    }
    // The beta distribution of (2, 3) has mean 2/5, variance 1/25 and excess kurtosis -9/14.
    ExpectMoments(Beta(all(2), all(3)), 0.4, 0.04, (3 - 9.0 / 14) * 0.04 * 0.04);
    // The beta distribution of (1/2, 1/2), the arcsine distribution, has excess kurtosis -3/2.
    ExpectMoments(Beta(all(0.5), 0.5), 0.5, 0.125, 1.5 * 0.125 * 0.125);
    for (const double rate : {0.2, 3.0, 9.99, 10.0, 80.0, 1e6}) {
      ExpectMoments(Poisson(Full({kCount}, rate, {kF64, at})), rate, rate, 3 * rate * rate + rate);
    }
    // The mean is Euler's constant, the variance pi^2 / 6, the excess kurtosis 12/5.
    const double variance = std::numbers::pi * std::numbers::pi / 6;
    ExpectMoments(Gumbel({kCount}, floats), std::numbers::egamma, variance, 5.4 * variance * variance);
    // Between -1 and 1 the variance is v = 1 - 2 phi(1) / (2 Phi(1) - 1), and the fourth moment 3 v - 2
    // phi(1) / (2 Phi(1) - 1).
    const double phi = std::exp(-0.5) / std::sqrt(2 * std::numbers::pi), mass = std::erf(1 / std::sqrt(2.0));
    const double v = 1 - 2 * phi / mass;
    ExpectMoments(TruncatedNormal({kCount}, -1, 1, floats), 0, v, 3 * v - 2 * phi / mass);
  });
}

TEST_F(Random, CountsAndClassesHaveTheirProbabilities) {
  ForEachPlace(device(), [](const Device& at) {
    const std::vector<double> p = {std::exp(-1.0), std::exp(-1.0), std::exp(-1.0) / 2, std::exp(-1.0) / 6};
    const Tensor counts = Minimum(Poisson(Ones({kCount}, {kF32, at})), Operand(4)).To(kS64);
    ExpectFrequencies(counts.ToVector<int64_t>(), {p[0], p[1], p[2], p[3], 1 - p[0] - p[1] - p[2] - p[3]});
    const Tensor logits = Log(FromValues<float>({1, 0, 3, 4}, Dims{4}, at));
    const Tensor classes = Categorical(logits, {kCount});
    EXPECT_EQ(classes.dims(), Dims{kCount});
    ExpectFrequencies(classes.ToVector<int64_t>(), {0.125, 0, 0.375, 0.5});
    const Tensor hard = GumbelSoftmax(logits.Expand({kCount, 4}), 0.7, true);
    ExpectFrequencies(Argmax(hard, 1).ToVector<int64_t>(), {0.125, 0, 0.375, 0.5});
    EXPECT_EQ(Sum(hard == 1).Item<int64_t>(), kCount);
  });
}

TEST_F(Random, SamplesAtTheEdgesOfTheirParameters) {
  ForEachPlace(device(), [](const Device& at) {
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    const Tensor edges = FromValues<double>({0, -1, nan, inf}, Dims{4}, at);
    EXPECT_THAT(Poisson(edges).ToVector<double>(),
                ElementsAre(0, ::testing::IsNan(), ::testing::IsNan(), inf));
    EXPECT_THAT(Gamma(edges).ToVector<double>(),
                ElementsAre(::testing::IsNan(), ::testing::IsNan(), ::testing::IsNan(), inf));
    EXPECT_EQ(Poisson(Zeros({0}, {kF32, at})).dims(), Dims{0});
    // Far in the tail, rounding could move a number beyond the bounds.
    const Tensor tail = TruncatedNormal({1000}, 5, 5.01, {kF32, at});
    EXPECT_GE(Amin(tail).Item<double>(), 5 - 1e-6);
    EXPECT_LE(Amax(tail).Item<double>(), 5.01 + 1e-6);
  });
}

TEST_F(Random, GradientsGoThroughTheSoftmaxAndNotThroughCounts) {
  ForEachPlace(device(), [](const Device& at) {
    Tensor logits = FromValues<float>({0.5, -1, 2}, Dims{3}, at).RequiresGrad_();
    const Tensor weights = FromValues<float>({1, 2, 3}, Dims{3}, at);
    ManualSeed(9);
    const Tensor soft = GumbelSoftmax(logits, 2);
    Sum(GumbelSoftmax(logits, 2) * 0 + soft * weights).Backward();
    // By hand: d sum(w y) / d logits = (y w - y sum(y w)) / tau.
    const Tensor y = soft.Detach();
    const Tensor expected = (y * weights - y * Sum(y * weights)) / 2;
    EXPECT_TRUE(Allclose(logits.Grad(), expected, 1e-5, 1e-6));
    logits.ZeroGrad();
    ManualSeed(9);
    Sum(GumbelSoftmax(logits, 2, true) * weights).Backward();
    EXPECT_TRUE(Allclose(logits.Grad(), expected, 1e-5, 1e-6));
    Tensor rate = Ones({3}, {kF32, at}).RequiresGrad_();
    Sum(Poisson(rate)).Backward();
    EXPECT_TRUE(Allclose(rate.Grad(), Zeros({3}, {kF32, at})));
    rate.ZeroGrad();
    // A waiting time is 1 / rate times a number that does not depend on the rate.
    const Tensor time = Exponential(rate);
    Sum(time).Backward();
    EXPECT_TRUE(Allclose(rate.Grad(), -time.Detach(), 1e-5, 1e-6));
  });
}

TEST_F(Random, AGeneratorIsAStreamThatCanBeSaved) {
  ForEachPlace(device(), [](const Device& at) {
    const auto draw = [&] { return Rand({3}, {kF32, at}).ToVector<float>(); };
    ManualSeed(1);
    const std::vector<float> first = draw(), second = draw();
    ManualSeed(1);
    Generator generator(1);
    {
      const GeneratorScope scope(generator);
      EXPECT_EQ(draw(), first);
      const Generator::State state = generator.GetState();
      EXPECT_EQ(state.seed, 1u);
      EXPECT_EQ(draw(), second);
      generator.SetState(state);
      EXPECT_EQ(draw(), second);
      {
        const GeneratorScope inner{Generator(1)};
        EXPECT_EQ(draw(), first);
      }
      EXPECT_NE(draw(), first);
      generator.ManualSeed(1);
      EXPECT_EQ(draw(), first);
    }
    // The device's own stream has not advanced meanwhile; its state can be saved, too.
    EXPECT_EQ(draw(), first);
    Generator own = Generator::Of(at);
    const Generator::State state = own.GetState();
    EXPECT_EQ(draw(), second);
    own.SetState(state);
    EXPECT_EQ(draw(), second);
  });
  const auto inside = [](const Tensor& x) {
    const GeneratorScope scope{Generator(1)};
    return x + Rand({2});
  };
  Throws([&] { Jit(inside)(OnDevice({1, 2}, {2})); });
  EXPECT_THAT(last_what_, HasSubstr("take keys"));
}

// Changing probabilities, bounds and rates does not compile again.
TEST_F(Random, ParametersAreNumbersOfTheProgram) {
  const auto compiles = [&](const std::function<Tensor(double)>& draw) {
    draw(0.5).ToVector<float>();
    const auto before = GetTraceStats().compiles;
    for (const double value : {0.25, 0.125, 0.75}) draw(value).ToVector<float>();
    return GetTraceStats().compiles - before;
  };
  const TensorOptions options = {kF32, device()};
  const Tensor x = OnDevice({1, 2}, {2});
  EXPECT_EQ(compiles([&](double p) { return Bernoulli(x, p); }), 0);
  EXPECT_EQ(compiles([&](double v) { return Uniform({2}, -v, v, options); }), 0);
  EXPECT_EQ(compiles([&](double v) { return Normal(v, v, {2}, options); }), 0);
  EXPECT_EQ(compiles([&](double v) { return Exponential({2}, v, options); }), 0);
  EXPECT_EQ(compiles([&](double v) { return TruncatedNormal({2}, -v, v, options); }), 0);
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
    // Without replacement, the first draw has the same distribution as before, no class is drawn twice, and a
    // class of weight 0 is drawn last.
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
                                         Exponential({3}, 1, {kF32, at}),
                                         Gumbel({3}, {kF32, at}),
                                         TruncatedNormal({3}, -2, 2, {kF32, at}),
                                         Gamma(x + 0.5),
                                         Beta(x + 2, x + 3),
                                         Poisson(x + 4),
                                         Poisson(x + 40),
                                         Categorical(x).To(kF32),
                                         GumbelSoftmax(x),
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

// Parameters are numbers or tensors that broadcast; of numbers alone the result is a scalar on the host.
TEST_F(Random, ParametersAreNumbersOrTensors) {
  ForEachPlace(device(), [](const Device& at) {
    const Tensor row = Ones({3}, {kF32, at}), column = Ones({2, 1}, {kF32, at});
    for (const Tensor& x : {Gamma(row, column), Beta(row, column), Normal(row, column),
                            Gamma(2, column + row), Beta(2, column + row), Normal(column + row, 2)}) {
      EXPECT_EQ(x.dims(), (Dims{2, 3}));
      EXPECT_TRUE(x.device() == at);
    }
  });
  for (const Tensor& x : {Gamma(2.0, 3.0), Beta(2.0, 3.0), Normal(2.0, 3.0)}) {
    EXPECT_EQ(x.dims(), Dims{});
    EXPECT_EQ(x.dtype(), kF32);
  }
  // The derivative by the rate: of a variate of rate 1, divided by the rate, it is minus the result / rate.
  Tensor rate = OnDevice({2, 4}, {2}).RequiresGrad_();
  const Tensor drawn = Gamma(3, rate);
  Sum(drawn).Backward();
  EXPECT_TRUE(Allclose(rate.Grad(), -drawn.Detach() / rate.Detach(), 1e-5, 1e-6));
}

// Returns the derivative by a of the gamma variate x at which the distribution function is the same, by the
// midpoint rule for dP/da, the integral of (log(t) - digamma(a)) p(t) up to x, where t is x exp(-sinh(u)^2).
double GammaSlope(double a, double x) {
  const double h = 1e-5 * a, digamma = (std::lgamma(a + h) - std::lgamma(a - h)) / (2 * h);
  double sum = 0;
  for (double u = 0.0005; u < 6; u += 0.001) {
    const double log_ratio = -std::sinh(u) * std::sinh(u), t = x * std::exp(log_ratio);
    // The density at t over that at x, times -dt / du.
    const double density = x * std::exp(a * log_ratio + x - t) * std::sinh(2 * u);
    sum += density * (std::log(x) + log_ratio - digamma) * 0.001;
  }
  return -sum;
}

TEST_F(Random, GradientsOfConcentrationsAreThoseOfTheQuantile) {
  const std::vector<double> values = {0.3, 0.9, 1, 1.7, 4, 40, 300};
  const Tensor a = FromValues<double>(values, Dims{7}, device()).RequiresGrad_();
  const Tensor x = Gamma(a, 2.0);
  Sum(x).Backward();
  const std::vector<double> at = x.Detach().ToVector<double>(), slopes = a.Grad().ToVector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double wanted = GammaSlope(values[i], 2 * at[i]) / 2;
    EXPECT_NEAR(slopes[i], wanted, 1e-5 * std::abs(wanted)) << "a = " << values[i];
  }
  // From a million on by an approximation: about 1 where x is about a.
  const Tensor large = FromValues<double>({1e6, 1.1e6, 1e9}, Dims{3}, device()).RequiresGrad_();
  const Tensor y = Gamma(large);
  Sum(y).Backward();
  const std::vector<double> made = y.Detach().ToVector<double>(),
                            large_slopes = large.Grad().ToVector<double>();
  for (size_t i = 0; i < made.size(); ++i) {
    const double n = large.Detach().ToVector<double>()[i];
    // The first two terms of the quantile's expansion: a + z sqrt(a).
    EXPECT_NEAR(large_slopes[i], 1 + (made[i] - n) / (2 * n), 2 / n) << "a = " << n;
  }
}

// The mean of a variate is a / (a + b), and that of its square is the mean times (a + 1) / (a + b + 1). Hence
// the derivatives of many variates have the derivatives of these as their means.
TEST_F(Random, GradientsOfBetaVariatesAreThoseOfTheirMoments) {
  const auto mean = [](double a, double b) { return a / (a + b); };
  const auto square = [&](double a, double b) { return mean(a, b) * (a + 1) / (a + b + 1); };
  const auto slopes = [&](double a, double b, const std::function<Tensor(const Tensor&)>& loss) {
    const TensorOptions doubles = {kF64, device()};
    const Tensor as = Full({kCount}, a, doubles).RequiresGrad_(),
                 bs = Full({kCount}, b, doubles).RequiresGrad_();
    Sum(loss(Beta(as, bs))).Backward();
    return std::pair(as.Grad().ToVector<double>(), bs.Grad().ToVector<double>());
  };
  const auto expect_mean = [](const std::vector<double>& values, double expected) {
    const double n = static_cast<double>(values.size());
    const double found = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - found) * (value - found);
    EXPECT_NEAR(found, expected, kSigmas * std::sqrt(squares) / n);
  };
  constexpr double kStep = 1e-5;
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{{0.5, 3}, {2, 1}, {7, 4}}) {
    const auto [by_a, by_b] = slopes(a, b, [](const Tensor& x) { return x; });
    expect_mean(by_a, b / ((a + b) * (a + b)));
    expect_mean(by_b, -a / ((a + b) * (a + b)));
    const auto [squares_by_a, squares_by_b] = slopes(a, b, [](const Tensor& x) { return x * x; });
    expect_mean(squares_by_a, (square(a + kStep, b) - square(a - kStep, b)) / (2 * kStep));
    expect_mean(squares_by_b, (square(a, b + kStep) - square(a, b - kStep)) / (2 * kStep));
  }
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
      {[&] { Exponential({2}, 0); }, "the rate (0) is not positive"},
      {[&] { Exponential(x.To(kS32)); }, "rates are of a floating type, not s32"},
      {[&] { Poisson(x.To(kS32)); }, "parameters are of a floating type, not s32"},
      {[&] { TruncatedNormal({2}, 1, 1); }, "no number lies between 1 and 1"},
      {[&] { Categorical(x[0]); }, "logits of shape [] have no classes"},
      {[&] { GumbelSoftmax(x, 0); }, "tau (0) is not positive"},
      {[&] {
         const auto slope = Grad([](const Tensor& a) { return Sum(Gamma(a)); });
         Grad([&](const Tensor& a) { return Sum(slope(a)); })(x);
       },
       "gamma and beta variates have no second derivative by their concentrations"},
  };
  for (const auto& [body, text] : cases) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument) << text;
    EXPECT_THAT(last_what_, HasSubstr(text));
  }
}

}  // namespace
}  // namespace hlod

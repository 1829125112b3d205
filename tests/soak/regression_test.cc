// Lines through samples, beside hand arithmetic.
#include "tests/soak/regression.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hlod::soak {
namespace {

// Values 0, 1, 0, 3 at 0, 1, 2, 3 s: slope (−1.5·0 − 0.5·1 + 0.5·0 + 1.5·3)/5 = 0.8; residuals 0.2, 0.4,
// −1.4, 0.8 have squares 2.8; error sqrt(2.8/2/5) = sqrt(0.28).
TEST(SoakRegression, FitsTheLineOfLeastSquaresAndItsError) {
  const Line line = Fit({{0, 0}, {1, 1}, {2, 0}, {3, 3}}, 30);
  EXPECT_NEAR(line.slope_per_hour, 0.8 * 3600, 1e-9);
  EXPECT_NEAR(line.error_per_hour, std::sqrt(0.28) * 3600, 1e-9);
}

TEST(SoakRegression, AveragesSamplesThatAreCloseInTime) {
  std::vector<Sample> samples;
  for (int i = 0; i < 400; ++i)
    samples.push_back({i / 100.0, std::vector<double>{0, 1, 0, 3}[static_cast<size_t>(i / 100)]});
  const Line averaged = Fit(samples, 4);
  EXPECT_NEAR(averaged.slope_per_hour, 0.8 * 3600, 20);
  EXPECT_GT(averaged.error_per_hour, 10 * Fit(samples, 400).error_per_hour)
      << "400 samples of four values are not 400 independent ones";
}

TEST(SoakRegression, CallsFlatWhatIsConstantNoisyOrSlow) {
  std::vector<Sample> constant, noisy, slow, leak;
  for (int i = 0; i < 60; ++i) {
    const double wave = i % 2 == 0 ? 1 : -1;
    constant.push_back({1.0 * i, 7});
    noisy.push_back({1.0 * i, 100 + 20 * wave});
    slow.push_back({1.0 * i, 1e9 + 10.0 * i});          // 36,000 per hour of 10^9: 0.1 % a day.
    leak.push_back({1.0 * i, 1e6 + 100.0 * i + wave});  // 360,000 per hour.
  }
  const auto verdict = [](const std::vector<Sample>& samples) {
    return Verdict(Fit(samples, 30), Mean(samples));
  };
  EXPECT_EQ(verdict(constant), "flat");
  EXPECT_EQ(verdict(noisy), "flat");
  EXPECT_EQ(verdict(slow), "flat");
  EXPECT_EQ(verdict(leak), "grows");
  for (Sample& sample : leak) sample.value = 2e6 - sample.value;
  EXPECT_EQ(verdict(leak), "falls");
  EXPECT_EQ(Verdict(Fit({}, 30), 0), "flat");
}

TEST(SoakRegression, TakesQuantilesAndTheLastHalf) {
  EXPECT_EQ(Quantile({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(Quantile({5, 1, 4, 2, 3}, 1), 5);
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(LastHalf({{0, 1}, {1, 2}, {2, 3}, {4, 4}}).size(), 2u);
}

}  // namespace
}  // namespace hlod::soak

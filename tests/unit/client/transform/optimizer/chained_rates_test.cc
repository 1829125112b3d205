// Schedulers that act on one optimizer together, with PyTorch 1.13's rates.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

class ChainedRates : public TensorTest {
 protected:
  Sgd Make(double lr) { return Sgd({OnDevice({1}, {1}).RequiresGrad_()}, {.lr = lr}); }
};

using Maker = std::function<LrScheduler(ParameterOptimizer&)>;

TEST_F(ChainedRates, AreTheProductsOfPyTorch) {
  struct Row {
    double lr;
    std::vector<Maker> makers;
    std::vector<double> wanted;
  };
  const auto inverse = [](int64_t epoch) { return 1.0 / (1 + static_cast<double>(epoch)); };
  const std::vector<Row> rows = {
      {1,
       {[](auto& o) { return ConstantLr(o, .1, 2); }, [](auto& o) { return ExponentialLr(o, .9); }},
       {.1, .09, .81, .729, .6561, .59049}},
      {.5,
       {[](auto& o) { return LinearLr(o, .25, 1, 3); }, [](auto& o) { return CosineAnnealingLr(o, 4, .1); }},
       {.125, .228033009, .241789322, .165135282, .1, .158578644, .3, .441421356, .5}},
      {.5,
       {[](auto& o) { return StepLr(o, 2, .5); },
        [](auto& o) {
          return MultiStepLr(o, {1, 3, 3}, .1);
        },
        [](auto& o) { return PolynomialLr(o, 5, 2); }},
       {.5, .032, .009, 4e-5, 5e-6, 0, 0}},
      // LambdaLr replaces the rate that ExponentialLr left.
      {.5,
       {[](auto& o) { return ExponentialLr(o, .9); }, [&](auto& o) { return LambdaLr(o, inverse); },
        [](auto& o) { return MultiplicativeLr(o, [](int64_t) { return .8; }); }},
       {.5, .2, .133333333, .1, .08}},
  };
  for (const Row& row : rows) {
    for (const bool chained : {true, false}) {
      Sgd sgd = Make(row.lr);
      std::vector<LrScheduler> schedulers;
      for (const Maker& make : row.makers) schedulers.push_back(make(sgd));
      ChainedScheduler chain(schedulers);
      std::vector<double> rates = {sgd.learning_rate()};
      while (rates.size() < row.wanted.size()) {
        if (chained) {
          chain.Step();
        } else {
          for (LrScheduler& scheduler : schedulers) scheduler.Step();
        }
        rates.push_back(chain.last_rate());
      }
      EXPECT_THAT(rates, Pointwise(DoubleNear(1e-9), row.wanted));
    }
  }
}

TEST_F(ChainedRates, ARateThatIsSetIsMultipliedOn) {
  Sgd sgd = Make(.5);
  LrScheduler scheduler = ExponentialLr(sgd, .9);
  scheduler.Step();
  sgd.SetLearningRate(.1);
  scheduler.Step();
  EXPECT_DOUBLE_EQ(sgd.learning_rate(), .09);
  // A scheduler that is made after that begins with the rate that was set.
  EXPECT_DOUBLE_EQ(ExponentialLr(sgd, .9).base_rate(), .09);
}

TEST_F(ChainedRates, SchedulersOfTwoOptimizersAreRefused) {
  Sgd a = Make(1), b = Make(1);
  Throws([&] { ChainedScheduler({StepLr(a, 1), StepLr(b, 1)}); });
  EXPECT_THAT(last_what_, HasSubstr("schedulers 0 and 1 of a chain are of different optimizers"));
  EXPECT_THAT(last_what_, HasSubstr("chained_rates_test.cc"));
  Throws([&] { ChainedScheduler(std::vector<LrScheduler>()); });
  EXPECT_THAT(last_what_, HasSubstr("there are no schedulers"));
}

}  // namespace
}  // namespace hlod

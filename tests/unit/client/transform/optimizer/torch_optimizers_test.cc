// Optimizers, learning rates and gradient clipping as in PyTorch. Expected values are PyTorch's.
#include <limits>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::DoubleNear;
using ::testing::FloatNear;
using ::testing::Pointwise;

class TorchOptimizers : public TensorTest {
 protected:
  Tensor Parameter() { return OnDevice({1, -2, .5, 3}, {4}).RequiresGrad_(); }
  // Runs step `i` with its fixed gradient.
  void Step(Tensor& parameter, ParameterOptimizer& optimizer, int i) {
    static const std::vector<std::vector<float>> gradients = {{.5F, -1, 2, .1F},
                                                              {-.3F, .8F, 1.5F, -.2F},
                                                              {.9F, -.1F, -1, .4F},
                                                              {.05F, .6F, .2F, -.7F},
                                                              {1.2F, -.4F, -.3F, .3F}};
    optimizer.ZeroGrad();
    Sum(parameter * OnDevice(gradients[i], {4})).Backward();
    optimizer.Step();
  }
  template <typename Optimizer, typename Options>
  void Check(const char* name, const Options& options, const std::vector<float>& wanted, int steps = 5) {
    Tensor parameter = Parameter();
    Optimizer optimizer({parameter}, options);
    for (int i = 0; i < steps; ++i) Step(parameter, optimizer, i % 5);
    EXPECT_THAT(parameter.ToVector<float>(), Pointwise(FloatNear(2e-6F), wanted)) << name;
  }
};

TEST_F(TorchOptimizers, FiveStepsGivePyTorchsParameters) {
  Check<Sgd>("dampening", SgdOptions{.lr = .1, .momentum = .9, .dampening = .5},
             {0.66013F, -1.7515001F, -0.4454449F, 2.9907391F});
  Check<Sgd>("nesterov", SgdOptions{.lr = .1, .momentum = .9, .nesterov = true, .weight_decay = .01},
             {0.3227911F, -1.8794043F, -0.7041388F, 2.9799948F});
  const AdamOptions adam = {.lr = .1, .beta1 = .8, .beta2 = .9, .weight_decay = .01, .amsgrad = true};
  Check<Adam>("amsgrad", adam, {0.6945573F, -1.9105828F, 0.2072067F, 2.8973167F});
  const AdamWOptions adamw = {.lr = .1, .beta1 = .8, .beta2 = .9, .weight_decay = .1, .amsgrad = true};
  Check<AdamW>("adamw_amsgrad", adamw, {0.6564509F, -1.8267864F, 0.1913001F, 2.7920287F});
  Check<RmsProp>("rmsprop", RmsPropOptions{.lr = .1}, {-1.121376F, -1.7003725F, -0.690558F, 2.5198681F});
  Check<RmsProp>(
      "rmsprop_centered",
      RmsPropOptions{
          .lr = .1, .alpha = .9, .eps = 1e-3, .weight_decay = .01, .momentum = .5, .centered = true},
      {-0.1368515F, -1.7889993F, -0.321135F, 2.6079466F});
  Check<Adagrad>("adagrad", AdagradOptions{.lr = .1}, {0.7883383F, -1.9698515F, 0.3807748F, 2.952069F});
  Check<Adagrad>(
      "adagrad_options",
      AdagradOptions{
          .lr = .1, .lr_decay = .1, .weight_decay = .01, .initial_accumulator_value = .2, .eps = 1e-3},
      {0.8409321F, -1.9639957F, 0.381081F, 2.9800203F});
}

TEST_F(TorchOptimizers, AdaptiveOnesGivePyTorchsParameters) {
  Check<Adadelta>("adadelta", AdadeltaOptions{.lr = .5}, {0.9948726F, -1.9999762F, 0.4981824F, 2.9993324F});
  Check<Adadelta>("adadelta_options", AdadeltaOptions{.rho = .8, .eps = 1e-3, .weight_decay = .01},
                  {0.7721931F, -1.9926053F, 0.42012F, 2.954226F});
  Check<Adamax>("adamax", AdamaxOptions{.lr = .1}, {0.7676209F, -1.8998777F, 0.2297893F, 2.9220147F});
  Check<Adamax>("adamax_options",
                AdamaxOptions{.lr = .05, .beta1 = .8, .beta2 = .9, .eps = 1e-4, .weight_decay = .01},
                {0.8791028F, -1.9546852F, 0.3578812F, 2.9514093F});
  // Values of Dozat's formula in f64, as in PyTorch 2; PyTorch 1.13 applies a momentum twice.
  Check<NAdam>("nadam", NAdamOptions{.lr = .1}, {0.7268174F, -1.9625684F, 0.3526732F, 2.9475518F});
  Check<NAdam>(
      "nadam_options",
      NAdamOptions{
          .lr = .05, .beta1 = .8, .beta2 = .9, .eps = 1e-4, .weight_decay = .01, .momentum_decay = .1},
      {0.8497513F, -1.9780708F, 0.4193629F, 2.9600362F});
  Check<RAdam>("radam", RAdamOptions{.lr = .1}, {0.8244989F, -1.8998609F, -0.039785F, 2.9992647F});
  // The variance is used from the sixth step on, where it is well estimated.
  const RAdamOptions options = {.lr = .05, .beta1 = .8, .beta2 = .9, .eps = 1e-4, .weight_decay = .01};
  Check<RAdam>("radam_options", options, {0.8449584F, -1.9483413F, 0.2101384F, 2.9908504F}, 10);
}

TEST_F(TorchOptimizers, RatesThatRiseAndFallArePyTorchs) {
  Sgd sgd({Parameter()}, {.lr = .5});
  const auto check = [&](const char* name, auto make, const std::vector<double>& wanted) {
    sgd.SetLearningRate(.5);
    LrScheduler scheduler = make();
    std::vector<double> rates = {sgd.learning_rate()};
    while (rates.size() < wanted.size()) {
      scheduler.Step();
      rates.push_back(scheduler.last_rate());
    }
    EXPECT_THAT(rates, Pointwise(DoubleNear(1e-8), wanted)) << name;
  };
  check("one cycle", [&] { return OneCycleLr(sgd, {.max_rate = 1, .total = 10}); },
        {.04, .52, 1, .950484632, .811745654, .611262022, .388741978, .188258346, .049519368, 4e-6});
  // When pct_start leaves no steps for the rise, the rate begins at its maximum.
  EXPECT_EQ(OneCycleLr(sgd, {.max_rate = 1, .total = 10, .pct_start = .1}).last_rate(), 1);
  const OneCycleOptions three = {.max_rate = 1,
                                 .total = 12,
                                 .pct_start = .4,
                                 .linear = true,
                                 .div_factor = 10,
                                 .final_div_factor = 100,
                                 .three_phase = true};
  check("one cycle in three phases", [&] { return OneCycleLr(sgd, three); },
        {.1, .336842105, .573684211, .810526316, .952631579, .715789474, .478947368, .242105263, .088352941,
         .059235294, .030117647, .001});
  check("restarts", [&] { return CosineAnnealingWarmRestarts(sgd, 2, 2, .1); },
        {.5, .3, .5, .441421356, .3, .158578644, .5, .484775907, .441421356, .376536686, .3, .223463314,
         .158578644});
  check("restarts of one length", [&] { return CosineAnnealingWarmRestarts(sgd, 3); },
        {.5, .375, .125, .5, .375, .125, .5, .375, .125});
  CyclicOptions cycle = {.base_rate = .1, .max_rate = .9, .step_size_up = 3, .step_size_down = 2};
  check("triangular", [&] { return CyclicLr(sgd, cycle); },
        {.1, .366666667, .633333333, .9, .5, .1, .366666667, .633333333, .9, .5, .1});
  cycle = {.base_rate = .1, .max_rate = .9, .step_size_up = 2, .mode = CyclicOptions::Mode::kTriangular2};
  check("triangular2", [&] { return CyclicLr(sgd, cycle); }, {.1, .5, .9, .5, .1, .3, .5, .3, .1, .2, .3});
  cycle.mode = CyclicOptions::Mode::kExpRange;
  cycle.gamma = .9;
  check("exp_range", [&] { return CyclicLr(sgd, cycle); },
        {.1, .46, .748, .3916, .1, .336196, .5251528, .29131876, .1, .254968196, .378942752});
  check("constant", [&] { return ConstantLr(sgd, .25, 3); }, {.125, .125, .125, .5, .5, .5, .5});
  check("polynomial", [&] { return PolynomialLr(sgd, 4, 2); }, {.5, .28125, .125, .03125, 0, 0, 0});
  check("multiplicative",
        [&] { return MultiplicativeLr(sgd, [](int64_t epoch) { return epoch % 2 ? .5 : .8; }); },
        {.5, .25, .2, .1, .08, .04, .032});
  check("sequential",
        [&] {
          return SequentialLr(sgd, {ConstantLr(sgd, .1, 2), ExponentialLr(sgd, .9)}, {2});
        },
        {.05, .05, .5, .45, .405, .3645, .32805});
  Throws([&] { SequentialLr(sgd, {ConstantLr(sgd)}, {2}); });
  EXPECT_THAT(last_what_, HasSubstr("1 schedulers take one milestone less"));
}

// Values of PyTorch 1.13.
TEST_F(TorchOptimizers, MomentaFallWhileRatesRise) {
  const auto check = [&](const char* name, auto& optimizer, auto make, const std::vector<double>& wanted) {
    LrScheduler scheduler = make();
    std::vector<double> momenta = {*optimizer.momentum()};
    while (momenta.size() < wanted.size()) {
      scheduler.Step();
      momenta.push_back(*optimizer.momentum());
    }
    EXPECT_THAT(momenta, Pointwise(DoubleNear(1e-8), wanted)) << name;
  };
  Sgd sgd({Parameter()}, {.lr = .5, .momentum = .5});
  check("one cycle", sgd, [&] { return OneCycleLr(sgd, {.max_rate = 1, .total = 10}); },
        {.95, .9, .85, .854951557, .86882551, .888873953, .911126047, .93117449, .945048443, .95});
  Adam adam({Parameter()}, {.lr = .5});
  const OneCycleOptions three = {.max_rate = 1,
                                 .total = 12,
                                 .pct_start = .4,
                                 .linear = true,
                                 .base_momentum = .7,
                                 .max_momentum = .9,
                                 .three_phase = true};
  check("betas in three phases", adam, [&] { return OneCycleLr(adam, three); },
        {.9, .847368421, .794736842, .742105263, .710526316, .763157895, .815789474, .868421053, .9, .9, .9,
         .9});
  const CyclicOptions cycle = {.base_rate = .1, .max_rate = .9, .step_size_up = 3, .step_size_down = 2};
  check("triangular", sgd, [&] { return CyclicLr(sgd, cycle); },
        {.9, .866666667, .833333333, .8, .85, .9, .866666667, .833333333, .8, .85, .9});
  RmsProp rmsprop({Parameter()}, {.momentum = .5});
  const CyclicOptions halved = {.base_rate = .1,
                                .max_rate = .9,
                                .step_size_up = 2,
                                .mode = CyclicOptions::Mode::kTriangular2,
                                .base_momentum = .5,
                                .max_momentum = .95};
  check("triangular2", rmsprop, [&] { return CyclicLr(rmsprop, halved); },
        {.95, .725, .5, .725, .95, .8375, .725, .8375, .95, .89375, .8375});
  check("in a sequence", sgd,
        [&] {
          return SequentialLr(
              sgd,
              {ConstantLr(sgd, .5, 2), CyclicLr(sgd, {.base_rate = .1, .max_rate = .9, .step_size_up = 2})},
              {3});
        },
        {.9, .9, .9, .9, .85, .8, .85, .9});
  sgd.SetMomentum(.5, 0);
  const OneCycleOptions rates = {.max_rate = 1, .total = 10, .cycle_momentum = false};
  check("rates alone", sgd, [&] { return OneCycleLr(sgd, rates); }, {.5, .5, .5});
  Adagrad adagrad({Parameter()});
  Throws([&] { OneCycleLr(adagrad, {.max_rate = 1, .total = 10}); });
  EXPECT_THAT(last_what_, HasSubstr("neither a momentum nor betas to cycle: set cycle_momentum to false"));
  EXPECT_THAT(last_what_, HasSubstr("torch_optimizers_test.cc"));
  EXPECT_EQ(adagrad.momentum(), std::nullopt);
}

TEST_F(TorchOptimizers, AOneCycleGivesPyTorchsParametersAndOneProgram) {
  const auto check = [&](auto optimizer_of, const std::vector<float>& wanted) {
    Tensor parameter = Parameter();
    auto optimizer = optimizer_of(parameter);
    LrScheduler scheduler = OneCycleLr(optimizer, {.max_rate = .1, .total = 10});
    int64_t compiles = 0;
    for (int i = 0; i < 5; ++i) {
      Step(parameter, optimizer, i);
      Sync();
      scheduler.Step();
      if (i == 2) compiles = GetTraceStats().compiles;
    }
    EXPECT_EQ(GetTraceStats().compiles, compiles);
    EXPECT_THAT(parameter.ToVector<float>(), Pointwise(FloatNear(2e-6F), wanted));
  };
  check([](const Tensor& p) { return Sgd({p}, {.lr = .5, .momentum = .5}); },
        {0.6363103F, -2.0129867F, -0.1243759F, 3.0228324F});
  check([](const Tensor& p) { return Adam({p}, {.lr = .5}); },
        {0.8447296F, -2.0487556F, 0.4350289F, 3.0126569F});
}

TEST_F(TorchOptimizers, ARateIsReducedOnAPlateauAsPyTorchDoes) {
  Sgd sgd({Parameter()}, {.lr = .5});
  const auto check = [&](const PlateauOptions& options, const std::vector<double>& metrics,
                         const std::vector<double>& wanted) {
    sgd.SetLearningRate(.5);
    ReduceLrOnPlateau scheduler(sgd, options);
    std::vector<double> rates;
    for (const double metric : metrics) {
      scheduler.Step(metric);
      rates.push_back(scheduler.last_rate());
    }
    EXPECT_THAT(rates, Pointwise(DoubleNear(1e-12), wanted));
  };
  check({.patience = 1}, {1, .9, .95, .95, .95, .8, .8, .8, .8, .8},
        {.5, .5, .5, .05, .05, .05, .05, .005, .005, .0005});
  check({.maximize = true,
         .factor = .5,
         .patience = 0,
         .threshold = .1,
         .absolute = true,
         .cooldown = 2,
         .min_rate = .05},
        {1, 1.05, 1.05, 1.05, 1.05, 1.3, 1.3, 1.3, 1.3, 1.3},
        {.5, .25, .25, .25, .125, .125, .125, .0625, .0625, .0625});
  Throws([&] { ReduceLrOnPlateau(sgd, {.factor = 1}); });
  EXPECT_THAT(last_what_, HasSubstr("the factor (1) must be below 1"));
}

using Complex64 = std::complex<float>;
// The gradients of five steps of two complex parameters.
const std::vector<std::vector<Complex64>> kComplexGradients = {{{.5F, -.2F}, {-1, .3F}},
                                                               {{-.3F, 1}, {.8F, -.6F}},
                                                               {{.9F, .1F}, {-.1F, .7F}},
                                                               {{.05F, -.5F}, {.6F, .2F}},
                                                               {{1.2F, .4F}, {-.4F, -.9F}}};

// The parts of a complex parameter are updated like real parameters.
TEST_F(TorchOptimizers, ComplexParametersArePyTorchs) {
  const auto check = [&](const char* name, const auto& make, const std::vector<float>& wanted) {
    for (const Device& place : {Device(), device()}) {
      Tensor parameter = FromValues<Complex64>({{1, -2}, {.5, 3}}, Dims{2}, place).RequiresGrad_();
      auto optimizer = make(parameter);
      for (const std::vector<Complex64>& gradient : kComplexGradients) {
        optimizer.ZeroGrad();
        parameter.Backward({.gradient = FromValues<Complex64>(gradient, Dims{2}, place)});
        optimizer.Step();
      }
      const Tensor parts = ViewAsReal(parameter.Detach()).Reshape({4});
      EXPECT_THAT(parts.ToVector<float>(), Pointwise(FloatNear(2e-6F), wanted)) << name;
    }
  };
  check("adam", [](const Tensor& p) { return Adam({p}, {.lr = .1}); },
        {0.695388913F, -2.05349135F, 0.598181188F, 2.89305019F});
  // PyTorch's values for a real parameter that has the real and imaginary parts.
  check("amsgrad",
        [](const Tensor& p) { return AdamW({p}, {.lr = .1, .weight_decay = .01, .amsgrad = true}); },
        {0.691032041F, -2.04361378F, 0.595268077F, 2.87845596F});
  check("rmsprop", [](const Tensor& p) { return RmsProp({p}, {.lr = .1, .momentum = .5, .centered = true}); },
        {-2.28690958F, -1.74180543F, 1.04333377F, 1.83656514F});
  check("adagrad", [](const Tensor& p) { return Adagrad({p}, {.lr = .1, .lr_decay = .1}); },
        {0.820017219F, -1.98718905F, 0.536538184F, 2.95365405F});
  check("sgd", [](const Tensor& p) { return Sgd({p}, {.lr = .1, .momentum = .9, .nesterov = true}); },
        {0.337513477F, -2.29068804F, 0.588741064F, 2.98120832F});
}

TEST_F(TorchOptimizers, ParametersOfF64HaveItsDigits) {
  const auto check = [&](const char* name, const auto& make, const std::vector<double>& wanted) {
    Tensor parameter = FromValues<double>({1, -2, .5, 3}, Dims{4}, device()).RequiresGrad_();
    auto optimizer = make(parameter);
    const std::vector<std::vector<double>> gradients = {
        {.5, -.2, -1, .3}, {-.3, 1, .8, -.6}, {.9, .1, -.1, .7}, {.05, -.5, .6, .2}, {1.2, .4, -.4, -.9}};
    for (const std::vector<double>& gradient : gradients) {
      optimizer.ZeroGrad();
      parameter.Backward({.gradient = FromValues<double>(gradient, Dims{4}, device())});
      optimizer.Step();
    }
    EXPECT_THAT(parameter.Detach().ToVector<double>(), Pointwise(DoubleNear(1e-14), wanted)) << name;
  };
  check("adam", [](const Tensor& p) { return Adam({p}, {.lr = .1}); },
        {0.6953888094456832, -2.0534911788745793, 0.5981812028713426, 2.8930501603896697});
  check("amsgrad",
        [](const Tensor& p) { return AdamW({p}, {.lr = .1, .weight_decay = .01, .amsgrad = true}); },
        {0.6910320413953414, -2.0436137792880094, 0.595268077057129, 2.8784559614728833});
  check("rmsprop", [](const Tensor& p) { return RmsProp({p}, {.lr = .1, .momentum = .5, .centered = true}); },
        {-2.286909795362827, -1.7418056895400968, 1.0433337538958865, 1.836565188398897});
  check("adagrad", [](const Tensor& p) { return Adagrad({p}, {.lr = .1, .lr_decay = .1}); },
        {0.8200172364491444, -1.987189080228373, 0.5365381688109615, 2.953653913920515});
}

TEST_F(TorchOptimizers, NesterovNeedsAMomentumWithoutDampening) {
  Throws([&] { Sgd({Parameter()}, {.nesterov = true}); });
  EXPECT_THAT(last_what_, HasSubstr("nesterov takes a momentum above 0, not 0"));
  Throws([&] { Sgd({Parameter()}, {.momentum = .9, .nesterov = true, .dampening = .5}); });
  EXPECT_THAT(last_what_, HasSubstr("a dampening of 0, not 0.5"));
}

TEST_F(TorchOptimizers, RatesOfEightEpochsArePyTorchs) {
  Sgd sgd({Parameter()}, {.lr = .5});
  const auto check = [&](const char* name, auto make, const std::vector<double>& wanted) {
    sgd.SetLearningRate(.5);
    LrScheduler scheduler = make();
    std::vector<double> rates = {sgd.learning_rate()};
    for (int i = 0; i < 8; ++i) {
      scheduler.Step();
      rates.push_back(scheduler.last_rate());
    }
    EXPECT_THAT(rates, Pointwise(DoubleNear(1e-8), wanted)) << name;
    EXPECT_EQ(scheduler.epoch(), 8);
  };
  check("step", [&] { return StepLr(sgd, 3, .5); }, {.5, .5, .5, .25, .25, .25, .125, .125, .125});
  check("multi_step",
        [&] {
          return MultiStepLr(sgd, {5, 2}, .1);
        },
        {.5, .5, .05, .05, .05, .005, .005, .005, .005});
  check("exponential", [&] { return ExponentialLr(sgd, .9); },
        {.5, .45, .405, .3645, .32805, .295245, .2657205, .23914845, .215233605});
  check("linear", [&] { return LinearLr(sgd, .25, 1, 4); },
        {.125, .21875, .3125, .40625, .5, .5, .5, .5, .5});
  check("cosine", [&] { return CosineAnnealingLr(sgd, 6, .1); },
        {.5, .473205081, .4, .3, .2, .126794919, .1, .126794919, .2});
  check("lambda", [&] { return LambdaLr(sgd, [](int64_t epoch) { return 1.0 / (1 + epoch); }); },
        {.5, .25, .166666667, .125, .1, .083333333, .071428571, .0625, .055555556});
  Throws([&] { StepLr(sgd, 0); });
  EXPECT_THAT(last_what_, HasSubstr("step_size is 0, and must be positive"));
}

TEST_F(TorchOptimizers, ARateAndALimitThatChangeDoNotCompileAgain) {
  Tensor parameter = Parameter();
  RmsProp optimizer({parameter});
  LrScheduler scheduler = ExponentialLr(optimizer, .9);
  int64_t compiles = 0;
  for (int i = 0; i < 5; ++i) {
    optimizer.ZeroGrad();
    Sum(parameter * OnDevice({1, 2, 3, 4}, {4})).Backward();
    ClipGradNorm_({parameter}, 1.0 + i);
    ClipGradValue_({parameter}, .5 + i);
    optimizer.Step();
    scheduler.Step();
    Sync();
    if (i == 1) compiles = GetTraceStats().compiles;
  }
  EXPECT_EQ(GetTraceStats().compiles, compiles);
}

TEST_F(TorchOptimizers, GradientsAreClippedAsPyTorchClipsThem) {
  struct Row {
    double norm_type;
    float norm;
    std::vector<float> a, b;
  };
  const std::vector<Row> rows = {
      {2, 13.1909056F, {.4548588F, -.6064784F}, {.1516196F, .3032392F, -1.8194351F}},
      {1, 22, {.2727273F, -.3636363F}, {.0909091F, .1818182F, -1.0909090F}},
      {std::numeric_limits<double>::infinity(), 12, {.5F, -.6666666F}, {.1666667F, .3333333F, -2}},
      {3, 12.2271557F, {.4907110F, -.6542813F}, {.1635703F, .3271407F, -1.9628439F}},
  };
  Tensor a = OnDevice({0, 0}, {2}).RequiresGrad_(), b = OnDevice({0, 0, 0}, {3}).RequiresGrad_();
  const Tensor unused = OnDevice({1}, {1}).RequiresGrad_();
  const auto backward = [&] {
    a.ZeroGrad();
    b.ZeroGrad();
    (Sum(a * OnDevice({3, -4}, {2})) + Sum(b * OnDevice({1, 2, -12}, {3}))).Backward();
  };
  for (const Row& row : rows) {
    backward();
    EXPECT_NEAR(ClipGradNorm_({a, unused, b}, 2, row.norm_type).Item<float>(), row.norm, 1e-5);
    EXPECT_THAT(a.Grad().ToVector<float>(), Pointwise(FloatNear(1e-6F), row.a)) << row.norm_type;
    EXPECT_THAT(b.Grad().ToVector<float>(), Pointwise(FloatNear(1e-6F), row.b)) << row.norm_type;
  }
  backward();
  EXPECT_NEAR(ClipGradNorm_({a, b}, 100).Item<float>(), 13.1909056F, 1e-5);
  // The norm is within the limit, so gradients are unchanged.
  EXPECT_THAT(a.Grad().ToVector<float>(), ElementsAre(3, -4));
  ClipGradValue_({a, unused, b}, 2.5);
  EXPECT_THAT(a.Grad().ToVector<float>(), ElementsAre(2.5, -2.5));
  EXPECT_THAT(b.Grad().ToVector<float>(), ElementsAre(1, 2, -2.5));
  EXPECT_EQ(ClipGradNorm_({unused}, 1).Item<float>(), 0);
}

TEST_F(TorchOptimizers, TrainingGoesOnFromAStateDict) {
  const AdamOptions options = {.lr = .1, .beta1 = .8, .beta2 = .9, .weight_decay = .01, .amsgrad = true};
  Tensor parameter = Parameter();
  Adam first({parameter}, options);
  for (int i = 0; i < 3; ++i) Step(parameter, first, i);
  const auto state = first.StateDict();
  AdamOptions other = options;
  other.lr = 7;
  Tensor next = parameter.Detach().Clone().RequiresGrad_();
  Adam second({next}, other);
  second.LoadStateDict(state);
  EXPECT_EQ(second.learning_rate(), .1);
  Step(parameter, first, 3);  // Does not change the loaded state.
  for (int i = 3; i < 5; ++i) Step(next, second, i);
  EXPECT_THAT(next.ToVector<float>(),
              Pointwise(FloatNear(2e-6F), {0.6945573F, -1.9105828F, 0.2072067F, 2.8973167F}));

  Sgd sgd({next});
  Throws([&] { sgd.LoadStateDict(state); });
  EXPECT_THAT(last_what_, HasSubstr("are not of an optimizer of this kind and 1 parameters"));
  auto less = state;
  less.erase("state.0.1.3");
  Throws([&] { second.LoadStateDict(less); });
  EXPECT_THAT(last_what_, HasSubstr("missing state.0.1.3"));
}

}  // namespace
}  // namespace hlod

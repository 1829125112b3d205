// Training steps of modules with buffers. Expected values are PyTorch's: Linear, BatchNorm1d, mean square,
// SGD.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

struct Normalised : nn::Module {
  nn::Linear linear{*this, "linear", 2, 3};
  nn::BatchNorm norm{*this, "norm", 3};
  Tensor fixed;  // A buffer that is never updated.

  explicit Normalised(const Device& device) : fixed(Ones({3})) {
    RegisterBuffer("fixed", fixed);
    const NoGrad scope;
    linear.weight.Copy_(FromValues<float>({.5, -1, 2, .25, -.75, 1.5}, Dims{3, 2}));
    linear.bias.Copy_(FromValues<float>({.1F, -.2F, .3F}));
    To(device);
  }
  Tensor operator()(const Tensor& x) {
    return norm(linear(x)) * fixed;
  }  // Not const, because users may
     // write it so.
};

class TrainBuffers : public TensorTest {
 protected:
  Tensor x() { return OnDevice({1, 2, -1, .5, 3, -2, 0, 1}, {4, 2}); }
  Tensor target() { return OnDevice({1, 0, -1, 0, 2, 1, .5, -.5, 0, 1, 1, 1}, {4, 3}); }
  static Tensor MeanSquare(const Tensor& y, const Tensor& target) { return Mean(Square(y - target)); }
};

TEST_F(TrainBuffers, AStepUpdatesTheStatisticsOfABatchNorm) {
  for (const CheckpointPolicy& remat : {CheckpointPolicy::Everything(), CheckpointPolicy::Nothing()}) {
    Normalised model(device());
    const Tensor running_mean = model.norm.running_mean;  // A second reference to the buffer.
    const optim::Optimizer sgd = optim::Sgd(0.1, 0.9);
    const auto step = MakeTrainStep(model, MeanSquare, sgd, remat);
    nn::StateDict params = TrainParams(model);
    optim::State state = sgd.Init(params);
    for (const float loss : {2.5192108F, 2.2295470F, 1.7514124F}) {
      auto result = step(params, state, x(), target());
      EXPECT_NEAR(result.loss.Item<float>(), loss, 1e-5);
      params = std::move(result.params);
      state = std::move(result.state);
    }
    EXPECT_EQ(step.traces(), 1);
    EXPECT_THAT(running_mean.ToVector<float>(),
                Pointwise(FloatNear(1e-5F), {0.0301929F, 0.3770474F, 0.0766154F}));
    EXPECT_THAT(model.norm.running_var.ToVector<float>(),
                Pointwise(FloatNear(1e-5F), {2.2288895F, 3.4489722F, 4.1039591F}));
    EXPECT_EQ(model.norm.num_batches_tracked.Item<int64_t>(), 3);
    EXPECT_THAT(params.at("norm.weight").ToVector<float>(),
                Pointwise(FloatNear(1e-5F), {0.6149081F, 0.3170151F, 0.6698006F}));
    EXPECT_THAT(model.fixed.ToVector<float>(), ElementsAre(1, 1, 1));
  }
}

// A loop over steps must not grow: a step is not recorded for Backward(), even for parameters that require
// gradients.
TEST_F(TrainBuffers, AStepIsNotRemembered) {
  Normalised model(device());
  const optim::Optimizer sgd = optim::Sgd(0.1);
  const auto step = MakeTrainStep(model, MeanSquare, sgd);
  nn::StateDict params;
  for (const auto& [name, tensor] : model.NamedParameters()) params[name] = tensor.Clone();
  EXPECT_TRUE(params.at("linear.weight").requires_grad());
  const auto result = step(params, sgd.Init(params), x(), target());
  EXPECT_FALSE(result.loss.requires_grad());
  EXPECT_FALSE(result.params.at("linear.weight").requires_grad());
}

TEST_F(TrainBuffers, AStepOfAModelThatIsNotTrainingLeavesThem) {
  Normalised model(device());
  model.Eval();
  const optim::Optimizer sgd = optim::Sgd(0.1);
  const auto step = MakeTrainStep(model, MeanSquare, sgd);
  const nn::StateDict params = TrainParams(model);
  static_cast<void>(step(params, sgd.Init(params), x(), target()).loss.Item<float>());
  EXPECT_THAT(model.norm.running_mean.ToVector<float>(), ElementsAre(0, 0, 0));
  EXPECT_EQ(model.norm.num_batches_tracked.Item<int64_t>(), 0);
}

TEST_F(TrainBuffers, AFunctionalCallUpdatesTheGivenTensors) {
  const nn::BatchNorm* norm = nullptr;
  Normalised model(device());
  norm = &model.norm;  // BatchNorm's call is const.
  Tensor mean = Zeros({3}, {.device = device()});
  nn::FunctionalCall(*norm, {{"running_mean", mean}}, OnDevice({1, 2, 3, 3, 2, 1}, {2, 3}));
  EXPECT_THAT(mean.ToVector<float>(), Pointwise(FloatNear(1e-6F), {.2F, .2F, .2F}));
  EXPECT_THAT(model.norm.running_mean.ToVector<float>(), ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace hlod

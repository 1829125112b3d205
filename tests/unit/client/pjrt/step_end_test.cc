// Sequences of runs as frameworks make them, written by hand: which run is that of one step too many.
#include "client/pjrt/run/step_end.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace hlod::pjrt {
namespace {

using hlo::Shape;

const Shape kWeights = Shape::Array(hlo::kF32, {8, 8});
const Shape kKey = Shape::Array(hlo::kU32, {2});
const Shape kScalar = Shape::Array(hlo::kF32, {});

// A framework that runs programs until the steps are over.
class Runs {
 public:
  explicit Runs(int64_t steps) : end_(steps) {}
  StepEnd::Array Upload(const Shape& shape) { return {++last_, &shape}; }
  // Returns the result of a run; nullopt instead of the run of one step too many.
  std::optional<StepEnd::Array> Run(const std::string& name, double flops,
                                    const std::vector<StepEnd::Array>& arguments, const Shape& result) {
    if (end_.IsBefore(name, arguments)) return std::nullopt;
    const StepEnd::Array made = Upload(result);
    end_.Ran(name, flops, arguments, {&made, 1});
    return made;
  }

 private:
  StepEnd end_;
  uint64_t last_ = 0;
};

// Returns the number of steps that run of a training of ten, after initialisation by `inits` layers.
int StepsOfTraining(int64_t steps, int inits) {
  Runs runs(steps);
  StepEnd::Array key = runs.Upload(kKey), weights = {};
  for (int i = 0; i < inits; ++i) {
    key = runs.Run("split", 100, {key}, kKey).value();
    weights = runs.Run("normal", 500, {runs.Run("slice", 0, {key}, kKey).value()}, kWeights).value();
    weights = runs.Run("multiply", 64, {weights, runs.Upload(kScalar)}, kWeights).value();
  }
  for (int step = 0; step < 10; ++step) {
    const auto updated = runs.Run("step", 1000, {weights, runs.Upload(kWeights)}, kWeights);
    if (!updated.has_value()) return step;
    weights = *runs.Run("copy", 0, {*updated}, kWeights);
  }
  return 10;
}

TEST(StepEnd, ATrainingEndsAfterItsSteps) {
  EXPECT_EQ(StepsOfTraining(1, 1), 1);
  EXPECT_EQ(StepsOfTraining(3, 1), 3);
  EXPECT_EQ(StepsOfTraining(20, 1), 10);
}

// The initialisation computes as much as four steps: it is none, and the first steps are not seen as such.
TEST(StepEnd, AnInitialisationIsNoStep) {
  EXPECT_EQ(StepsOfTraining(5, 8), 5);
  EXPECT_EQ(StepsOfTraining(2, 8), 4);
}

TEST(StepEnd, AnInferenceEndsAfterItsSteps) {
  Runs runs(3);
  const StepEnd::Array weights = runs.Upload(kWeights);
  for (int batch = 0; batch < 3; ++batch)
    EXPECT_TRUE(runs.Run("predict", 1000, {weights, runs.Upload(kWeights)}, kWeights).has_value());
  EXPECT_FALSE(runs.Run("predict", 1000, {weights, runs.Upload(kWeights)}, kWeights).has_value());
}

// Layers that are made one like the other take nothing of each other.
TEST(StepEnd, IndependentRunsGoOn) {
  Runs runs(1);
  for (int layer = 0; layer < 5; ++layer) {
    const StepEnd::Array loaded = runs.Upload(kWeights);
    EXPECT_TRUE(runs.Run("multiply", 64, {loaded, runs.Upload(kScalar)}, kWeights).has_value());
  }
}

}  // namespace
}  // namespace hlod::pjrt

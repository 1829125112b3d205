// Instructions are in the order of recording, and a user's setting of an operation becomes a parameter once
// it varies.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class ProgramOrder : public TensorTest {
 protected:
  // Runs five steps and returns the number of compiles from the third on.
  int64_t CompilesOnceVaried(const std::function<Tensor(const Tensor& x, int step)>& call) {
    const Tensor x = OnDevice({-1, 2, -3, 4}, {4});
    int64_t compiles = 0;
    for (int step = 0; step < 5; ++step) {
      Sum(call(x, step)).ToVector<float>();
      if (step == 1) compiles = GetTraceStats().compiles;
    }
    return GetTraceStats().compiles - compiles;
  }
};

// The sum's first operand is the later value; an order by traversal from the operands would put tanh before
// exp.
TEST_F(ProgramOrder, InstructionsStandAsTheyWereRecorded) {
  const Tensor x = OnDevice({1, 2}, {2});
  const Tensor first = Exp(x), second = Tanh(x);
  const std::string text = Dump(second + first, DumpFormat::kHlo);
  ASSERT_NE(text.find("exponential("), std::string::npos) << text;
  EXPECT_LT(text.find("exponential("), text.find("tanh(")) << text;
}

// The recomputations of two checkpointed layers are apart: that of the first layer comes after the gradients
// of the second layer, which are its products with cotangents.
TEST_F(ProgramOrder, ALayerIsComputedAgainWhereTheBackwardPassReachesIt) {
  Tensor w = OnDevice({1, 2, 3, 4}, {2, 2}).RequiresGrad_(),
         v = OnDevice({5, 6, 7, 8}, {2, 2}).RequiresGrad_();
  const auto layer = [](const Tensor& weight) {
    return Checkpoint([weight](const Tensor& x) { return Tanh(MatMul(x, weight)); });
  };
  const Tensor x = OnDevice({1, 0, 0, 1}, {2, 2});
  Sum(layer(v)(layer(w)(x))).Backward();
  const std::string text = Dump(w.Grad(), DumpFormat::kHlo);
  std::vector<size_t> barriers;  // One barrier per recomputed layer.
  for (size_t at = 0; (at = text.find("opt-barrier(", at)) != std::string::npos; ++at) barriers.push_back(at);
  ASSERT_EQ(barriers.size(), 2u) << text;
  // The second layer's derivative is used between the two barriers.
  const std::string between = text.substr(barriers[0], barriers[1] - barriers[0]);
  EXPECT_NE(between.find("dot("), std::string::npos) << text;
  EXPECT_NE(between.find("subtract("), std::string::npos) << text;
}

TEST_F(ProgramOrder, WhatIsSetForAnOperationCompilesNoMoreThanTwice) {
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return Dropout(x, .1 + .1 * step); }), 0);
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return AlphaDropout(x, .1 + .1 * step); }), 0);
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return LeakyRelu(x, .1 + .1 * step); }), 0);
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return Elu(x, .1 + .1 * step); }), 0);
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return Celu(x, .1 + .1 * step); }), 0);
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return Softplus(x, 1 + step, 10 + step); }),
            0);
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return Hardtanh(x, -1 - step, 1 + step); }),
            0);
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return Hardshrink(x, 1 + step); }), 0);
  EXPECT_EQ(CompilesOnceVaried([](const Tensor& x, int step) { return Softshrink(x, 1 + step); }), 0);
}

// The gradients are -1 and -3 times 0.1, 0.2 and so on: each step uses its own slope, not that of the first
// step.
TEST_F(ProgramOrder, ASlopeThatChangesIsTheSlopeOfItsStep) {
  const Tensor x = OnDevice({-1, 2, -3, 4}, {4});
  for (int step = 0; step < 4; ++step) {
    const float slope = .1F * static_cast<float>(1 + step);
    EXPECT_THAT(LeakyRelu(x, slope).ToVector<float>(),
                ::testing::Pointwise(::testing::FloatEq(), std::vector<float>{-slope, 2, -3 * slope, 4}))
        << step;
  }
}

}  // namespace
}  // namespace hlod

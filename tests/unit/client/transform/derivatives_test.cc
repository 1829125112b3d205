// Derivatives of operations, compared with PyTorch's, in every mode: functions on the host, Backward() on a
// device.
#include <fstream>
#include <nlohmann/json.hpp>

#include "client/transform/autodiff/control_rules.h"
#include "client/transform/autodiff/rules.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/transform/cases.h"

namespace hlod {
namespace {

using Json = nlohmann::json;
using Ts = std::vector<Tensor>;

const Json& Recorded() {
  static const auto* const recorded = [] {
    std::ifstream file(SourceDir() / "tests/unit/client/transform/derivatives.json");
    return new Json(Json::parse(file));
  }();
  return *recorded;
}

std::vector<double> Values(const Json& array) { return array["values"].get<std::vector<double>>(); }
Dims DimsOf(const Json& array) {
  const auto dims = array["dims"].get<std::vector<int64_t>>();
  return Dims(dims.begin(), dims.end());
}

Ts Inputs(const Json& recorded, const Device& device) {
  Ts inputs;
  for (const Json& input : recorded["inputs"]) {
    inputs.push_back(FromValues<double>(Values(input), DimsOf(input), device));
  }
  return inputs;
}

// Returns cos(0), cos(1), ..., the weights of generate.py.
Tensor Weights(const Tensor& like) {
  return Cos(Arange(0, like.numel(), 1, {.type = kF64, .device = like.device()})).Reshape(like.dims());
}
Tensor Weighted(const Tensor& x) { return Sum(x * Weights(x)); }

// Allows for PyTorch's hardsigmoid and hardswish, which use 1 / 6 rounded to f32.
constexpr double kTolerance = 1e-7;

void ExpectNear(const Tensor& tensor, const Json& expected, const std::string& what) {
  ASSERT_EQ(tensor.dims(), DimsOf(expected)) << what;
  const std::vector<double> values = tensor.ToVector<double>(), wanted = Values(expected);
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(values[i], wanted[i], kTolerance * (1 + std::abs(wanted[i]))) << what << ", element " << i;
  }
}

class Derivatives : public TensorTest, public ::testing::WithParamInterface<std::string> {
 protected:
  const Function& f() const { return DerivativeCases().at(GetParam()); }
  const Json& recorded() const { return Recorded().at(GetParam()); }
  std::function<Tensor(const Ts&)> total() const {
    return [f = f()](const Ts& x) { return Weighted(f(x)); };
  }
};

TEST_P(Derivatives, OfGrad) {
  const Ts inputs = Inputs(recorded(), Device());
  ExpectNear(f()(inputs), recorded()["value"], "value");
  const Ts gradients = Grad(total())(inputs);
  for (size_t i = 0; i < gradients.size(); ++i) {
    ExpectNear(gradients[i], recorded()["gradients"][i], "gradient " + std::to_string(i));
  }
}

TEST_P(Derivatives, OfJvp) {
  const Ts inputs = Inputs(recorded(), Device());
  Ts tangents;
  for (const Tensor& input : inputs) tangents.push_back(Weights(input));
  const auto [value, derivative] = Jvp(total(), std::tuple(inputs), std::tuple(tangents));
  const double expected = recorded()["directional"];
  EXPECT_NEAR(derivative.Item<double>(), expected, kTolerance * (1 + std::abs(expected)));
}

TEST_P(Derivatives, OfTheGradient) {
  if (!recorded().contains("second")) GTEST_SKIP() << "PyTorch has none";
  const Ts inputs = Inputs(recorded(), Device());
  const auto second = Grad([total = total()](const Ts& x) {
    Tensor sum;
    for (const Tensor& gradient : Grad(total)(x)) {
      sum = sum.defined() ? sum + Weighted(gradient) : Weighted(gradient);
    }
    return sum;
  })(inputs);
  for (size_t i = 0; i < second.size(); ++i) {
    ExpectNear(second[i], recorded()["second"][i], "input " + std::to_string(i));
  }
}

TEST_P(Derivatives, OfBackward) {
  for (const bool sync : {false, true}) {
    Ts inputs = Inputs(recorded(), device());
    for (Tensor& input : inputs) input.RequiresGrad_();
    const Tensor y = f()(inputs);
    if (sync) Sync();
    Weighted(y).Backward();
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(inputs[i].Grad().defined());
      ExpectNear(inputs[i].Grad(), recorded()["gradients"][i],
                 (sync ? "after Sync(), input " : "input ") + std::to_string(i));
    }
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, f] : DerivativeCases()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, Derivatives, ::testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

TEST(DerivativeTable, EveryRecordedFunctionIsTested) {
  for (const auto& [name, recorded] : Recorded().items()) {
    EXPECT_TRUE(DerivativeCases().contains(name)) << name;
  }
  EXPECT_EQ(Recorded().size(), DerivativeCases().size());
}

// The names of the opcodes without a rule. A new rule removes a name.
TEST(DerivativeTable, NamesTheOpcodesWithoutATangentRule) {
  std::vector<std::string> without;
  for (int i = 0; i < hlo::kOpcodeCount; ++i) {
    const auto opcode = static_cast<hlo::Opcode>(i);
    // Opcodes that forward and reverse mode handle themselves.
    const bool walked = opcode == hlo::kTuple || opcode == hlo::kGetTupleElement ||
                        opcode == hlo::kOptBarrier || lazy::ControlRulesOf(opcode) != nullptr;
    const bool elsewhere = hlo::HasTrait(opcode, hlo::kOptimizedOnly) ||
                           hlo::HasTrait(opcode, hlo::kCollective) || hlo::HasTrait(opcode, hlo::kSideEffect);
    if (walked || elsewhere || lazy::TheRules().tangent[i] != nullptr) continue;
    without.emplace_back(hlo::Name(opcode));
  }
  // LoadFunction replaces the opcodes of the second line by their definitions.
  EXPECT_THAT(without,
              ::testing::UnorderedElementsAre("stochastic-convert", "set-dimension-size", "dynamic-reshape",
                                              "custom-call", "map", "batch-norm-training",
                                              "batch-norm-inference", "batch-norm-grad", "scaled-dot"));
}

}  // namespace
}  // namespace hlod

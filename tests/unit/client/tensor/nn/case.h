// Layers with recorded weights, inputs and outputs (nn/generate.py).
#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {

class NnCase : public TensorTest {
 protected:
  using json = nlohmann::json;

  struct Root : nn::Module {};  // The parent of the layers under test.

  static const json& Cases() {
    static const json cases =
        json::parse(std::ifstream(SourceDir() / "tests/unit/client/tensor/nn/layers.json"));
    return cases;
  }

  static Dims DimsOf(const json& tensor) {
    const auto dims = tensor.at("dims").get<std::vector<int64_t>>();
    return Dims(dims.begin(), dims.end());
  }

  static Tensor Decode(const json& tensor, PrimitiveType type) {
    return FromValues<double>(tensor.at("values").get<std::vector<double>>(), DimsOf(tensor)).To(type);
  }

  static void ExpectNear(const std::string& name, const json& recorded, const Tensor& output) {
    EXPECT_EQ(output.dims(), DimsOf(recorded)) << name;
    const std::vector<float> got = output.ToVector<float>();
    const auto expected = recorded.at("values").get<std::vector<double>>();
    ASSERT_EQ(got.size(), expected.size()) << name;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << name << " element " << i;
    }
  }

  // Loads the case's weights into `module`, calls it with the inputs on the host and on a device, and
  // compares the result: the output, or a vector of the output and the states.
  template <typename M, typename F>
  void Check(const char* name, M& module, PrimitiveType input_type, F&& call) {
    const json& recorded = Cases().at(name);
    nn::StateDict state;
    for (const auto& [key, tensor] : module.StateDict()) {
      ASSERT_TRUE(recorded.at("state").contains(key)) << name << ": " << key;
      state[key] = Decode(recorded.at("state").at(key), tensor.dtype());
    }
    EXPECT_EQ(state.size(), recorded.at("state").size()) << name;
    module.LoadStateDict(state);
    module.Eval();
    for (const Device& where : {Device(), device()}) {
      module.To(where);
      std::vector<Tensor> inputs;
      for (const json& input : recorded.at("inputs")) inputs.push_back(Decode(input, input_type).To(where));
      const std::vector<Tensor> outputs = Listed(call(inputs));
      ExpectNear(name, recorded.at("output"), outputs[0]);
      const json rest = recorded.value("rest", json::array());
      ASSERT_EQ(outputs.size(), rest.size() + 1) << name;
      for (size_t i = 0; i < rest.size(); ++i) ExpectNear(name, rest[i], outputs[i + 1]);
      if (recorded.contains("gradients")) CheckGradients(name, module, outputs);
    }
  }

 private:
  // Compares the gradients of the sum of the outputs' squares.
  static void CheckGradients(const char* name, nn::Module& module, const std::vector<Tensor>& outputs) {
    Tensor sum = Sum(outputs[0] * outputs[0]);
    for (size_t i = 1; i < outputs.size(); ++i) sum = sum + Sum(outputs[i] * outputs[i]);
    sum.Backward();
    for (const auto& [key, parameter] : module.NamedParameters()) {
      ExpectNear(name + (": " + key), Cases().at(name).at("gradients").at(key), parameter.Grad());
      Tensor(parameter).ZeroGrad();
    }
  }

  static std::vector<Tensor> Listed(const Tensor& output) { return {output}; }
  static std::vector<Tensor> Listed(std::vector<Tensor> outputs) { return outputs; }
};

}  // namespace hlod

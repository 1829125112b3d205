// Rounds of a client that trains with tensors.
#include <hlod/tensors.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "tests/soak/kinds.h"

namespace hlod::soak {
namespace {

struct Mlp : nn::Module {
  nn::Linear up{*this, "up", 16, 32}, down{*this, "down", 32, 4};
  Tensor operator()(const Tensor& x) const { return down(Relu(up(x))); }
};

}  // namespace

// Each round trains a new model from the same seed: its loss must be that of the first round.
Round OpenTensors(Place& place) {
  setenv("HLOD_ADDRESS", place.unix_address.c_str(), 1);
  return [first = std::optional<float>()]() mutable {
    const Device device = DefaultDevice();
    ManualSeed(1);
    Mlp model;
    model.To(device);
    const Tensor x = Ones({8, 16}, {.type = kF32}).To(device), y = Zeros({8}, {.type = kS64}).To(device);
    Adam adam(model.Parameters(), {.lr = 1e-2});
    float loss = 0;
    for (int i = 0; i < 3; ++i) {
      adam.ZeroGrad();
      const Tensor error = CrossEntropy(model(x), y);
      error.Backward();
      adam.Step();
      loss = error.Item<float>();
    }
    Expect(std::isfinite(loss) && loss == first.value_or(loss),
           "a loss differs from that of the first round");
    first = loss;
  };
}

}  // namespace hlod::soak

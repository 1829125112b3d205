// A small training program for the tests of `hloctl check -- PROGRAM`: ordinary code, which does not know
// that it is checked. Its one argument selects an oddity.
#include <signal.h>

#include <cstdio>
#include <string>
#include <vector>

#include "hlod/optim/optimizers.h"
#include "hlod/tensors.h"

namespace nn = hlod::nn;
using hlod::Tensor;

// The weights are 4096 x 1024 and 1024 x 1024 floats.
struct Model : nn::Module {
  nn::Linear up{*this, "up", 1024, 4096}, down{*this, "down", 4096, 1024};
  Tensor operator()(const Tensor& x) const { return down(hlod::Relu(up(x))); }  // model line
};

int main(int argc, char** argv) try {
  const std::string odd = argc > 1 ? argv[1] : "";
  if (odd == "never_connects") return 0;
  if (odd == "exits_early") return 7;
  const hlod::Device device = hlod::DefaultDevice();
  if (odd == "never_runs") return 0;
  if (odd == "killed") raise(SIGKILL);
  if (odd == "small") {  // Only small arrays: 1 + 1, twice.
    for (int i = 0; i < 2; ++i) {
      Tensor two = hlod::Ones({2}, {.device = device}) + 1;
      hlod::Sync();
      if (hlod::Sum(two).Item<float>() != 4) return 9;
    }
    return 0;
  }
  Model model;
  model.To(device);
  hlod::Adam adam(model.Parameters(), {.lr = 1e-3});
  // Two batches of 2 MiB, which are never sent under check.
  const std::vector<float> batch(512 * 1024, 0.5f);
  for (int step = 0; step < 3; ++step) {
    const Tensor x = hlod::FromValues<float>(batch, hlod::Dims{512, 1024}).To(device);  // data line
    Tensor loss = hlod::Mean(hlod::Square(model(x)));
    loss.Backward();
    if (odd == "never_steps") {
      std::printf("loss %s\n", loss.ToString().c_str());
      return 0;
    }
    if (odd == "item_before_step" && loss.Item<float>() > 100) return 8;  // stop line
    adam.Step();                                                          // step line
    adam.ZeroGrad();
    hlod::Sync();  // sync line
    if (odd == "prints") std::printf("loss %s\n", loss.ToString().c_str());
    if (odd == "item" && loss.Item<float>() < 0) return 8;  // item line
  }
  if (odd == "exits_late") return 3;
  std::puts("done");
} catch (const std::exception& error) {
  std::fprintf(stderr, "train_program: %s\n", error.what());
  return 1;
}

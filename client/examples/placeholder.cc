// A model larger than any machine at hand: built, lowered and printed without its bytes; reading a value
// throws.
#include <hlod/tensors.h>

#include <cstdio>

namespace nn = hlod::nn;
using hlod::Tensor;

// One feed-forward block of a model of 405 billion parameters: 5 GiB of weights.
struct FeedForward : nn::Module {
  explicit FeedForward(const hlod::Device& device)
      : up(hlod::Placeholder({16384, 53248}, hlod::kBF16, device)),
        down(hlod::Placeholder({53248, 16384}, hlod::kBF16, device)) {
    RegisterParameter("up", up);
    RegisterParameter("down", down);
  }
  Tensor operator()(const Tensor& x) const { return hlod::MatMul(hlod::Relu(hlod::MatMul(x, up)), down) + x; }

  Tensor up, down;
};

int main() {
  const hlod::Device device = hlod::DefaultDevice();
  const FeedForward block(device);
  const Tensor x = hlod::Randn({8, 16384}, {.type = hlod::kBF16, .device = device});
  const Tensor y = block(x);  // Traced: shapes and types are known, and no data is sent.

  for (const auto& [name, parameter] : block.NamedParameters()) {
    std::printf("%s: %s\n", name.c_str(), parameter.Describe().c_str());
  }
  std::printf("%s\n", hlod::Dump(y).c_str());
  try {
    y.ToHost();
  } catch (const hlod::Error& error) {
    std::printf("refused: %s\n", error.what());
  }
  const hlod::SessionStats account = hlod::DefaultEnvironment().client().Stats().value();
  std::printf("bytes moved %ld, bytes on the device %ld\n", static_cast<long>(account.host_to_device.bytes),
              static_cast<long>(account.live_bytes));
}

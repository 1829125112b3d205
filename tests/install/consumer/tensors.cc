// Computes 2x + y with tensors on a device that lives in another process.
#include <hlod/tensors.h>

#include <cstdio>

int main() {
  const hlod::Device device = hlod::DefaultDevice();
  const hlod::Tensor x = hlod::Ones({4}).To(device);
  const hlod::Tensor y = hlod::Arange(0, 4, 1, {.type = hlod::kF32, .device = device});
  for (const float value : (2 * x + y).ToVector<float>()) std::printf("%g\n", value);  // 2 3 4 5
}

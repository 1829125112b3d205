// A program in two places: data is prepared on the host and computed with on the device, and every byte
// transferred is counted, with the line that caused it.
#include <hlod/tensors.h>

#include <cstdio>

int main() {
  // The running daemon's device, or that of a private one.
  const hlod::Device device = hlod::DefaultDevice();

  // Tensors without a device are ordinary values of this process.
  const hlod::Tensor samples = hlod::Arange(0, 12, 1, {.type = hlod::kF32}).Reshape({4, 3});
  const hlod::Tensor centred = samples - hlod::Mean(samples, {0}, /*keepdim=*/true);

  // One explicit upload. The operations after it are recorded, not run.
  const hlod::Tensor x = centred.To(device);
  const hlod::Tensor covariance = hlod::MatMul(x.T(), x) / 3;

  // A host tensor among device tensors is an error unless a scope allows it; then it is copied, and the copy
  // is counted.
  const hlod::Tensor weights = hlod::FromValues<float>({1, 10, 100});
  try {
    static_cast<void>(covariance * weights);
  } catch (const hlod::Error& error) {
    std::printf("refused: %s\n", error.what());
  }
  const hlod::SettingsScope scope({.mixed_devices = hlod::MixedDevices::kImplicit});
  const hlod::Tensor weighted = covariance * weights;

  std::printf("%s\n", weighted.ToString().c_str());  // Runs the trace and reads the result: one execute.

  const hlod::SessionStats account = hlod::DefaultEnvironment().client().Stats().value();
  std::printf("executes %ld\n", static_cast<long>(account.executes));
  for (const hlod::LedgerRow& row : account.rows) {
    std::printf("%-16s %4ld bytes  %s\n", std::string(hlod::Name(row.cause)).c_str(),
                static_cast<long>(row.amount.bytes), ToString(row.origin).c_str());
  }
}

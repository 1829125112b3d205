// Automatic mixed precision: operations that profit from a lower precision run in it, those that need f32
// keep it.
#pragma once

#include <optional>

#include "hlod/runtime/caller.h"
#include "hlod/runtime/device.h"
#include "hlod/runtime/types.h"

namespace hlod {

// The lists that decide the type in which each operation is computed: client/tensor/dispatch/autocast.inc.
enum class AutocastProfile {
  kXla,   // PyTorch/XLA's.
  kCuda,  // PyTorch's on CUDA.
  kCpu,   // PyTorch's on the CPU.
};

struct AutocastOptions {
  bool enabled = true;  // False: a region, inside another one, that computes in its operands' own types.
  bool cache = true;    // A weight (f32, requires_grad) is converted once in the outermost region.
  std::optional<AutocastProfile> profile = {};  // Unset: kXla for devices, kCpu for the host.
};

// The autocast state of a thread: one for tensors of the host, one for those of devices.
struct AutocastRegion {
  bool enabled = false, cache = true;
  PrimitiveType type = hlo::kBF16;
  AutocastProfile profile = AutocastProfile::kXla;
};

// torch.autocast: until it is destroyed, also by an exception, this thread's operations convert their
// floating operands, but f64, as the profile says. Regions nest; the inner one counts. Updates in place are
// left alone.
//   { hlod::Autocast autocast(hlod::kBF16); loss = Loss(model(x), y); }
// A type other than bf16 and f16 warns on stderr and disables the region, as PyTorch does.
class Autocast {
 public:
  // Applies to tensors of devices and of the host.
  explicit Autocast(PrimitiveType type = hlo::kBF16, const AutocastOptions& options = {});
  // Applies only to tensors of the host when `device` is the host, else only to tensors of devices.
  Autocast(const Device& device, PrimitiveType type = hlo::kBF16, const AutocastOptions& options = {});
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  void Enter(bool host, PrimitiveType type, const AutocastOptions& options);

  AutocastRegion outer_host_, outer_device_;
};

// Returns the type that autocast lowers to on `device` in this thread; nullopt outside an enabled region.
std::optional<PrimitiveType> AutocastType(const Device& device);

}  // namespace hlod

// Automatic mixed precision: operations that profit from a lower precision run in it; those that need f32
// keep it.
#pragma once

#include <optional>

#include "hlod/runtime/caller.h"
#include "hlod/runtime/device.h"
#include "hlod/runtime/types.h"

namespace hlod {

// The lists that determine the type in which each operation is computed: client/tensor/dispatch/autocast.inc.
enum class AutocastProfile {
  kXla,   // The lists of PyTorch/XLA.
  kCuda,  // The lists of PyTorch on CUDA.
  kCpu,   // The lists of PyTorch on the CPU.
};

struct AutocastOptions {
  bool enabled = true;  // False: inside another region, operations compute in the types of their operands.
  bool cache = true;    // A weight (f32, requires_grad) is converted only once in the outermost region.
  std::optional<AutocastProfile> profile = {};  // nullopt: kXla for devices, kCpu for the host.
};

// The autocast state of a thread: one for host tensors, one for device tensors.
struct AutocastRegion {
  bool enabled = false, cache = true;
  PrimitiveType type = hlo::kBF16;
  AutocastProfile profile = AutocastProfile::kXla;
};

// torch.autocast: while it exists, this thread's operations convert their floating operands, except f64, as
// the profile says. Regions nest; the inner one applies. Updates in place are not affected.
//   { hlod::Autocast autocast(hlod::kBF16); loss = Loss(model(x), y); }
// A type other than bf16 and f16 warns on stderr and disables the region, as PyTorch does.
class Autocast {
 public:
  // Applies to device tensors and host tensors.
  explicit Autocast(PrimitiveType type = hlo::kBF16, const AutocastOptions& options = {});
  // Applies only to host tensors when `device` is the host, otherwise only to device tensors.
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

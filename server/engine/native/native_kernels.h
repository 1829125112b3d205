// The registry of native kernels: what the libraries that the configuration names have, by target. Nothing
// that a client sends opens a library.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/module.h"
#include "server/engine/run/step.h"
#include "server/include/hlod/native_kernel.h"

namespace hlod::engine {

// Filled when the daemon starts, constant afterwards. Libraries are never closed, so that a plan may outlive
// the registry.
class NativeKernels {
 public:
  // INVALID_ARGUMENT naming the file and what is wrong: it cannot be loaded, exports no table, has another
  // ABI version, an empty target, or one that hlod or another library has.
  static absl::StatusOr<std::shared_ptr<const NativeKernels>> Load(absl::Span<const std::string> paths);

  // Adds what a table has; `library` names it in errors.
  absl::Status Add(const hlod_kernel_table* table, const std::string& library);

  // Null when there is none.
  const hlod_kernel* Find(std::string_view target) const;
  // Sorted.
  std::vector<std::string> targets() const;
  // What is known beside an unknown target: " (registered: ...)" with the nearest names, or that none is.
  std::string Nearest(std::string_view target) const;

 private:
  struct Registered {
    hlod_kernel kernel;
    std::string library;
  };
  std::map<std::string, Registered, std::less<>> kernels_;
};

// UNIMPLEMENTED naming what a native kernel is not given: tokens, called computations.
absl::Status CheckNativeCall(hlo::Instruction instruction);

// A custom-call that CheckNativeCall passed, run by `kernel`. Its inputs and outputs are the array leaves of
// operands and result. An error of the kernel is INTERNAL, naming the target and what the kernel says.
std::unique_ptr<Step> MakeNativeStep(hlo::Instruction instruction, const hlod_kernel& kernel);

}  // namespace hlod::engine

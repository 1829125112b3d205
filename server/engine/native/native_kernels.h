// The registry of native kernels, by target, from the libraries named in the configuration. A client's
// messages cannot open a library.
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

// The kernels are registered when the daemon starts and do not change afterwards. Libraries are never closed,
// so that a plan may outlive the registry.
class NativeKernels {
 public:
  // Returns INVALID_ARGUMENT naming the file and the reason: it cannot be loaded, exports no table, has
  // another ABI version, an empty target, or a target of hlod or of another library.
  static absl::StatusOr<std::shared_ptr<const NativeKernels>> Load(absl::Span<const std::string> paths);

  // Adds the kernels of a table; `library` names it in errors.
  absl::Status Add(const hlod_kernel_table* table, const std::string& library);

  // Returns null if there is none.
  const hlod_kernel* Find(std::string_view target) const;
  // The targets, sorted.
  std::vector<std::string> targets() const;
  // Returns a text to append to an error about an unknown target: " (registered: ...)" with the nearest
  // names, or that there are none.
  std::string Nearest(std::string_view target) const;

 private:
  struct Registered {
    hlod_kernel kernel;
    std::string library;
  };
  std::map<std::string, Registered, std::less<>> kernels_;
};

// Returns UNIMPLEMENTED naming what native kernels do not support: tokens, called computations.
absl::Status CheckNativeCall(hlo::Instruction instruction);

// Returns a step that runs, by `kernel`, a custom-call that CheckNativeCall accepted. Its inputs and outputs
// are the array leaves of operands and result. An error of the kernel becomes INTERNAL, naming the target and
// the kernel's message.
std::unique_ptr<Step> MakeNativeStep(hlo::Instruction instruction, const hlod_kernel& kernel);

}  // namespace hlod::engine

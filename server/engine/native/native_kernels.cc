// Opens libraries, and looks their kernels up.
#include "server/engine/native/native_kernels.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/errors/status.h"
#include "common/base/text/edit_distance.h"
#include "common/evaluator/custom_calls.h"

namespace hlod::engine {
namespace {

constexpr char kSymbol[] = "hlod_native_kernels";
constexpr size_t kNearest = 3;  // The number of names in a message.

}  // namespace

absl::StatusOr<std::shared_ptr<const NativeKernels>> NativeKernels::Load(
    absl::Span<const std::string> paths) {
  auto kernels = std::make_shared<NativeKernels>();
  for (const std::string& path : paths) {
    // dlopen would search the system's paths for a name without a slash.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::string_view why = dlerror();
      if (why.starts_with(file + ": ")) why.remove_prefix(file.size() + 2);
      return InvalidArgument("%s cannot be loaded: %s", path, why);
    }
    using Export = const hlod_kernel_table* (*)();
    const auto table = reinterpret_cast<Export>(dlsym(library, kSymbol));
    if (table == nullptr) return InvalidArgument("%s does not export %s", path, kSymbol);
    RETURN_IF_ERROR(kernels->Add(table(), path));
  }
  return kernels;
}

absl::Status NativeKernels::Add(const hlod_kernel_table* table, const std::string& library) {
  if (table == nullptr) return InvalidArgument("%s has no table: %s() is null", library, kSymbol);
  if (table->abi != HLOD_NATIVE_KERNEL_ABI) {
    return InvalidArgument("%s is built for version %d of native kernels; this daemon has version %d",
                           library, table->abi, HLOD_NATIVE_KERNEL_ABI);
  }
  for (uint32_t i = 0; i < table->count; ++i) {
    const hlod_kernel& kernel = table->kernels[i];
    if (kernel.target == nullptr || *kernel.target == '\0' || kernel.run == nullptr)
      return InvalidArgument("kernel %d of %s has no target, or no function", i, library);
    if (IsOwnCustomCallTarget(kernel.target)) {
      return InvalidArgument("%s has a kernel for the target \"%s\", which is hlod's own", library,
                             kernel.target);
    }
    const auto [it, added] = kernels_.try_emplace(kernel.target, Registered{kernel, library});
    if (!added) {
      return InvalidArgument("%s has a kernel for the target \"%s\", and %s has one, too", library,
                             kernel.target, it->second.library);
    }
  }
  return absl::OkStatus();
}

const hlod_kernel* NativeKernels::Find(std::string_view target) const {
  const auto it = kernels_.find(target);
  return it == kernels_.end() ? nullptr : &it->second.kernel;
}

std::vector<std::string> NativeKernels::targets() const {
  std::vector<std::string> targets;
  for (const auto& [target, registered] : kernels_) targets.push_back(target);
  return targets;
}

std::string NativeKernels::Nearest(std::string_view target) const {
  std::vector<std::string> names = targets();
  if (names.empty()) return "no native kernel is registered";
  const size_t shown = std::min(names.size(), kNearest);
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return EditDistance(name, target); });
  names.resize(shown);
  return absl::StrFormat("%s of the %d registered native kernels: %s",
                         shown == kernels_.size() ? "all" : "nearest", kernels_.size(),
                         absl::StrJoin(names, ", "));
}

}  // namespace hlod::engine

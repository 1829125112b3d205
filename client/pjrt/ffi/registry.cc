// Tables of functions and types.
#include "client/pjrt/ffi/registry.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/pjrt/ffi/call.h"
#include "client/pjrt/ffi/errors.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt::ffi {
namespace {

struct Type {
  std::string name;
  void (*deleter)(void*) = nullptr;
};

struct Registry {
  absl::Mutex mu;
  std::map<std::pair<std::string, bool>, Target> targets ABSL_GUARDED_BY(mu);  // By name and `is_own`.
  std::map<int64_t, Type> types ABSL_GUARDED_BY(mu);

  static Registry& Get() {
    static auto* const registry = new Registry;  // Never destroyed: calls may run while the process ends.
    return *registry;
  }
};

bool IsSame(const Target& a, const Target& b) {
  return a.handlers.instantiate == b.handlers.instantiate && a.handlers.prepare == b.handlers.prepare &&
         a.handlers.initialize == b.handlers.initialize && a.handlers.execute == b.handlers.execute &&
         a.untyped == b.untyped;
}

absl::Status Add(std::string_view name, const Target& target) {
  Registry& registry = Registry::Get();
  absl::MutexLock lock(&registry.mu);
  const auto [found, is_new] = registry.targets.try_emplace({std::string(name), target.is_own}, target);
  if (is_new || IsSame(found->second, target)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrFormat("Another foreign function is registered as %s.", std::string(name)));
}

// Asks the function for the version of its interface.
absl::Status CheckVersion(std::string_view name, Handler* handler) {
  Metadata metadata = {};
  metadata.struct_size = kMetadataSize;
  metadata.api_version.struct_size = sizeof(metadata.api_version);
  MetadataExtension extension = {};
  extension.struct_size = sizeof(extension);
  extension.type = kMetadataExtension;
  extension.metadata = &metadata;
  CallFrame frame = {};
  frame.struct_size = kFrameSize;
  frame.extension_start = &extension;
  frame.api = &FunctionsForHandlers();
  if (absl::Status status = Take(handler(&frame)); !status.ok()) return status;
  if (metadata.api_version.major_version == kMajorVersion) return absl::OkStatus();
  return InvalidArgument("The foreign function %s has version %d.%d of XLA's interface; hlod has %d.%d.",
                         name, metadata.api_version.major_version, metadata.api_version.minor_version,
                         kMajorVersion, kMinorVersion);
}

}  // namespace

absl::Status Register(std::string_view name, const Handlers& handlers, bool is_own) {
  if (handlers.execute == nullptr)
    return InvalidArgument("The foreign function %s has no handler that executes.", name);
  RETURN_IF_ERROR(CheckVersion(name, handlers.execute));
  return Add(name, {.handlers = handlers, .is_own = is_own});
}

absl::Status RegisterUntyped(std::string_view name, void* function, bool is_own) {
  if (function == nullptr) return InvalidArgument("The foreign function %s is null.", name);
  return Add(name, {.untyped = function, .is_own = is_own});
}

std::optional<Target> FindTarget(std::string_view name) {
  Registry& registry = Registry::Get();
  absl::MutexLock lock(&registry.mu);
  for (const bool is_own : {true, false}) {
    const auto found = registry.targets.find({std::string(name), is_own});
    if (found != registry.targets.end()) return found->second;
  }
  return std::nullopt;
}

absl::StatusOr<int64_t> RegisterType(std::string_view name, int64_t id, void (*deleter)(void*)) {
  Registry& registry = Registry::Get();
  absl::MutexLock lock(&registry.mu);
  for (const auto& [known, type] : registry.types) {
    if (type.name != name) continue;
    if (id == 0 || id == known) return known;
    return InvalidArgument("The type %s is registered as %d, not as %d.", name, known, id);
  }
  if (id == 0) id = registry.types.empty() ? 1 : registry.types.rbegin()->first + 1;
  if (!registry.types.try_emplace(id, Type{std::string(name), deleter}).second)
    return InvalidArgument("The type %s cannot have the number %d, which another type has.", name, id);
  return id;
}

void (*DeleterOf(int64_t type_id))(void*) {
  Registry& registry = Registry::Get();
  absl::MutexLock lock(&registry.mu);
  const auto found = registry.types.find(type_id);
  return found == registry.types.end() ? nullptr : found->second.deleter;
}

}  // namespace hlod::pjrt::ffi

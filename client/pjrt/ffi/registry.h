// The foreign functions of this process that programs may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/pjrt/ffi/abi.h"

namespace hlod::pjrt::ffi {

// The function for the custom calls of one name: its handlers or, for the older interface without types, its
// address. `is_own` is true when it was registered for hlod, and not for the CPU: it is then preferred to
// what the daemon has under that name.
struct Target {
  Handlers handlers = {};
  void* untyped = nullptr;
  bool is_own = false;
};

// Registers a function. ALREADY_EXISTS when another one has the name on the same platform; INVALID_ARGUMENT
// without a function that executes, or for an interface of another major version.
absl::Status Register(std::string_view name, const Handlers& handlers, bool is_own);
// Registers a function of the older interface: void(void* out, const void** in), with more arguments in later
// versions; each call states its version. ALREADY_EXISTS as above.
absl::Status RegisterUntyped(std::string_view name, void* function, bool is_own);
// Returns the function that serves calls of this name, nullopt when there is none.
std::optional<Target> FindTarget(std::string_view name);

// Registers a type of user data or state. `id` is 0 for a new type, else the number that it must have.
absl::StatusOr<int64_t> RegisterType(std::string_view name, int64_t id, void (*deleter)(void*));
// Returns the deleter of a type; null when it has none.
void (*DeleterOf(int64_t type_id))(void*);

}  // namespace hlod::pjrt::ffi

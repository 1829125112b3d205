// The default device, the settings and where they come from, and scopes of settings. They determine where
// tensors live and how strict the rules between devices are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hlod/runtime/caller.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/device.h"

namespace hlod {

// The reaction to an operation on both a host tensor and a device tensor: throw, copy the host tensor with a
// warning, or copy it silently.
enum class MixedDevices { kError, kWarn, kImplicit };

// Settings to change; those that are nullopt keep their values.
struct Settings {
#define HLOD_SETTING(type, name, value, meaning) std::optional<type> name = {};
#include "hlod/tensor/settings.inc"
#undef HLOD_SETTING
};

// Changes settings of this thread until the scope is destroyed; scopes nest.
//   { hlod::SettingsScope scope({.mixed_devices = hlod::MixedDevices::kImplicit}); y = x + host; }
class SettingsScope {
 public:
  explicit SettingsScope(const Settings& settings, Caller caller = Caller::Here());
  ~SettingsScope();
  SettingsScope(const SettingsScope&) = delete;
  SettingsScope& operator=(const SettingsScope&) = delete;
};

// A connection that tensors live on. Copies refer to the same one. It stays open until End() is called or the
// process ends, even when all its tensors and Clients are destroyed. Its tensors throw when they are used
// after End().
class Environment {
 public:
  explicit Environment(Client client);

  Client client(Caller caller = Caller::Here()) const;
  // Returns one device. Tensors made without a device live on device 0 when native_host_tensors is false.
  Device device(int ordinal = 0, Caller caller = Caller::Here()) const;

  // Changes settings of the process, for every thread; scopes override them. Throws for a value out of range.
  void Set(const Settings& settings, Caller caller = Caller::Here());
  // Returns one line per setting: name, value, and the value's origin (default, environment variable,
  // file:line).
  std::string Describe(Caller caller = Caller::Here()) const;

  // Restarts the random numbers of this environment's devices.
  void ManualSeed(uint64_t seed, Caller caller = Caller::Here());

  // Closes the connection: from then on, reading its tensors, computing with them and asking for its devices
  // throws.
  void End();

 private:
  friend Environment& DefaultEnvironment();
  struct State;
  explicit Environment(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// The environment of the process. It connects, as Client::Connect() does, when a device is first used. Assign
// another environment before that to choose the connection.
Environment& DefaultEnvironment();
// Returns the first device of the default environment: the running daemon's, or a private one's.
Device DefaultDevice(Caller caller = Caller::Here());
// Sets the seed of every environment of the process, and of the host. torch.manual_seed.
void ManualSeed(uint64_t seed);

// The settings of this thread, with those of the process and of scopes applied.
struct CurrentSettings {
#define HLOD_SETTING(type, name, value, meaning) type name = value;
#include "hlod/tensor/settings.inc"
#undef HLOD_SETTING
};
CurrentSettings GetSettings(Caller caller = Caller::Here());

}  // namespace hlod

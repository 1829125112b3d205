// A device of the daemon, and its description.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/pjrt/devices/held_memory.h"
#include "client/pjrt/devices/memory.h"
#include "hlod/runtime/device.h"

namespace hlod::pjrt {

// The name by which frameworks know the plugin's devices.
inline constexpr std::string_view kPlatformName = "hlod";

// The description of a device, which is the same with and without a daemon.
class DeviceDescription {
 public:
  // `process` is the one that has the device, of those that run programs together.
  DeviceDescription(int id, std::string kind, int process = 0);
  int id() const { return id_; }
  int process() const { return process_; }
  const std::string& kind() const { return kind_; }
  const std::string& text() const { return text_; }        // "hlod:0"
  const std::string& details() const { return details_; }  // The name with the kind.

 private:
  const int id_, process_;
  const std::string kind_, text_, details_;
};

class Device {
 public:
  Device(Client& client, hlod::Device runtime, int process = 0);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Client& client() const { return client_; }
  const hlod::Device& runtime() const { return runtime_; }
  int ordinal() const { return runtime_.ordinal(); }
  DeviceDescription& description() { return description_; }
  // Returns false for a device of another process, which has no memories here.
  bool is_addressable() const { return !memories_.empty(); }
  // Returns the number among the addressable devices.
  int local_id() const;
  const std::vector<Memory*>& memories() const { return memories_; }
  // INVALID_ARGUMENT for a device of another process.
  absl::StatusOr<Memory*> default_memory() const;

  // The memory of the buffers that the framework holds on the device, and that its programs run in.
  HeldMemory& held() { return held_; }

 private:
  Client& client_;
  const hlod::Device runtime_;
  DeviceDescription description_;
  std::vector<std::unique_ptr<Memory>> owned_;
  std::vector<Memory*> memories_;  // One per kind, if the device is addressable.
  HeldMemory held_;
};

}  // namespace hlod::pjrt

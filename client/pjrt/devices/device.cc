// Devices, and the entries about them.
#include "client/pjrt/devices/device.h"

#include <iterator>
#include <utility>

#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/runtime/session/session.h"

namespace hlod::pjrt {

DeviceDescription::DeviceDescription(int id, std::string kind, int process)
    : id_(id),
      process_(process),
      kind_(std::move(kind)),
      text_(absl::StrCat(ToAbsl(kPlatformName), ":", id)),
      details_(absl::StrCat(text_, " (", kind_, ")")) {}

Device::Device(Client& client, hlod::Device runtime, int process)
    : client_(client),
      runtime_(std::move(runtime)),
      description_(runtime_.ordinal(), runtime_.info().kind, process) {
  if (process != client.place().process) return;
  constexpr int kinds = static_cast<int>(std::size(kMemoryKinds));
  for (int kind = 0; kind < kinds; ++kind) {
    owned_.push_back(std::make_unique<Memory>(*this, ordinal() * kinds + kind, kind));
    memories_.push_back(owned_.back().get());
  }
}

int Device::local_id() const { return ordinal() - client_.place().first_device; }

absl::StatusOr<Memory*> Device::default_memory() const {
  if (is_addressable()) return memories_.front();
  return InvalidArgument("Device %d is of process %d, and only that process can use it.", ordinal(),
                         description_.process());
}

absl::Status Serve(abi::DeviceDescription_Id_Args& args) {
  RETURN_IF_ERROR(Given(args.device_description, "device_description"));
  args.id = args.device_description->id();
  return absl::OkStatus();
}

absl::Status Serve(abi::DeviceDescription_ProcessIndex_Args& args) {
  RETURN_IF_ERROR(Given(args.device_description, "device_description"));
  args.process_index = args.device_description->process();
  return absl::OkStatus();
}

absl::Status Serve(abi::DeviceDescription_Attributes_Args& args) {
  RETURN_IF_ERROR(Given(args.device_description, "device_description"));
  args.attributes = nullptr;
  args.num_attributes = 0;
  return absl::OkStatus();
}

absl::Status Serve(abi::DeviceDescription_Kind_Args& args) {
  RETURN_IF_ERROR(Given(args.device_description, "device_description"));
  args.device_kind = args.device_description->kind().data();
  args.device_kind_size = args.device_description->kind().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::DeviceDescription_DebugString_Args& args) {
  RETURN_IF_ERROR(Given(args.device_description, "device_description"));
  args.debug_string = args.device_description->details().data();
  args.debug_string_size = args.device_description->details().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::DeviceDescription_ToString_Args& args) {
  RETURN_IF_ERROR(Given(args.device_description, "device_description"));
  args.to_string = args.device_description->text().data();
  args.to_string_size = args.device_description->text().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Device_GetDescription_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  args.device_description = &args.device->description();
  return absl::OkStatus();
}

absl::Status Serve(abi::Device_IsAddressable_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  args.is_addressable = args.device->is_addressable();
  return absl::OkStatus();
}

absl::Status Serve(abi::Device_LocalHardwareId_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  args.local_hardware_id = args.device->is_addressable() ? args.device->local_id() : -1;
  return absl::OkStatus();
}

absl::Status Serve(abi::Device_AddressableMemories_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  args.memories = args.device->memories().data();
  args.num_memories = args.device->memories().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Device_DefaultMemory_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  ASSIGN_OR_RETURN(args.memory, args.device->default_memory());
  return absl::OkStatus();
}

absl::Status Serve(abi::Device_GetAttributes_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  args.attributes = nullptr;
  args.num_attributes = 0;
  args.device_attributes = nullptr;
  args.attributes_deleter = [](abi::Device_Attributes*) {};  // Frameworks call it for an empty list, too.
  return absl::OkStatus();
}

// Reports the figures of this process. Those of the daemon, which other programs and processes share, would
// cost a round trip, and frameworks ask before every compilation.
absl::Status Serve(abi::Device_MemoryStats_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  abi::Device_MemoryStats_Args stats = {};  // The caller's struct need not be clear.
  stats.device = args.device;
  args.device->client().session()->Drain();  // Arrays that the daemon has refused by now do not count.
  const HeldMemory::Figures held = args.device->held().figures();
  stats.bytes_in_use = held.in_use;
  stats.peak_bytes_in_use = held.peak;
  stats.peak_bytes_in_use_is_set = true;
  stats.bytes_limit = args.device->runtime().info().memory_bytes;
  stats.bytes_limit_is_set = true;
  args = stats;
  return absl::OkStatus();
}

absl::Status Serve(abi::Device_ClearMemoryStats_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  args.device->held().ForgetPeak();
  return absl::OkStatus();
}

// A part of a framework's own work on a device, for its tracing: begins when it is created, ends when it is
// destroyed. The daemon's work has its own records.
class AsyncTrackingEvent {};

absl::Status Serve(abi::Device_CreateAsyncTrackingEvent_Args& args) {
  RETURN_IF_ERROR(Given(args.device, "device"));
  args.event = new AsyncTrackingEvent;
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncTrackingEvent_Destroy_Args& args) {
  delete args.event;
  return absl::OkStatus();
}

}  // namespace hlod::pjrt

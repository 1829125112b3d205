// The entries about topologies.
#include "client/pjrt/topology.h"

#include <iterator>
#include <string>
#include <utility>

#include "client/pjrt/devices/device.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/programs/bytes.h"

namespace hlod::pjrt {

// Frameworks look for these words to learn that a platform compiles for present devices alone.
absl::Status Serve(abi::TopologyDescription_Create_Args& args) {
  return Unimplemented("topology not implemented: hlod compiles for the devices of a daemon that is there.");
}

// Frameworks compare the bytes; they are not read again.
absl::Status Serve(abi::TopologyDescription_Serialize_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  std::string bytes = args.topology->version();
  for (const DeviceDescription* const description : args.topology->descriptions())
    absl::StrAppend(&bytes, "\n", description->details());
  ReturnBytes(std::move(bytes), &args.serialized_bytes, &args.serialized_bytes_size,
              &args.serialized_topology, &args.serialized_topology_deleter);
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_Destroy_Args& args) {
  return absl::OkStatus();  // A client's topology belongs to the client.
}

absl::Status Serve(abi::TopologyDescription_PlatformName_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  args.platform_name = kPlatformName.data();
  args.platform_name_size = kPlatformName.size();
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_PlatformVersion_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  args.platform_version = args.topology->version().data();
  args.platform_version_size = args.topology->version().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_GetDeviceDescriptions_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  args.descriptions = args.topology->descriptions().data();
  args.num_descriptions = args.topology->descriptions().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_Attributes_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  args.attributes = nullptr;
  args.num_attributes = 0;
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_Fingerprint_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  uint64_t hash = 14695981039346656037u;  // FNV-1a: the same in every process.
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  };
  add(args.topology->version());
  for (const DeviceDescription* const description : args.topology->descriptions())
    add(description->details());
  args.fingerprint = hash;
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_GetMemorySpaceKindIds_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  static constexpr int kIds[] = {0, 1, 2};
  static_assert(std::size(kIds) == std::size(kMemoryKinds));
  args.memory_space_kind_ids = kIds;
  args.num_memory_space_kind_ids = std::size(kIds);
  return absl::OkStatus();
}

}  // namespace hlod::pjrt

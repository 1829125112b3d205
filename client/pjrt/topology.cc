// The entries about topologies.
#include "client/pjrt/topology.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "client/pjrt/buffers/shape_from.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/programs/bytes.h"
#include "common/base/text/strings.h"
#include "common/hlo/proto/codec.h"

namespace hlod::pjrt {

namespace {

constexpr std::string_view kTopologyMagic = "hlod topology 1\n", kVersion = "hlod " HLOD_VERSION,
                           kKind = "cpu";
constexpr int64_t kDevicesMax = 4096;

absl::StatusOr<int64_t> ProductOf(std::string_view text) {
  int64_t product = 1;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), 'x')) {
    int64_t factor = 0;
    if (!absl::SimpleAtoi(part, &factor) || factor < 1 || factor > kDevicesMax ||
        product * factor > kDevicesMax) {
      return InvalidArgument("The topology \"%s\" is not a number of devices up to %d, such as 8 or 2x4.",
                             text, kDevicesMax);
    }
    product *= factor;
  }
  return product;
}

}  // namespace

// Leaves out the number of the daemon's process, which follows the version and differs in every run.
Topology::Topology(std::string_view daemon) : version_(daemon.substr(0, daemon.find(" pid "))) {}

Topology::Topology(std::string version, std::string kind, int devices) : version_(std::move(version)) {
  for (int i = 0; i < devices; ++i) Add(own_.emplace_back(i, kind));
}

absl::StatusOr<std::unique_ptr<Topology>> Topology::Create(std::string_view name,
                                                           absl::Span<const abi::NamedValue> options) {
  std::string text(name);
  for (const abi::NamedValue& option : options) {
    RETURN_IF_ERROR(Given(option.name, "name"));
    const std::string_view key(option.name, option.name_size);
    if (key == "devices" && option.type == abi::NamedValueType::kInt64)
      text = std::to_string(option.int64_value);
    if (key == "topology" && option.type == abi::NamedValueType::kString && option.value_size > 0) {
      RETURN_IF_ERROR(Given(option.string_value, "string_value"));
      text.assign(option.string_value, option.value_size);
    }
  }
  // JAX's users know these words.
  if (text.empty())
    return InvalidArgument("topology_name is not specified: state the number of devices, such as 8 or 2x4.");
  ASSIGN_OR_RETURN(const int64_t devices, ProductOf(text));
  return std::unique_ptr<Topology>(
      new Topology(std::string(kVersion), std::string(kKind), static_cast<int>(devices)));
}

std::string Topology::Serialize() const {
  const std::string kind = descriptions_.empty() ? std::string(kKind) : descriptions_[0]->kind();
  return absl::StrCat(ToAbsl(kTopologyMagic), version_, "\n", kind, "\n", descriptions_.size());
}

absl::StatusOr<std::unique_ptr<Topology>> Topology::Deserialize(std::string_view bytes) {
  const std::vector<std::string> lines = absl::StrSplit(ToAbsl(bytes), '\n');
  if (!bytes.starts_with(kTopologyMagic) || lines.size() != 4)
    return InvalidArgument("The serialized topology was not written by this version of hlod.");
  ASSIGN_OR_RETURN(const int64_t devices, ProductOf(lines[3]));
  return std::unique_ptr<Topology>(new Topology(lines[1], lines[2], static_cast<int>(devices)));
}

absl::Status Serve(abi::TopologyDescription_Create_Args& args) {
  if (args.topology_name_size > 0) RETURN_IF_ERROR(Given(args.topology_name, "topology_name"));
  if (args.num_options > 0) RETURN_IF_ERROR(Given(args.create_options, "create_options"));
  ASSIGN_OR_RETURN(std::unique_ptr<Topology> topology,
                   Topology::Create({args.topology_name, args.topology_name_size},
                                    {args.create_options, args.num_options}));
  args.topology = topology.release();
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_Serialize_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  ReturnBytes(args.topology->Serialize(), &args.serialized_bytes, &args.serialized_bytes_size,
              &args.serialized_topology, &args.serialized_topology_deleter);
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_Deserialize_Args& args) {
  RETURN_IF_ERROR(Given(args.serialized_topology, "serialized_topology"));
  ASSIGN_OR_RETURN(std::unique_ptr<Topology> topology,
                   Topology::Deserialize({args.serialized_topology, args.serialized_topology_size}));
  args.topology = topology.release();
  return absl::OkStatus();
}

absl::Status Serve(abi::TopologyDescription_Destroy_Args& args) {
  if (args.topology != nullptr && !args.topology->belongs_to_client()) delete args.topology;
  return absl::OkStatus();
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

// The daemon keeps arrays row-major in every memory; a layout that is stated is kept beside.
absl::Status Serve(abi::TopologyDescription_MakeCanonicalShapeForMemorySpace_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  if (args.memory_space_kind_id < 0 || args.memory_space_kind_id >= static_cast<int>(std::size(kMemoryKinds)))
    return InvalidArgument("The memory_space_kind_id is %d; there are %d.", args.memory_space_kind_id,
                           std::size(kMemoryKinds));
  ASSIGN_OR_RETURN(hlo::Shape shape, ShapeFrom(args.element_type, args.dims, args.num_dims));
  ASSIGN_OR_RETURN(const DimensionOrder order, OrderFrom(args.layout, shape));
  if (shape.IsArray()) {
    shape.layout = hlo::Layout::RowMajor(static_cast<int64_t>(order.size()));
    shape.layout->minor_to_major.assign(order.begin(), order.end());
  }
  const std::string bytes = hlo::ToProto(shape).SerializeAsString();
  auto* const copy = new char[bytes.size() + 1];
  std::copy(bytes.begin(), bytes.end(), copy);
  args.serialized_shape = copy;
  args.serialized_shape_size = bytes.size();
  args.serialized_shape_deleter = [](const char* held) { delete[] held; };
  return absl::OkStatus();
}

}  // namespace hlod::pjrt

// Reads the options of a compilation.
#include "client/pjrt/compile/compile_options.h"

#include <algorithm>
#include <iterator>

#include "client/pjrt/compile/xla_options.h"
#include "common/base/errors/status.h"
#include "proto/xla/compile_options.pb.h"

namespace hlod::pjrt {
namespace {

absl::Status ReadDevices(const xla::DeviceAssignmentProto& assignment, CompileOptions& options) {
  const auto mismatch = [&] {
    return InvalidArgument(
        "The device assignment is of %d replicas and %d computations; the options state %d replicas and %d "
        "partitions.",
        assignment.replica_count(), assignment.computation_count(), options.replicas, options.partitions);
  };
  if (assignment.replica_count() != options.replicas ||
      assignment.computation_count() != options.partitions ||
      assignment.computation_devices_size() != options.partitions) {
    return mismatch();
  }
  options.devices.resize(static_cast<size_t>(options.replicas) * static_cast<size_t>(options.partitions));
  for (int p = 0; p < options.partitions; ++p) {
    const auto& of_partition = assignment.computation_devices(p);
    if (of_partition.replica_device_ids_size() != options.replicas) return mismatch();
    for (int r = 0; r < options.replicas; ++r) {
      options.devices[static_cast<size_t>(r * options.partitions + p)] =
          static_cast<int>(of_partition.replica_device_ids(r));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Count(int64_t stated, std::string_view field) {
  constexpr int64_t kMax = 4096;
  if (stated < 0 || stated > kMax) return InvalidArgument("%s is %d; at most %d.", field, stated, kMax);
  return static_cast<int>(std::max<int64_t>(stated, 1));
}

}  // namespace

absl::StatusOr<CompileOptions> ReadCompileOptions(std::string_view bytes) {
  xla::CompileOptionsProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return InvalidArgument("The compile options cannot be read: %d bytes that are not a CompileOptionsProto.",
                           bytes.size());
  const xla::ExecutableBuildOptionsProto& build = proto.executable_build_options();
  CompileOptions options;
  options.serialized = std::string(bytes);
  ASSIGN_OR_RETURN(options.replicas, Count(build.num_replicas(), "num_replicas"));
  ASSIGN_OR_RETURN(options.partitions, Count(build.num_partitions(), "num_partitions"));
  options.portable = proto.compile_portable_executable();
  options.tupled_arguments = proto.parameter_is_tupled_arguments();
  if (options.portable && options.replicas * options.partitions > 1)
    return InvalidArgument("A portable program runs on one device; %d are stated.",
                           options.replicas * options.partitions);
  if (!options.portable) {
    if (build.has_device_assignment()) {
      RETURN_IF_ERROR(ReadDevices(build.device_assignment(), options));
    } else {
      for (int i = 0; i < options.replicas * options.partitions; ++i) options.devices.push_back(i);
      if (options.devices.size() == 1 && build.device_ordinal() > 0)
        options.devices = {static_cast<int>(build.device_ordinal())};
    }
  }
  if (build.use_auto_spmd_partitioning())
    return Unimplemented("Automatic partitioning (use_auto_spmd_partitioning) is not there.");
  if (!proto.serialized_multi_slice_config().empty())
    return Unimplemented(
        "Programs of several slices of devices (serialized_multi_slice_config) are not supported.");
  for (const auto& [name, value] : proto.env_option_overrides()) RETURN_IF_ERROR(CheckXlaOption(name, value));
  return options;
}

std::string SerializedAssignment(const CompileOptions& options) {
  if (options.devices.empty()) return "";
  xla::DeviceAssignmentProto assignment;
  assignment.set_replica_count(options.replicas);
  assignment.set_computation_count(options.partitions);
  for (int p = 0; p < options.partitions; ++p) {
    auto& of_partition = *assignment.add_computation_devices();
    for (int r = 0; r < options.replicas; ++r)
      of_partition.add_replica_device_ids(options.devices[static_cast<size_t>(r * options.partitions + p)]);
  }
  return assignment.SerializeAsString();
}

}  // namespace hlod::pjrt

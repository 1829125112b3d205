// Looks at the meshes and shardings that a module states.
#include "client/cli/run/sharding_devices.h"

#include <algorithm>

#include "client/partition/partition.h"
#include "common/base/arithmetic.h"
#include "common/hlo/text/shardy.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::cli {
namespace {

// Returns `devices` times `size`, or INT64_MAX when that does not fit: a module may state any sizes.
int64_t Times(int64_t devices, int64_t size) {
  return CheckedMultiply(devices, std::max<int64_t>(1, size)).value_or(INT64_MAX);
}

int64_t DevicesOf(const xla::OpSharding& sharding) {
  int64_t devices = 1;
  for (const int64_t size : sharding.tile_assignment_dimensions()) devices = Times(devices, size);
  for (const xla::OpSharding& element : sharding.tuple_shardings())
    devices = std::max(devices, DevicesOf(element));
  return devices;
}

}  // namespace

int64_t ShardingDevices(const hlo::Module& module) {
  if (hlo::PartitionsToRun(module) > 1 || hlo::IsShare(module)) return 1;
  int64_t devices = 1;
  if (const auto stated = module.config.frontend_attributes.find("xla.sdy.meshes");
      stated != module.config.frontend_attributes.end()) {
    for (const auto& [name, mesh] : hlo::ParseMeshes(stated->second)) {
      int64_t product = 1;
      for (const auto& [axis, size] : mesh.axes) product = Times(product, size);
      devices = std::max(devices, product);
    }
  }
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      const hlo::Notes* const notes = computation.notes(node);
      xla::OpSharding sharding;
      if (notes != nullptr && !notes->sharding.empty() && sharding.ParseFromString(notes->sharding))
        devices = std::max(devices, DevicesOf(sharding));
    }
  }
  return devices;
}

bool IsPartitioningWanted() { return partition::IsWanted(); }

}  // namespace hlod::cli

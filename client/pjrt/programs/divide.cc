// Asks the process's partitioner, and takes what it gives if it is what the program was.
#include "client/pjrt/programs/divide.h"

#include <string>
#include <utility>

#include "client/partition/partition.h"
#include "client/pjrt/callbacks/host_channels.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/inference/verifier.h"

namespace hlod::pjrt {
namespace {

// A compile waits for the partitioner at most this long.
constexpr double kSeconds = 120;

bool CallsTheHost(const hlo::Module& module) {
  const absl::StatusOr<HostChannels> channels = HostChannelsOf(module);
  return !channels.ok() || !channels->empty();
}

}  // namespace

bool DivideByXla(ReadProgram& program, std::string_view code, int partitions) {
  if (!partition::IsWanted() || CallsTheHost(*program.module) || hlo::CutsWholeArrays(*program.module))
    return false;
  absl::StatusOr<partition::Partitioned> parts =
      partition::Partition({.program = std::string(code), .devices = partitions, .seconds = kSeconds});
  if (!parts.ok() || !parts->has_shardings || parts->devices != partitions) return false;
  const size_t parameters = program.module->entry().parameters().size();
  if (parts->parameter_op_shardings.size() != parameters ||
      parts->module->entry().parameters().size() != parameters || !hlo::Verify(*parts->module).ok()) {
    return false;
  }
  program.module = std::move(parts->module);
  program.argument_shardings = std::move(parts->parameter_op_shardings);
  program.result_shardings = std::move(parts->result_op_shardings);
  return true;
}

}  // namespace hlod::pjrt

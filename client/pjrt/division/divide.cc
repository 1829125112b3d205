// Asks the process's partitioner, and accepts its module if that fits the program.
#include "client/pjrt/division/divide.h"

#include <string>
#include <utility>

#include "client/partition/partition.h"
#include "client/pjrt/division/by_hand.h"
#include "common/base/errors/status.h"
#include "common/hlo/inference/verifier.h"

namespace hlod::pjrt {
namespace {

// A compile waits for the partitioner at most this long.
constexpr double kSeconds = 120;

}  // namespace

absl::StatusOr<bool> DivideByXla(ReadProgram& program, std::string_view code, int partitions) {
  if (!partition::IsWanted() || IsDividedByHand(program)) return false;
  ASSIGN_OR_RETURN(
      partition::Partitioned parts,
      partition::Partition({.program = std::string(code), .devices = partitions, .seconds = kSeconds}));
  if (!parts.has_shardings) return false;
  const size_t parameters = program.module->entry().parameters().size();
  if (parts.devices != partitions)
    return Internal("XLA divided it among %d devices, not %d.", parts.devices, partitions);
  if (parts.parameter_op_shardings.size() != parameters ||
      parts.module->entry().parameters().size() != parameters) {
    return Internal("XLA's module has %d parameters, and the program has %d.",
                    parts.module->entry().parameters().size(), parameters);
  }
  RETURN_IF_ERROR(hlo::Verify(*parts.module));
  program.module = std::move(parts.module);
  program.argument_shardings = std::move(parts.parameter_op_shardings);
  program.result_shardings = std::move(parts.result_op_shardings);
  return true;
}

}  // namespace hlod::pjrt

// Putting the devices together.
#include "server/device/devices.h"

#include <utility>

#include "common/base/status.h"

namespace hlod::device {

absl::StatusOr<std::unique_ptr<Devices>> Devices::Create(const Options& options, const Clock& clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<BackingPool> pool, BackingPool::Create(options.host_bytes));
  return std::unique_ptr<Devices>(new Devices(options, std::move(pool), clock));
}

Devices::Devices(const Options& options, std::unique_ptr<BackingPool> pool, const Clock& clock)
    : limits_(options.limits),
      clock_(clock),
      pool_(std::move(pool)),
      transfers_("transfers", 1),
      executables_(
          {.compile = {.threads = options.threads}, .instructions_max = options.limits.instructions_max}) {
  for (uint32_t i = 0; i < options.count; ++i)
    devices_.push_back(std::make_unique<Device>(i, options.device_bytes, *pool_));
}

}  // namespace hlod::device

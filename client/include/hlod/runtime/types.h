// The values that the client's functions take and give: HLO's own types under short names, devices, the
// ledger's figures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/errors/error.h"
#include "common/base/kinds.h"
#include "common/base/limits.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"
#include "common/hlo/shape.h"

namespace hlod {

using hlo::Dims;
using hlo::Literal;
using hlo::Module;
using hlo::PrimitiveType;
using hlo::Shape;

// A device as the daemon presents it.
struct DeviceInfo {
  int ordinal = 0;
  std::string kind;          // "cpu"
  int64_t memory_bytes = 0;  // Its stated capacity.
};

// Dense payload bytes, and in how many calls.
struct Amount {
  int64_t bytes = 0, calls = 0;
  friend bool operator==(const Amount&, const Amount&) = default;
};

// One line of the ledger: what crossed, why, from which line of the program, in which step.
struct LedgerRow {
  Cause cause = Cause::kUpload;
  Origin origin;
  uint64_t step = 0;
  Amount amount;
  uint64_t session = 0;  // In administration's listings.
  int device = 0;
};

// A session's account as the daemon keeps it (hlod.v1.SessionStats). Sums over `rows` equal the totals.
struct SessionStats {
  Amount host_to_device, device_to_host, device_to_device;
  std::vector<LedgerRow> rows;
  // Programs compiled; found compiled in the daemon; loaded from its persistent cache.
  int64_t compiles = 0, compile_cache_hits = 0, persistent_cache_hits = 0;
  int64_t compile_us = 0;
  // Time of running, and that executes waited for a device although all they needed was there.
  int64_t executes = 0, execute_us = 0, queue_us = 0;
  int64_t refused_reads = 0;  // Reads and executes that the daemon refused because of a placeholder ...
  int64_t refused_before_sending = 0;  // ... and those that this client refused itself.
  int64_t failed_commands = 0;
  int64_t live_bytes = 0, peak_bytes = 0;  // Device memory now and at its highest, temporaries included.
  int64_t live_buffers = 0, placeholders = 0;
  int64_t simulated_live_bytes = 0, simulated_peak_bytes = 0;
  int64_t program_bytes = 0;  // Modules received: not transfers.
  int64_t inline_argument_bytes = 0;
  int64_t aborted_bytes = 0;  // Of uploads that did not complete.
  int64_t replayed_commands = 0;
};

}  // namespace hlod

// The types of the client's arguments and results: HLO's own types under short names, devices, the ledger's
// figures.
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

// A device as the daemon describes it.
struct DeviceInfo {
  int ordinal = 0;
  std::string kind;          // "cpu"
  int64_t memory_bytes = 0;  // The capacity that the daemon states.
};

// The dense payload bytes, and the number of calls that moved them.
struct Amount {
  int64_t bytes = 0, calls = 0;
  friend bool operator==(const Amount&, const Amount&) = default;
};

// One row of the ledger: bytes that crossed, with their cause, line of the program and step.
struct LedgerRow {
  Cause cause = Cause::kUpload;
  Origin origin;
  uint64_t step = 0;
  Amount amount;
  uint64_t session = 0;  // Set in an administrator's listings.
  int device = 0;
};

// A session's account as the daemon keeps it (hlod.v1.SessionStats). Sums over `rows` equal the totals.
struct SessionStats {
  Amount host_to_device, device_to_host, device_to_device;
  std::vector<LedgerRow> rows;
  // The numbers of programs compiled, found compiled in the daemon, and loaded from its persistent cache.
  int64_t compiles = 0, compile_cache_hits = 0, persistent_cache_hits = 0;
  int64_t compile_us = 0;
  // execute_us: the time of running. queue_us: the time that executes waited after all their arguments were
  // available.
  int64_t executes = 0, execute_us = 0, queue_us = 0;
  // The modelled time of collectives on the daemon's network (hlod --network), which is not part of
  // execute_us.
  int64_t network_us = 0;
  int64_t refused_reads = 0;           // Reads and executes that the daemon refused because of a placeholder.
  int64_t refused_before_sending = 0;  // Reads refused by this client before sending, for the same reason.
  int64_t failed_commands = 0;
  int64_t live_bytes = 0, peak_bytes = 0;  // Device memory now and at its highest, temporaries included.
  int64_t live_buffers = 0, placeholders = 0;
  int64_t simulated_live_bytes = 0, simulated_peak_bytes = 0;
  int64_t program_bytes = 0;  // The bytes of modules received, which are not transfers.
  int64_t inline_argument_bytes = 0;  // The bytes of literals in executes, which are not transfers either.
  int64_t aborted_bytes = 0;  // The bytes of uploads that did not complete.
  int64_t replayed_commands = 0;  // Commands that were sent again after a connection broke.
};

}  // namespace hlod

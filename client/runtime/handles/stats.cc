// Converts the ledger's messages to the public structures.
#include "client/runtime/session/state.h"
#include "common/rpc/wire.h"

namespace hlod::internal {
namespace {

Amount AmountFromProto(const v1::Amount& proto) { return {proto.bytes(), proto.calls()}; }

}  // namespace

SessionStats StatsFromProto(const v1::SessionStats& proto) {
  SessionStats stats;
  stats.host_to_device = AmountFromProto(proto.host_to_device());
  stats.device_to_host = AmountFromProto(proto.device_to_host());
  stats.device_to_device = AmountFromProto(proto.device_to_device());
  for (const v1::LedgerRow& row : proto.rows()) {
    stats.rows.push_back({CauseFromNumber(row.cause()).value_or(Cause::kUpload), rpc::FromProto(row.origin()),
                          row.step(), AmountFromProto(row.amount()), row.session(),
                          static_cast<int>(row.device())});
  }
  stats.compiles = proto.compiles();
  stats.compile_cache_hits = proto.compile_cache_hits();
  stats.persistent_cache_hits = proto.persistent_cache_hits();
  stats.compile_us = proto.compile_us();
  stats.executes = proto.executes();
  stats.execute_us = proto.execute_us();
  stats.queue_us = proto.queue_us();
  stats.refused_reads = proto.refused_reads();
  stats.failed_commands = proto.failed_commands();
  stats.live_bytes = proto.live_bytes();
  stats.peak_bytes = proto.peak_bytes();
  stats.live_buffers = proto.live_buffers();
  stats.placeholders = proto.placeholders();
  stats.simulated_live_bytes = proto.simulated_live_bytes();
  stats.simulated_peak_bytes = proto.simulated_peak_bytes();
  stats.program_bytes = proto.program_bytes();
  stats.inline_argument_bytes = proto.inline_argument_bytes();
  stats.aborted_bytes = proto.aborted_bytes();
  stats.replayed_commands = proto.replayed_commands();
  return stats;
}

}  // namespace hlod::internal

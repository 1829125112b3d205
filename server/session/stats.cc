// Accounts as messages: a session's own, and the daemon's.
#include <unistd.h>

#include <cstdio>

#include "common/base/arithmetic.h"
#include "common/rpc/wire.h"
#include "server/session/registry.h"
#include "server/session/stats.h"

namespace hlod::session {
namespace {

constexpr size_t kOriginBytesMax = 16 << 20;  // Of rows with their lines, in one answer.

void ToProto(const device::Amount& amount, v1::Amount* proto) {
  proto->set_bytes(amount.bytes);
  proto->set_calls(amount.calls);
}

int64_t ResidentBytes() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  const int read = std::fscanf(file, "%ld %ld", &pages, &resident);
  std::fclose(file);
  return read == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

void FillAccount(const device::Account& account, v1::SessionStats* stats) {
  using enum Direction;
  ToProto(account.directions[static_cast<int>(kHostToDevice)], stats->mutable_host_to_device());
  ToProto(account.directions[static_cast<int>(kDeviceToHost)], stats->mutable_device_to_host());
  ToProto(account.directions[static_cast<int>(kDeviceToDevice)], stats->mutable_device_to_device());
#define HLOD_COUNTER(name, meaning) stats->set_##name(account.counters.name);
#include "server/device/counters.inc"
#undef HLOD_COUNTER
}

void FillRow(const device::Row& row, const Origin& origin, uint64_t session, v1::LedgerRow* proto) {
  proto->set_cause(static_cast<int>(row.key.cause));
  if (origin != Origin{}) *proto->mutable_origin() = rpc::ToProto(origin);
  proto->set_step(row.key.step);
  ToProto(row.amount, proto->mutable_amount());
  proto->set_session(session);
  proto->set_device(row.key.device);
}

v1::SessionStats Session::Stats(bool with_rows) {
  const device::Account account = workspace_->ledger().account();
  const device::MemoryAccount::Figures memory = workspace_->account()->figures();
  const device::Workspace::Counts counts = workspace_->counts();
  v1::SessionStats stats;
  FillAccount(account, &stats);
  stats.set_live_bytes(memory.live_bytes);
  stats.set_peak_bytes(memory.peak_bytes);
  stats.set_simulated_live_bytes(memory.simulated_live_bytes);
  stats.set_simulated_peak_bytes(memory.simulated_peak_bytes);
  stats.set_live_buffers(counts.buffers);
  stats.set_placeholders(counts.placeholders);
  if (!with_rows) return stats;
  size_t bytes = 0;
  for (const device::Row& row : account.rows) {
    v1::LedgerRow& proto = *stats.add_rows();
    // A message that a client takes: beyond it rows come without their lines. The sums stay exact.
    const Origin origin = bytes < kOriginBytesMax ? workspace_->origin(row.key.origin) : Origin{};
    FillRow(row, origin, identity_.id, &proto);
    bytes += proto.ByteSizeLong();
  }
  return stats;
}

v1::DaemonStats Registry::Stats() const {
  const Moment moment = Snapshot();
  device::Account sum = EndedOf(moment);
  v1::DaemonStats stats;
  v1::SessionStats& totals = *stats.mutable_totals();
  absl::flat_hash_map<device::RowKey, device::Amount> rows;
  const auto add_rows = [&rows](const device::Account& account) {
    for (const device::Row& row : account.rows) rows[{row.key.device, row.key.cause, 0, 0}] += row.amount;
  };
  add_rows(sum);
  for (const std::shared_ptr<Session>& session : moment.sessions) {
    device::Workspace& workspace = session->workspace();
    const device::Account account = workspace.ledger().account();
    sum.AddTotals(account);
    add_rows(account);
    const device::MemoryAccount::Figures memory = workspace.account()->figures();
    const device::Workspace::Counts counts = workspace.counts();
    totals.set_simulated_live_bytes(
        CheckedAdd(totals.simulated_live_bytes(), memory.simulated_live_bytes).value_or(INT64_MAX));
    totals.set_simulated_peak_bytes(std::max(totals.simulated_peak_bytes(), memory.simulated_peak_bytes));
    totals.set_live_buffers(totals.live_buffers() + counts.buffers);
    totals.set_placeholders(totals.placeholders() + counts.placeholders);
  }
  FillAccount(sum, &totals);
  for (const auto& [key, amount] : rows) FillRow({key, amount}, Origin{}, 0, totals.add_rows());
  for (uint32_t i = 0; i < devices_.count(); ++i) {
    const device::DeviceMemory::Figures figures = devices_.device(i).memory.figures();
    totals.set_live_bytes(totals.live_bytes() + figures.used_bytes);
    totals.set_peak_bytes(totals.peak_bytes() + figures.peak_bytes);
  }
  stats.set_version(options_.daemon);
  stats.set_epoch(options_.epoch);
  stats.set_pid(getpid());
  stats.set_uptime_us(absl::ToInt64Microseconds(devices_.clock().Now() - started_));
  stats.set_sessions(static_cast<int64_t>(moment.sessions.size()));
  stats.set_sessions_ended(sessions_ended_);
  stats.set_host_memory_bytes(devices_.pool().used_bytes());
  stats.set_resident_bytes(ResidentBytes());
  stats.set_wire_bytes_in(wire_bytes_in);
  stats.set_wire_bytes_out(wire_bytes_out);
  return stats;
}

}  // namespace hlod::session

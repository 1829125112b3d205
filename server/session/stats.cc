// Converts accounts to messages: a session's own, and the daemon's.
#include <unistd.h>

#include <cstdio>

#include "common/base/arithmetic.h"
#include "common/rpc/wire.h"
#include "server/session/registry.h"
#include "server/session/stats.h"

namespace hlod::session {
namespace {

// The limit on the bytes of rows with their lines in one answer.
constexpr size_t kOriginBytesMax = 16 << 20;

void ToProto(const device::Amount& amount, v1::Amount* proto) {
  proto->set_bytes(amount.bytes);
  proto->set_calls(amount.calls);
}

void ToProto(const device::Distribution& spread, v1::Distribution* proto) {
  proto->set_min_us(spread.min_us);
  proto->set_max_us(spread.max_us);
  proto->set_sum_us(spread.sum_us);
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
#define HLOD_SESSION_AMOUNT(name, direction, meaning) \
  ToProto(account.directions[static_cast<int>(Direction::direction)], stats->mutable_##name());
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) stats->set_##name(account.counters.name);
#include "common/base/stats.inc"
}

v1::Origin LineOf(const device::SessionDevice& session_device, uint32_t id) {
  v1::Origin line = rpc::ToProto(session_device.origin(id));
  if (const std::string name = session_device.origin_name(id); !name.empty()) line.set_name(name);
  return line;
}

void FillRow(const device::Row& row, const v1::Origin& line, uint64_t session, v1::LedgerRow* proto) {
  proto->set_cause(static_cast<int>(row.key.cause));
  if (line.ByteSizeLong() > 0) *proto->mutable_origin() = line;
  proto->set_step(row.key.step);
  ToProto(row.amount, proto->mutable_amount());
  proto->set_session(session);
  proto->set_device(row.key.device);
  proto->set_other_steps(row.key.other_steps);
  proto->set_other_lines(row.key.other_lines);
}

void FillRow(const device::RunRow& row, const v1::Origin& line, uint64_t session, v1::RunRow* proto) {
  if (!row.key.other_programs) proto->set_digest(row.digest.data(), row.digest.size());
  proto->set_program(row.program);
  if (line.ByteSizeLong() > 0) *proto->mutable_origin() = line;
  proto->set_step(row.key.step);
  proto->set_device(row.key.device);
  proto->set_count(row.figures.count);
  ToProto(row.figures.queue, proto->mutable_queue());
  ToProto(row.figures.run, proto->mutable_run());
  proto->set_peak_bytes(row.figures.peak_bytes);
  proto->set_network_us(row.figures.network_us);
  proto->set_network_bytes(row.figures.network_bytes);
  proto->set_session(session);
  proto->set_other_steps(row.key.other_steps);
  proto->set_other_programs(row.key.other_programs);
}

void FillRow(const device::CompileRow& row, const v1::Origin& line, uint64_t session, v1::CompileRow* proto) {
  if (!row.others) proto->set_digest(row.digest.data(), row.digest.size());
  proto->set_program(row.program);
  if (line.ByteSizeLong() > 0) *proto->mutable_origin() = line;
  proto->set_step(row.step);
  proto->set_reason(static_cast<int>(row.reason));
  proto->set_reason_text(row.reason_text);
  proto->set_outcome(static_cast<int>(row.outcome));
  proto->set_at_us(row.at_us);
  proto->set_compile_us(row.compile_us);
  proto->set_instructions(row.instructions);
  proto->set_program_bytes(row.program_bytes);
  proto->set_code_bytes(row.code_bytes);
  proto->set_argument_bytes(row.argument_bytes);
  proto->set_output_bytes(row.output_bytes);
  proto->set_alias_bytes(row.alias_bytes);
  proto->set_temporary_bytes(row.temporary_bytes);
  proto->set_count(row.count);
  proto->set_others(row.others);
  proto->set_session(session);
  for (const std::string& step : row.slow_steps) proto->add_slow_steps(step);
}

v1::SessionStats Session::Stats(bool with_rows) {
  const device::Account account =
      session_device_->ledger().account(with_rows ? device::Detail::kAll : device::Detail::kTransfers);
  const device::MemoryAccount::Figures memory = session_device_->account()->figures();
  const device::SessionDevice::Counts counts = session_device_->counts();
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
  const auto add = [&](const auto& row, uint32_t origin, auto* proto) {
    // Limits the message to a size that a client accepts: rows beyond it have no lines. The sums are exact.
    FillRow(row, bytes < kOriginBytesMax ? LineOf(*session_device_, origin) : v1::Origin(), identity_.id,
            proto);
    bytes += proto->ByteSizeLong();
  };
  for (const device::Row& row : account.rows) add(row, row.key.origin, stats.add_rows());
  for (const device::RunRow& row : account.runs) add(row, row.key.origin, stats.add_runs());
  for (const device::CompileRow& row : account.compiles) add(row, row.origin, stats.add_compiled());
  for (const device::RunSample& sample : account.samples) {
    stats.mutable_run_samples()->add_at_us(sample.at_us);
    stats.mutable_run_samples()->add_queue_us(sample.queue_us);
    stats.mutable_run_samples()->add_run_us(sample.run_us);
  }
  stats.set_uptime_us(session_device_->devices().uptime_us());
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
  for (const auto& kept : moment.kept) add_rows(kept->account);
  for (const std::shared_ptr<Session>& session : moment.sessions) {
    device::SessionDevice& session_device = session->session_device();
    const device::Account account = session_device.ledger().account();
    sum.AddTotals(account);
    add_rows(account);
    const device::MemoryAccount::Figures memory = session_device.account()->figures();
    const device::SessionDevice::Counts counts = session_device.counts();
    totals.set_simulated_live_bytes(
        CheckedAdd(totals.simulated_live_bytes(), memory.simulated_live_bytes).value_or(INT64_MAX));
    totals.set_simulated_peak_bytes(std::max(totals.simulated_peak_bytes(), memory.simulated_peak_bytes));
    totals.set_live_buffers(totals.live_buffers() + counts.buffers);
    totals.set_placeholders(totals.placeholders() + counts.placeholders);
  }
  FillAccount(sum, &totals);
  for (const auto& [key, amount] : rows)
    FillRow(device::Row{key, amount}, v1::Origin(), 0, totals.add_rows());
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
  stats.set_side_memory_bytes(devices_.side_memory().used_bytes());
  stats.set_side_memory_bytes_max(devices_.side_memory().max_bytes());
  stats.set_resident_bytes(ResidentBytes());
  stats.set_rings(rings);
  stats.set_wire_bytes_in(wire_bytes_in);
  stats.set_wire_bytes_out(wire_bytes_out);
  return stats;
}

}  // namespace hlod::session

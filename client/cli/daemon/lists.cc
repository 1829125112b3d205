// The lists of the daemon's devices, buffers, executables, sessions and transfers, as tables or JSON.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/commands.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"

namespace hlod::cli {
namespace {

void PrintJson(std::string key, Json list) {
  Json json;
  json[key] = std::move(list);
  Show(Dump(json) + "\n");
}

void PrintAmounts(const SessionStats& stats) {
  std::printf("host to device    %s in %s calls\n", Bytes(stats.host_to_device.bytes).c_str(),
              N(stats.host_to_device.calls).c_str());
  std::printf("device to host    %s in %s calls\n", Bytes(stats.device_to_host.bytes).c_str(),
              N(stats.device_to_host.calls).c_str());
  std::printf("device to device  %s in %s calls\n", Bytes(stats.device_to_device.bytes).c_str(),
              N(stats.device_to_device.calls).c_str());
  std::printf("compiles          %s (%s cache hits, %s persistent)\n", N(stats.compiles).c_str(),
              N(stats.compile_cache_hits).c_str(), N(stats.persistent_cache_hits).c_str());
  std::printf("executes          %s in %s, after %s of waiting for a device\n", N(stats.executes).c_str(),
              Seconds(stats.execute_us).c_str(), Seconds(stats.queue_us).c_str());
  if (stats.network_us > 0)
    std::printf("network           %s modelled, beside these\n",
                absl::FormatDuration(absl::Microseconds(stats.network_us)).c_str());
  std::printf("refused by daemon %s\n", N(stats.refused_reads).c_str());
  std::printf("failed commands   %s\n", N(stats.failed_commands).c_str());
  std::printf("live              %s in %s buffers, %s placeholders\n", Bytes(stats.live_bytes).c_str(),
              N(stats.live_buffers).c_str(), N(stats.placeholders).c_str());
  std::printf("peak              %s\n", Bytes(stats.peak_bytes).c_str());
}

}  // namespace

absl::Status ListDevices(const CommonOptions& common) {
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(const std::vector<DeviceRow> rows, admin.Devices());
  if (common.json) {
    PrintJson("devices", ToJson(rows));
    return absl::OkStatus();
  }
  Table table(
      {"device", "kind", "capacity", "used", "peak", "buffers", "placeholders", "queued", "cpu features"});
  for (const DeviceRow& row : rows) {
    table.Add({N(row.ordinal), row.kind, Bytes(row.capacity_bytes), Bytes(row.used_bytes),
               Bytes(row.peak_bytes), N(row.buffers), N(row.placeholders), N(row.queued_executes),
               absl::StrJoin(row.cpu_features, " ")});
  }
  table.Print();
  return absl::OkStatus();
}

absl::Status ListBuffers(const CommonOptions& common, const ListOptions& options) {
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(const BufferList list, admin.Buffers(options.session, options.limit));
  if (common.json) {
    const Json json = {{"buffers", ToJson(list.buffers)}, {"total", list.total}};
    Show(Dump(json) + "\n");
    return absl::OkStatus();
  }
  Table table({"session", "handle", "device", "bytes", "state", "shape", "made at"});
  for (const BufferRow& row : list.buffers) {
    table.Add({N(static_cast<int64_t>(row.session)), N(static_cast<int64_t>(row.handle)), N(row.device),
               Bytes(row.bytes), row.state, row.shape, ToString(row.origin)});
  }
  table.Print();
  PrintTotal(list.buffers.size(), list.total);
  return absl::OkStatus();
}

absl::Status ListExecutables(const CommonOptions& common, const ListOptions& options) {
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(const std::vector<ExecutableRow> rows, admin.Executables(/*session=*/0, options.limit));
  if (common.json) {
    PrintJson("executables", ToJson(rows));
    return absl::OkStatus();
  }
  Table table({"digest", "name", "instructions", "steps", "fused", "library", "movement", "reference", "slow",
               "temporary", "compile us", "executes", "execute us", "modelled network us"});
  for (const ExecutableRow& row : rows) {
    table.Add({row.digest.substr(0, 12), row.name, N(row.instructions), N(row.steps), N(row.fused_steps),
               N(row.library_steps), N(row.movement_steps), N(row.reference_steps),
               N(static_cast<int64_t>(row.slow_steps.size())), Bytes(row.temporary_bytes), N(row.compile_us),
               N(row.executes), N(row.execute_us), N(row.network_us)});
  }
  table.Print();
  Table slow({"digest", "name", "slow step"});
  bool any = false;
  for (const ExecutableRow& row : rows) {
    for (const std::string& step : row.slow_steps) {
      slow.Add({row.digest.substr(0, 12), row.name, step});
      any = true;
    }
  }
  if (any) slow.Print();
  return absl::OkStatus();
}

absl::Status ListSessions(const CommonOptions& common, const ListOptions& options) {
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(const std::vector<SessionRow> rows, admin.Sessions(options.limit));
  if (common.json) {
    PrintJson("sessions", ToJson(rows));
    return absl::OkStatus();
  }
  Table table({"session", "pid", "state", "messages", "age", "live", "peak", "to device", "to host",
               "executes", "client"});
  for (const SessionRow& row : rows) {
    table.Add({N(static_cast<int64_t>(row.session)), N(row.pid), row.state, row.messages, Seconds(row.age_us),
               Bytes(row.stats.live_bytes), Bytes(row.stats.peak_bytes),
               Bytes(row.stats.host_to_device.bytes), Bytes(row.stats.device_to_host.bytes),
               N(row.stats.executes), row.client});
  }
  table.Print();
  return absl::OkStatus();
}

absl::Status ListTransfers(const CommonOptions& common, const ListOptions& options) {
  if (!options.by.empty()) return AddUpTransfers(common, options);
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(const TransferList list, admin.Transfers(options.session, options.limit));
  if (common.json) {
    const Json json = {{"transfers", ToJson(list.rows)}, {"total", list.total}};
    Show(Dump(json) + "\n");
    return absl::OkStatus();
  }
  Table table({"session", "device", "step", "bytes", "calls", "cause", "line"});
  for (const LedgerRow& row : list.rows) {
    // The daemon merges the transfers of sessions that ended long ago into one row per device and cause.
    table.Add({row.session == 0 ? "-" : N(static_cast<int64_t>(row.session)), N(row.device),
               N(static_cast<int64_t>(row.step)), N(row.amount.bytes), N(row.amount.calls),
               std::string(Name(row.cause)), row.session == 0 ? "ended sessions" : ToString(row.origin)});
  }
  table.Print();
  PrintTotal(list.rows.size(), list.total);
  return absl::OkStatus();
}

absl::Status ShowStats(const CommonOptions& common) {
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(const DaemonStats stats, admin.Stats());
  if (common.json) {
    Show(Dump(ToJson(stats)) + "\n");
    return absl::OkStatus();
  }
  // The version already contains "hlod 0.1.0 pid 17".
  std::printf("%s, up %s, %s sessions (%s ended), %s of them over shared memory\n", stats.version.c_str(),
              Seconds(stats.uptime_us).c_str(), N(stats.sessions).c_str(), N(stats.sessions_ended).c_str(),
              N(stats.rings).c_str());
  std::printf("backing memory    %s; the process has %s\n", Bytes(stats.host_memory_bytes).c_str(),
              Bytes(stats.resident_bytes).c_str());
  std::printf("other memory      %s of %s for sessions\n", Bytes(stats.side_memory_bytes).c_str(),
              Bytes(stats.side_memory_bytes_max).c_str());
  PrintAmounts(stats.totals);
  return absl::OkStatus();
}

absl::Status Ping(const CommonOptions& common, int count) {
  ASSIGN_OR_RETURN(const Client client, Client::Connect(common.connect));
  const ClosedAtEnd close(client);
  std::vector<double> us;
  for (int i = 0; i < std::max(1, count); ++i) {
    ASSIGN_OR_RETURN(const absl::Duration round_trip, client.Ping());
    us.push_back(absl::ToDoubleMicroseconds(round_trip));
  }
  std::sort(us.begin(), us.end());
  if (common.json) {
    const Json json = {{"daemon", client.daemon()}, {"address", client.address()},    {"count", us.size()},
                       {"min_us", us.front()},      {"median_us", us[us.size() / 2]}, {"max_us", us.back()}};
    Show(Dump(json) + "\n");
    return absl::OkStatus();
  }
  std::printf("%s at %s: %zu round trips, min %.0f us, median %.0f us, max %.0f us\n",
              client.daemon().c_str(), client.address().c_str(), us.size(), us.front(), us[us.size() / 2],
              us.back());
  return absl::OkStatus();
}

}  // namespace hlod::cli

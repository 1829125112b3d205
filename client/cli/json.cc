// One function per type, which has the type's keys.
#include "client/cli/json.h"

#include "common/base/errors/error.h"
#include "common/base/text/printable.h"

namespace hlod::cli {

Json ToJson(const Amount& amount) { return {{"bytes", amount.bytes}, {"calls", amount.calls}}; }

Json ToJson(const Origin& origin) {
  return {{"file", origin.file}, {"line", origin.line}, {"function", origin.function}};
}

Json ToJson(const LedgerRow& row) {
  return {{"cause", Name(row.cause)},     {"direction", Name(DirectionOf(row.cause))},
          {"bytes", row.amount.bytes},    {"calls", row.amount.calls},
          {"origin", ToJson(row.origin)}, {"step", row.step},
          {"session", row.session},       {"device", row.device}};
}

Json ToJson(const SessionStats& stats) {
  Json json = {{"host_to_device", ToJson(stats.host_to_device)},
               {"device_to_host", ToJson(stats.device_to_host)},
               {"device_to_device", ToJson(stats.device_to_device)},
               {"compiles", stats.compiles},
               {"compile_cache_hits", stats.compile_cache_hits},
               {"persistent_cache_hits", stats.persistent_cache_hits},
               {"compile_us", stats.compile_us},
               {"executes", stats.executes},
               {"execute_us", stats.execute_us},
               {"queue_us", stats.queue_us},
               {"refused_reads", stats.refused_reads},
               {"failed_commands", stats.failed_commands},
               {"live_bytes", stats.live_bytes},
               {"peak_bytes", stats.peak_bytes},
               {"live_buffers", stats.live_buffers},
               {"placeholders", stats.placeholders},
               {"simulated_live_bytes", stats.simulated_live_bytes},
               {"simulated_peak_bytes", stats.simulated_peak_bytes},
               {"program_bytes", stats.program_bytes},
               {"inline_argument_bytes", stats.inline_argument_bytes},
               {"aborted_bytes", stats.aborted_bytes},
               {"replayed_commands", stats.replayed_commands}};
  if (!stats.rows.empty()) json["rows"] = ToJson(stats.rows);
  return json;
}

Json ToJson(const CompileResult& result) {
  return {{"digest", result.digest},
          {"cached", result.cached},
          {"persistent", result.persistent},
          {"compile_us", result.compile_us},
          {"argument_bytes", result.argument_bytes},
          {"output_bytes", result.output_bytes},
          {"alias_bytes", result.alias_bytes},
          {"temporary_bytes", result.temporary_bytes},
          {"steps", result.steps},
          {"reference_steps", result.reference_steps},
          {"reference_opcodes", result.reference_opcodes},
          {"slow_steps", result.slow_steps}};
}

Json ToJson(const DeviceRow& row) {
  return {{"ordinal", row.ordinal},
          {"kind", row.kind},
          {"capacity_bytes", row.capacity_bytes},
          {"used_bytes", row.used_bytes},
          {"peak_bytes", row.peak_bytes},
          {"temporary_bytes", row.temporary_bytes},
          {"buffers", row.buffers},
          {"placeholders", row.placeholders},
          {"queued_executes", row.queued_executes},
          {"cpu_features", row.cpu_features}};
}

Json ToJson(const BufferRow& row) {
  return {{"session", row.session},      {"handle", row.handle}, {"device", row.device},
          {"shape", row.shape},          {"bytes", row.bytes},   {"state", row.state},
          {"origin", ToJson(row.origin)}};
}

Json ToJson(const ExecutableRow& row) {
  return {{"digest", row.digest},
          {"name", row.name},
          {"instructions", row.instructions},
          {"steps", row.steps},
          {"fused_steps", row.fused_steps},
          {"library_steps", row.library_steps},
          {"movement_steps", row.movement_steps},
          {"reference_steps", row.reference_steps},
          {"reference_opcodes", row.reference_opcodes},
          {"slow_steps", row.slow_steps},
          {"temporary_bytes", row.temporary_bytes},
          {"compile_us", row.compile_us},
          {"executes", row.executes},
          {"execute_us", row.execute_us},
          {"sessions", row.sessions}};
}

Json ToJson(const SessionRow& row) {
  return {{"session", row.session}, {"client", row.client}, {"pid", row.pid},
          {"state", row.state},     {"age_us", row.age_us}, {"stats", ToJson(row.stats)}};
}

Json ToJson(const DaemonStats& stats) {
  return {{"version", stats.version},
          {"epoch", stats.epoch},
          {"pid", stats.pid},
          {"uptime_us", stats.uptime_us},
          {"sessions", stats.sessions},
          {"sessions_ended", stats.sessions_ended},
          {"host_memory_bytes", stats.host_memory_bytes},
          {"side_memory_bytes", stats.side_memory_bytes},
          {"side_memory_bytes_max", stats.side_memory_bytes_max},
          {"resident_bytes", stats.resident_bytes},
          {"wire_bytes_in", stats.wire_bytes_in},
          {"wire_bytes_out", stats.wire_bytes_out},
          {"totals", ToJson(stats.totals)}};
}

Json ToJson(const TransferSum& sum) {
  return {{"key", sum.key},
          {"host_to_device", ToJson(sum.host_to_device)},
          {"device_to_host", ToJson(sum.device_to_host)},
          {"device_to_device", ToJson(sum.device_to_device)}};
}

Json ToJson(const RunSum& sum) {
  const auto spread = [](const Distribution& s) {
    return Json{{"min_us", s.min_us}, {"max_us", s.max_us}, {"sum_us", s.sum_us}};
  };
  return {{"key", sum.key},         {"program", sum.program},
          {"executes", sum.count},  {"queue", spread(sum.queue)},
          {"run", spread(sum.run)}, {"peak_bytes", sum.peak_bytes}};
}

Json ToJson(const CompileRow& row) {
  return {{"session", row.session},
          {"program", row.program},
          {"digest", row.digest},
          {"origin", ToJson(row.origin)},
          {"step", row.step},
          {"reason", Name(row.reason)},
          {"why", row.why},
          {"outcome", Name(row.outcome)},
          {"at_us", row.at_us},
          {"compile_us", row.compile_us},
          {"instructions", row.instructions},
          {"program_bytes", row.program_bytes},
          {"code_bytes", row.code_bytes},
          {"argument_bytes", row.argument_bytes},
          {"output_bytes", row.output_bytes},
          {"alias_bytes", row.alias_bytes},
          {"temporary_bytes", row.temporary_bytes},
          {"count", row.count},
          {"others", row.others},
          {"slow_steps", row.slow_steps}};
}

// Printable's escapes of non-printing characters inside strings are JSON escapes, too: a reader gets the same
// text back.
std::string Dump(const Json& json) {
  return PrintableLines(json.dump(2, ' ', false, Json::error_handler_t::replace));
}

Json ErrorToJson(const absl::Status& status) {
  const ErrorDetails error = ErrorOf(status);
  Json json = {
      {"code", absl::StatusCodeToString(status.code())}, {"kind", Name(error.kind)}, {"message", error.text}};
  if (error.handle != 0) json["handle"] = error.handle;
  if (!error.shape.empty()) json["shape"] = error.shape;
  return {{"error", std::move(json)}};
}

}  // namespace hlod::cli

// Keys are the names of fields, each listed once.
#include "client/cli/print/json.h"

#include "common/base/errors/error.h"
#include "common/base/fields.h"
#include "common/base/text/printable.h"

namespace hlod::cli {

namespace {

HLOD_NAMED_FIELDS(Amount, bytes, calls)
HLOD_NAMED_FIELDS(Origin, file, line, function)
HLOD_CHOSEN_FIELDS(CompileResult, digest, cached, persistent, compile_us, argument_bytes, output_bytes,
                   alias_bytes, temporary_bytes, steps, reference_steps, reference_opcodes, slow_steps)
HLOD_NAMED_FIELDS(BufferRow, session, handle, device, shape, bytes, state, origin)
HLOD_NAMED_FIELDS(ExecutableRow, digest, name, instructions, steps, fused_steps, library_steps,
                  movement_steps, reference_steps, reference_opcodes, slow_steps, temporary_bytes, compile_us,
                  executes, execute_us, network_us, sessions)
HLOD_NAMED_FIELDS(SessionRow, session, client, pid, state, age_us, stats, messages)
HLOD_NAMED_FIELDS(Distribution, min_us, max_us, sum_us)
HLOD_NAMED_FIELDS(TransferSum, key, host_to_device, device_to_host, device_to_device)

// The structures whose figures are rows of common/base/stats.inc.
template <typename V>
void Fields(V& visitor, const SessionStats& stats) {
#define HLOD_SESSION_AMOUNT(name, direction, meaning) visitor(#name, stats.name);
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) visitor(#name, stats.name);
#define HLOD_SESSION_MEMORY(name, unit, meaning) visitor(#name, stats.name);
#include "common/base/stats.inc"
}
template <typename V>
void Fields(V& visitor, const DeviceRow& row) {
  visitor("ordinal", row.ordinal);
  visitor("kind", row.kind);
#define HLOD_DEVICE_FIGURE(name, unit, type, metric, meaning) visitor(#name, row.name);
#include "common/base/stats.inc"
  visitor("cpu_features", row.cpu_features);
}
template <typename V>
void Fields(V& visitor, const DaemonStats& stats) {
  visitor("version", stats.version);
  visitor("epoch", stats.epoch);
  visitor("pid", stats.pid);
#define HLOD_DAEMON_FIGURE(name, unit, type, metric, meaning) visitor(#name, stats.name);
#include "common/base/stats.inc"
  visitor("totals", stats.totals);
}

template <typename T>
Json FieldsToJson(const T& structure) {
  Json json;
  const auto add = [&json](const char* name, const auto& field) {
    if constexpr (requires { cli::ToJson(field); }) json[name] = cli::ToJson(field);
    else json[name] = field;
  };
  Fields(add, structure);
  return json;
}

}  // namespace

Json ToJson(const Amount& amount) { return FieldsToJson(amount); }
Json ToJson(const Origin& origin) { return FieldsToJson(origin); }
Json ToJson(const CompileResult& result) { return FieldsToJson(result); }
Json ToJson(const DeviceRow& row) { return FieldsToJson(row); }
Json ToJson(const BufferRow& row) { return FieldsToJson(row); }
Json ToJson(const ExecutableRow& row) { return FieldsToJson(row); }
Json ToJson(const SessionRow& row) { return FieldsToJson(row); }
Json ToJson(const DaemonStats& stats) { return FieldsToJson(stats); }
Json ToJson(const TransferSum& sum) { return FieldsToJson(sum); }

Json ToJson(const SessionStats& stats) {
  Json json = FieldsToJson(stats);
  if (!stats.rows.empty()) json["rows"] = ToJson(stats.rows);
  return json;
}

Json ToJson(const LedgerRow& row) {
  return {{"cause", Name(row.cause)},     {"direction", Name(DirectionOf(row.cause))},
          {"bytes", row.amount.bytes},    {"calls", row.amount.calls},
          {"origin", ToJson(row.origin)}, {"step", row.step},
          {"session", row.session},       {"device", row.device}};
}

Json ToJson(const RunSum& sum) {
  return {{"key", sum.key},
          {"program", sum.program},
          {"executes", sum.count},
          {"queue", FieldsToJson(sum.queue)},
          {"run", FieldsToJson(sum.run)},
          {"peak_bytes", sum.peak_bytes},
          {"network_us", sum.network_us},
          {"network_bytes", sum.network_bytes}};
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

// Writes the report of graphs as JSON.
#include <nlohmann/json.hpp>

#include "client/report/graphs/or_null.h"
#include "common/base/kinds.h"
#include "hlod/observe/graph_report.h"

namespace hlod {
namespace {

using report::OrNull;
using Json = nlohmann::ordered_json;

Json ToJson(const Origin& origin) {
  return {{"file", origin.file}, {"line", origin.line}, {"function", origin.function}};
}
Json ToJson(const Distribution& spread, int64_t count) {
  return {{"total_us", spread.sum_us},
          {"mean_us", count == 0 ? 0.0 : static_cast<double>(spread.sum_us) / static_cast<double>(count)},
          {"min_us", spread.min_us},
          {"max_us", spread.max_us}};
}
Json ToJson(const Amount& amount) { return {{"bytes", amount.bytes}, {"calls", amount.calls}}; }
Json ToJson(const PhaseTimes& times) {
  return {{"trace_us", times.trace_us}, {"lower_us", times.lower_us},     {"compile_us", times.compile_us},
          {"queue_us", times.queue_us}, {"execute_us", times.execute_us}, {"wait_us", times.wait_us}};
}
Json ToJson(const GraphRow& row) {
  return {{"program", row.program},
          {"name", row.name},
          {"cause", row.cause},
          {"origin", ToJson(row.origin)},
          {"nodes", OrNull(row.nodes)},
          {"inputs", OrNull(row.inputs)},
          {"outputs", OrNull(row.outputs)},
          {"compiles", row.compiles},
          {"daemon_hits", row.daemon_hits},
          {"cache_hits", row.cache_hits},
          {"executes", row.executes},
          {"compile", ToJson(row.compile, row.compiles_timed)},
          {"queue", ToJson(row.queue, row.executes_timed)},
          {"execute", ToJson(row.execute, row.executes_timed)},
          {"host_to_device_bytes", row.host_to_device_bytes},
          {"device_to_host_bytes", row.device_to_host_bytes},
          {"number_bytes", row.number_bytes}};
}
Json ToJson(const BreakRow& row) {
  return {{"stage", std::string(Name(row.stage))},
          {"cause", std::string(Name(row.cause))},
          {"operation", row.operation},
          {"origin", ToJson(row.origin)},
          {"value", row.value},
          {"times", row.times},
          {"host_to_device_bytes", row.host_to_device_bytes},
          {"device_to_host_bytes", row.device_to_host_bytes},
          {"host_to_device_calls", row.host_to_device_calls},
          {"device_to_host_calls", row.device_to_host_calls},
          {"held_bytes", row.held_bytes},
          {"fusion_lost_bytes", row.fusion_lost_bytes},
          {"times_us", ToJson(row.times_us)},
          {"saves_graphs", row.saves_graphs},
          {"saves_executes", row.saves_executes},
          {"saves_us", row.saves_us},
          {"remedy", std::string(Remedy(row.cause))}};
}
Json ToJson(const RecompileRow& row) {
  return {{"reason", std::string(Name(row.reason))},
          {"why", row.why},
          {"program", row.program},
          {"nearest", row.nearest},
          {"origin", ToJson(row.origin)},
          {"step", row.step},
          {"compile_us", row.compile_us},
          {"remedy", std::string(Remedy(row.reason))}};
}
Json ToJson(const SlowRow& row) {
  return {{"path", row.path},   {"what", row.what}, {"line", row.line},    {"program", row.program},
          {"times", row.times}, {"us", row.us},     {"remedy", row.remedy}};
}
Json ToJson(const LineTransfers& row) {
  return {{"cause", std::string(Name(row.cause))},
          {"direction", std::string(Name(DirectionOf(row.cause)))},
          {"origin", ToJson(row.origin)},
          {"bytes", row.amount.bytes},
          {"calls", row.amount.calls}};
}
template <typename Row>
Json ToJson(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(ToJson(row));
  return list;
}

}  // namespace

std::string ToJson(const GraphReport& report) {
  const Json json = {{"graphs", ToJson(report.graphs)},
                     {"breaks", ToJson(report.breaks)},
                     {"recompiles", ToJson(report.recompiles)},
                     {"slow", ToJson(report.slow)},
                     {"transfers", ToJson(report.transfers)},
                     {"steps", report.steps},
                     {"compiles", report.compiles},
                     {"daemon_hits", report.daemon_hits},
                     {"cache_hits", report.cache_hits},
                     {"executes", report.executes},
                     {"host_to_device", ToJson(report.host_to_device)},
                     {"device_to_host", ToJson(report.device_to_host)},
                     {"other_host_to_device_bytes", report.other_host_to_device_bytes},
                     {"other_device_to_host_bytes", report.other_device_to_host_bytes},
                     {"number_bytes", report.number_bytes},
                     {"times", ToJson(report.times)},
                     {"wall_us", report.wall_us}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hlod

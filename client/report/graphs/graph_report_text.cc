// Writes the report of graphs as text.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/report/graphs/table.h"
#include "common/base/kinds.h"
#include "common/base/text/strings.h"
#include "hlod/observe/graph_report.h"

namespace hlod {
namespace {

using report::Table;

std::string N(int64_t n) { return absl::StrCat(n); }
std::string N(std::optional<int64_t> n) { return n.has_value() ? N(*n) : "-"; }
std::string Us(double us) { return N(std::llround(us)); }
std::string Mean(const Distribution& spread, int64_t count) {
  return count == 0 ? "-" : Us(static_cast<double>(spread.sum_us) / static_cast<double>(count));
}

std::string Graphs(const GraphReport& report) {
  Table table({"graph", "cause", "line", "nodes", "in", "out", "compiles", "daemon hits", "hits", "executes",
               "compile us", "execute us", "mean", "min", "max", "to device", "to host", "numbers"});
  for (const GraphRow& row : report.graphs) {
    table.Add({row.program.substr(0, 12), row.cause, ToString(row.origin), N(row.nodes), N(row.inputs),
               N(row.outputs), N(row.compiles), N(row.daemon_hits), N(row.cache_hits), N(row.executes),
               N(row.compile.sum_us), N(row.execute.sum_us), Mean(row.execute, row.executes_timed),
               N(row.execute.min_us), N(row.execute.max_us), N(row.host_to_device_bytes),
               N(row.device_to_host_bytes), N(row.number_bytes)});
  }
  if (report.other_host_to_device_bytes != 0 || report.other_device_to_host_bytes != 0) {
    std::vector<std::string> row(18, "");
    row[0] = "none";
    row[15] = N(report.other_host_to_device_bytes);
    row[16] = N(report.other_device_to_host_bytes);
    table.Add(std::move(row));
  }
  return table.ToString();
}

std::string Breaks(const GraphReport& report) {
  Table table({"break", "stage", "line", "times", "wait us", "to device", "to host", "held", "fusion lost",
               "saves graphs", "executes", "us", "value"});
  for (const BreakRow& row : report.breaks) {
    table.Add({absl::StrCat(ToAbsl(Name(row.cause)),
                            row.operation == Name(row.cause) ? "" : absl::StrCat(" ", row.operation)),
               std::string(Name(row.stage)), ToString(row.origin), N(row.times), Us(row.times_us.wait_us),
               N(row.host_to_device_bytes), N(row.device_to_host_bytes), N(row.held_bytes),
               N(row.fusion_lost_bytes), N(row.saves_graphs), N(row.saves_executes), Us(row.saves_us),
               row.value});
  }
  return table.ToString();
}

std::string Recompiles(const GraphReport& report) {
  Table table({"recompile", "step", "line", "compile us", "why"});
  for (const RecompileRow& row : report.recompiles) {
    table.Add({std::string(Name(row.reason)), N(static_cast<int64_t>(row.step)), ToString(row.origin),
               Us(row.compile_us), row.why});
  }
  return table.ToString();
}

std::string Slow(const GraphReport& report) {
  Table table({"slow path", "program", "line", "times", "us", "what", "remedy"});
  for (const SlowRow& row : report.slow)
    table.Add({row.path, row.program, row.line, N(row.times), Us(row.us), row.what, row.remedy});
  return table.ToString();
}

std::string Transfers(const GraphReport& report) {
  Table table({"transfer", "direction", "line", "bytes", "calls"});
  for (const LineTransfers& row : report.transfers) {
    table.Add({std::string(Name(row.cause)), std::string(Name(DirectionOf(row.cause))), ToString(row.origin),
               N(row.amount.bytes), N(row.amount.calls)});
  }
  return table.ToString();
}

}  // namespace

std::string ToText(const GraphReport& report) {
  std::string text = absl::StrFormat(
      "%d steps, %d graphs, %d compiles, %d daemon hits, %d cache hits, %d "
      "executes; %d bytes to the device, %d to the host, %d in numbers that travelled with executes\n"
      "us: trace %.0f, lower %.0f, compile %.0f, queue %.0f, execute %.0f, wait %.0f; the run took %.0f\n\n",
      report.steps, report.graphs.size(), report.compiles, report.daemon_hits, report.cache_hits,
      report.executes, report.host_to_device.bytes, report.device_to_host.bytes, report.number_bytes,
      report.times.trace_us, report.times.lower_us, report.times.compile_us, report.times.queue_us,
      report.times.execute_us, report.times.wait_us, report.wall_us);
  absl::StrAppend(&text, Graphs(report), "\n");
  if (report.breaks.empty() && report.steps == 0 && report.executes > 0)
    absl::StrAppend(&text, "Breaks: unknown: the program marks no steps.\n");
  else if (report.breaks.empty() && report.steps == 0) absl::StrAppend(&text, "No breaks.\n");
  else if (report.breaks.empty()) absl::StrAppend(&text, "No breaks: each step is one graph.\n");
  else absl::StrAppend(&text, Breaks(report), "\n");
  if (!report.recompiles.empty()) absl::StrAppend(&text, Recompiles(report), "\n");
  if (!report.slow.empty()) absl::StrAppend(&text, Slow(report), "\n");
  if (!report.transfers.empty()) absl::StrAppend(&text, Transfers(report), "\n");
  if (report.breaks.empty()) return text;
  const BreakRow& first = report.breaks.front();
  absl::StrAppendFormat(&text, "Remove first: %s at %s, which saves %.0f us of %.0f (%.0f%%). %s\n",
                        ToAbsl(Name(first.cause)), ToString(first.origin), first.saves_us, report.wall_us,
                        report.wall_us > 0 ? 100 * first.saves_us / report.wall_us : 0.0,
                        ToAbsl(Remedy(first.cause)));
  return text;
}

}  // namespace hlod

// The report as text: totals, graphs, the places where they end, recompiles.
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/check/quantity.h"
#include "client/analysis/torch_xla/torch_xla_report.h"

namespace hlod::analysis::torch_xla {
namespace {

// The number of changes shown per pair of traces; --json has all.
constexpr size_t kChangesShown = 8;
constexpr size_t kHashShown = 12;

std::string Count(const std::optional<int64_t>& count) {
  return count.has_value() ? absl::StrCat(*count) : "-";
}
std::string Short(const std::string& hash) { return hash.substr(0, kHashShown); }
std::string At(const Frame& frame) {
  if (frame.at.file.empty()) return "an unknown line";
  return absl::StrCat(ToString(frame.at), " ", frame.function);
}

void AppendTotals(const Report& report, std::string& text) {
  const auto graphs = static_cast<int64_t>(report.graphs.size()), dynamo = report.dynamo_graphs();
  absl::StrAppendFormat(
      &text, "graphs      %d: %d by lazy tracing, %d through Dynamo; %d at lines that had made another\n",
      graphs, graphs - dynamo, dynamo, report.recompiles.size());
  const auto times = [&](const char* name, const std::optional<Total>& total) {
    if (!total.has_value()) return;
    absl::StrAppendFormat(&text, "%-11s %s in %d\n", name, SecondsText(total->sum), total->calls);
  };
  times("compiling", report.compile);
  times("executing", report.execute);
  if (report.cached.has_value() || report.uncached.has_value())
    absl::StrAppendFormat(&text, "cache       %s hits, %s misses\n", Count(report.cached),
                          Count(report.uncached));
  if (report.steps.has_value()) absl::StrAppendFormat(&text, "syncs       %d\n", *report.steps);
  const auto moved = [&](const char* name, const std::optional<Total>& bytes,
                         const std::optional<Total>& seconds) {
    if (!bytes.has_value() && !seconds.has_value()) return;
    absl::StrAppendFormat(&text, "%-11s %s in %d calls", name, BytesText(bytes.value_or(Total()).sum),
                          (bytes.has_value() ? bytes : seconds)->calls);
    if (seconds.has_value()) absl::StrAppendFormat(&text, ", %s", SecondsText(seconds->sum));
    text += "\n";
  };
  moved("to device", report.to_device_bytes, report.to_device_seconds);
  moved("from device", report.from_device_bytes, report.from_device_seconds);
  if (report.unexpected_executions > 0)
    absl::StrAppendFormat(&text,
                          "unexpected  %d executions in functions that torch_xla.compile'd with full_graph\n",
                          report.unexpected_executions);
}

void AppendGraphs(const Report& report, std::string& text) {
  if (report.graphs.empty()) return;
  text += "\ngraph         made by  nodes  inputs outputs compiles executions  at\n";
  for (const Graph& graph : report.graphs) {
    absl::StrAppendFormat(&text, "%-13s %-7s %6s %7s %7s %8s %10s  %s", Short(graph.hash),
                          graph.cause.is_dynamo ? "Dynamo" : "lazy", Count(graph.nodes), Count(graph.inputs),
                          Count(graph.outputs), Count(graph.compiles), Count(graph.executions), At(graph.at));
    if (!graph.name.empty()) absl::StrAppend(&text, " (", graph.name, ")");
    if (graph.sizes.has_value()) {
      absl::StrAppendFormat(&text, "; input %s, output %s, aliased %s, temporary %s",
                            BytesText(graph.sizes->input_bytes), BytesText(graph.sizes->output_bytes),
                            BytesText(graph.sizes->alias_bytes), BytesText(graph.sizes->temporary_bytes));
    }
    text += "\n";
  }
}

void AppendPlaces(const Report& report, std::string& text) {
  if (report.places.empty()) return;
  text += "\nwhere graphs end, and why\n";
  for (const GraphEnd& place : report.places) {
    absl::StrAppendFormat(&text, "  %s: %s%s: %d graph%s, %s compiles, %s executions\n", At(place.at),
                          place.cause.is_break ? "BREAK: " : "", place.cause.text, place.graphs,
                          place.graphs == 1 ? "" : "s", Count(place.compiles), Count(place.executions));
  }
  std::map<std::string, std::string> breaks;
  for (const GraphEnd& place : report.places) {
    if (place.cause.is_break) breaks.emplace(place.cause.text, place.cause.advice);
  }
  for (const auto& [cause, advice] : breaks) absl::StrAppend(&text, "  * ", cause, ": ", advice, "\n");
}

void AppendRecompiles(const Report& report, std::string& text) {
  if (report.recompiles.empty()) return;
  text += "\nlines that made another graph than before\n";
  for (const Recompile& recompile : report.recompiles) {
    absl::StrAppend(&text, "  ", At(recompile.at), ": ", Short(recompile.to), " after ",
                    Short(recompile.from));
    if (!recompile.difference.has_value()) {
      text += " (what differs the traces say: XLA_SAVE_TENSORS_FILE)\n";
      continue;
    }
    const auto& changes = recompile.difference->changes;
    absl::StrAppend(&text, ": ", changes.size(), " lines of the trace differ\n");
    for (size_t i = 0; i < std::min(changes.size(), kChangesShown); ++i)
      absl::StrAppend(&text, "    ", changes[i].added ? "+" : "-", changes[i].line, "\n");
    if (changes.size() > kChangesShown)
      absl::StrAppend(&text, "    ... ", changes.size() - kChangesShown, " more\n");
  }
}

}  // namespace

std::string ToText(const Report& report) {
  std::string text;
  AppendTotals(report, text);
  AppendGraphs(report, text);
  AppendPlaces(report, text);
  AppendRecompiles(report, text);
  if (!report.fallbacks.empty())
    text += "\noperators without a lowering, which ran on the CPU (each breaks the graph)\n";
  for (const auto& [name, count] : report.fallbacks) absl::StrAppend(&text, "  ", name, ": ", count, "\n");
  if (!report.advice.empty()) text += "\npt-xla-profiler says\n";
  for (const std::string& advice : report.advice) absl::StrAppend(&text, "  ", advice, "\n");
  if (!report.problems.empty()) text += "\nleft out\n";
  for (const std::string& problem : report.problems) absl::StrAppend(&text, "  ", problem, "\n");
  return text;
}

}  // namespace hlod::analysis::torch_xla

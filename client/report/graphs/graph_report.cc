// Makes the report of graphs and breaks.
#include "hlod/observe/graph_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/report/graphs/slow_rows.h"
#include "client/report/graphs/timeline.h"
#include "common/base/saturated.h"

namespace hlod {
namespace {

using report::Piece;
using report::SlowRows;
using report::Timeline;
using report::WaitPoint;

struct BreakKind {
  TraceCause cause;
  BreakStage stage;
  const char* remedy;
};
constexpr BreakKind kBreakKinds[] = {
    {TraceCause::kSync, BreakStage::kTrace, "The end of a step."},
    {TraceCause::kToHost, BreakStage::kTrace,
     "Read the tensor after Sync(), or every few steps; ToHost() of several at once waits once."},
    {TraceCause::kItem, BreakStage::kTrace,
     "Keep it a tensor: Where() in place of an if, a sum on the device in place of one on the host; read it "
     "after Sync()."},
    {TraceCause::kPrint, BreakStage::kTrace, "Print after Sync(), or every few steps."},
    {TraceCause::kSave, BreakStage::kTrace, "Save between steps, after Sync()."},
    {TraceCause::kExport, BreakStage::kTrace, "Hand buffers out between steps, after Sync()."},
    {TraceCause::kDeviceCopy, BreakStage::kTrace, "Copy between steps, or compute on one device."},
    {TraceCause::kDynamicShape, BreakStage::kLowering,
     "Use a mask with Where(), or a size that is known, in place of a shape that depends on values."},
    {TraceCause::kHostFunction, BreakStage::kLowering,
     "Write the function in tensors, or as a custom call of the daemon."},
    {TraceCause::kLimit, BreakStage::kLowering, "Raise trace_nodes_max, or call Sync() where a step ends."},
};

const BreakKind& KindOf(TraceCause cause) {
  for (const BreakKind& kind : kBreakKinds) {
    if (kind.cause == cause) return kind;
  }
  return kBreakKinds[0];
}

std::string Text(const EventValue& value) {
  return absl::StrCat(hlo::ToStringNoLayout(value.shape), " made at ", ToString(value.origin));
}

// Returns a text for the value that the break asked for.
std::string ValueOf(const Piece& piece, const WaitPoint& stop) {
  if (&stop == &piece.stops.front()) {
    for (const auto& output : piece.close->outputs) {
      if (output.value == piece.close->forced && output.value != 0) return Text(output);
    }
  }
  return stop.force == nullptr ? "" : Text(stop.force->value);
}

void Add(Distribution& to, const Distribution& spread, bool first) {
  to.min_us = first ? spread.min_us : std::min(to.min_us, spread.min_us);
  to.max_us = std::max(to.max_us, spread.max_us);
  AddSaturated(to.sum_us, spread.sum_us);
}

void Add(PhaseTimes& to, const Piece& piece) {
  to.trace_us += piece.close->trace_us;
  to.lower_us += piece.close->lower_us;
  to.compile_us += piece.close->compile_us + piece.compile_us;
  to.queue_us += piece.queue_us;
  to.execute_us += piece.execute_us;
  to.wait_us += piece.wait_us();
}

// The cause of a program that ran without a trace.
constexpr char kExecute[] = "execute";

// Adds the times of a program that ran without a trace: those that the daemon measured.
void AddTimes(const GraphRow& row, PhaseTimes& to) {
  to.compile_us += static_cast<double>(row.compile.sum_us);
  to.queue_us += static_cast<double>(row.queue.sum_us);
  to.execute_us += static_cast<double>(row.execute.sum_us);
}

// The key of a graph: program, cause, file, line.
using GraphKey = std::tuple<std::string, std::string, std::string, int>;

void AddGraphs(const Timeline& timeline, GraphReport& report) {
  std::map<GraphKey, size_t> row_of;
  for (const Piece& piece : timeline.pieces()) {
    const CloseEvent& close = *piece.close;
    const GraphKey key(close.program, piece.cause, close.origin.file, close.origin.line);
    const auto [entry, fresh] = row_of.try_emplace(key, report.graphs.size());
    if (fresh) {
      GraphRow& row = report.graphs.emplace_back();
      row.program = close.program;
      row.name = close.name;
      row.cause = piece.cause;
      row.origin = close.origin;
      row.nodes = close.nodes;
      row.inputs = static_cast<int64_t>(close.inputs.size());
      std::set<uint64_t> buffers;
      for (const auto& output : close.outputs) buffers.insert(output.buffer);
      row.outputs = static_cast<int64_t>(buffers.size());
    }
    GraphRow& row = report.graphs[entry->second];
    row.compiles += close.found == ProgramSource::kCompiled;
    row.cache_hits += close.found == ProgramSource::kRecorded || close.found == ProgramSource::kCanonical;
    row.executes += close.status.ok();
    AddSaturated(row.host_to_device_bytes, piece.uploaded_bytes);
    AddSaturated(row.device_to_host_bytes, piece.read_bytes);
    AddSaturated(row.number_bytes, piece.number_bytes);
    Add(report.times, piece);
  }
}

// Returns the row in which a compile of the program is counted: the first that sent it, if any did. Null if
// the program never ran.
GraphRow* RowOfCompile(GraphReport& report, const std::string& program) {
  GraphRow* found = nullptr;
  for (GraphRow& graph : report.graphs) {
    if (graph.program != program) continue;
    if (graph.compiles > 0) return &graph;
    if (found == nullptr) found = &graph;
  }
  return found;
}

// Adds the daemon's times, and rows for programs that ran without a trace.
void AddAccounts(const Profile& run, GraphReport& report) {
  std::multimap<std::pair<std::string, int>, size_t> rows_of;  // The rows by program and line.
  for (size_t i = 0; i < report.graphs.size(); ++i)
    rows_of.emplace(std::pair(report.graphs[i].program, report.graphs[i].origin.line), i);
  for (const ProfileAccount& account : run.accounts) {
    for (const RunRow& row : account.account.runs) {
      const auto [begin, end] = rows_of.equal_range({row.digest, row.origin.line});
      bool known = false;
      for (auto it = begin; it != end; ++it) {
        GraphRow& graph = report.graphs[it->second];
        if (graph.origin.file != row.origin.file) continue;
        known = true;
        Add(graph.queue, row.queue, graph.executes_timed == 0);
        Add(graph.execute, row.run, graph.executes_timed == 0);
        graph.executes_timed += row.count;
        if (graph.cause == kExecute) graph.executes += row.count;
      }
      if (known) continue;
      rows_of.emplace(std::pair(row.digest, row.origin.line), report.graphs.size());
      GraphRow& graph = report.graphs.emplace_back();
      graph.program = row.digest;
      graph.name = row.program;
      graph.cause = kExecute;
      graph.origin = row.origin;
      graph.queue = row.queue;
      graph.execute = row.run;
      graph.executes = graph.executes_timed = row.count;
    }
    for (const CompileRow& row : account.account.compiles) {
      GraphRow* const graph = RowOfCompile(report, row.digest);
      if (graph == nullptr) continue;
      Add(graph->compile, {row.compile_us, row.compile_us, row.compile_us}, graph->compiles_timed == 0);
      graph->compiles_timed += row.count;
      const bool had = row.outcome != CompileOutcome::kCompiled;
      if (graph->cause == kExecute) {
        (had ? graph->daemon_hits : graph->compiles) += row.count;
      } else if (had) {  // The process sent it to be compiled.
        const int64_t count = std::min(row.count, graph->compiles);
        graph->compiles -= count;
        graph->daemon_hits += count;
      }
    }
    AddSaturated(report.host_to_device.bytes, account.account.stats.host_to_device.bytes);
    AddSaturated(report.host_to_device.calls, account.account.stats.host_to_device.calls);
    AddSaturated(report.device_to_host.bytes, account.account.stats.device_to_host.bytes);
    AddSaturated(report.device_to_host.calls, account.account.stats.device_to_host.calls);
  }
  report.other_host_to_device_bytes = report.host_to_device.bytes;
  report.other_device_to_host_bytes = report.device_to_host.bytes;
  for (const GraphRow& graph : report.graphs) {
    SubtractSaturated(report.other_host_to_device_bytes, graph.host_to_device_bytes);
    SubtractSaturated(report.other_device_to_host_bytes, graph.device_to_host_bytes);
    AddSaturated(report.number_bytes, graph.number_bytes);
    if (graph.cause == kExecute) AddTimes(graph, report.times);
    AddSaturated(report.compiles, graph.compiles);
    AddSaturated(report.daemon_hits, graph.daemon_hits);
    report.cache_hits += graph.cache_hits;
    report.executes += graph.executes;
  }
}

void AddBreaks(const Timeline& timeline, GraphReport& report) {
  std::vector<const WaitPoint*> lines;  // The line of each row.
  const auto row_of = [&](const Piece& piece, const WaitPoint& stop) -> BreakRow& {
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&](const WaitPoint* line) { return line->IsSameLine(stop); });
    if (found != lines.end()) return report.breaks[static_cast<size_t>(found - lines.begin())];
    lines.push_back(&stop);
    BreakRow& row = report.breaks.emplace_back();
    row.stage = StageOf(stop.cause);
    row.cause = stop.cause;
    row.operation = stop.host_function == nullptr ? stop.operation : stop.host_function->name;
    row.origin = stop.origin;
    row.value = ValueOf(piece, stop);
    return row;
  };
  for (const Piece& piece : timeline.pieces()) {
    for (const WaitPoint& stop : piece.stops) {
      BreakRow& row = row_of(piece, stop);
      ++row.times;
      AddSaturated(row.host_to_device_bytes, stop.host_to_device_bytes);
      AddSaturated(row.device_to_host_bytes, stop.device_to_host_bytes);
      row.host_to_device_calls += stop.host_to_device_calls;
      row.device_to_host_calls += stop.device_to_host_calls;
      row.held_bytes = std::max(row.held_bytes, piece.held_bytes);
      row.times_us.wait_us += stop.wait_us;
    }
    if (!piece.is_break()) continue;
    // The graph is counted for its first line.
    BreakRow& row = row_of(piece, piece.stops.front());
    AddSaturated(row.fusion_lost_bytes, piece.fusion_lost_bytes);
    Add(row.times_us, piece);
    row.times_us.wait_us -= piece.wait_us();
  }
  const Timeline::Counts with = timeline.CountsWithout(nullptr);
  for (size_t i = 0; i < lines.size(); ++i) {
    BreakRow& row = report.breaks[i];
    const Timeline::Counts without = timeline.CountsWithout(lines[i]);
    row.saves_graphs = with.graphs - without.graphs;
    row.saves_executes = with.executes - without.executes;
    row.saves_us = timeline.SavedWithout(*lines[i]);
  }
  std::stable_sort(report.breaks.begin(), report.breaks.end(),
                   [](const BreakRow& a, const BreakRow& b) { return a.saves_us > b.saves_us; });
}

void AddRecompiles(const Profile& run, const Timeline& timeline, GraphReport& report) {
  std::map<std::string, double> cost;  // The costs by program.
  for (const Piece& piece : timeline.pieces()) {
    if (piece.close->found == ProgramSource::kCompiled)
      cost[piece.close->program] = piece.close->compile_us + piece.compile_us;
  }
  // The daemon's times are known for programs that ran without a trace.
  for (const GraphRow& graph : report.graphs)
    cost.try_emplace(graph.program, static_cast<double>(graph.compile.sum_us));
  std::set<std::pair<std::string, int>> compiled_at;  // The lines at which a program was compiled.
  for (const Event& event : run.events) {
    const auto* const compile = std::get_if<CompileEvent>(&event.what);
    if (compile == nullptr) continue;
    // The first program of a line is not a recompile, even when another line has one like it.
    const bool first_here = compiled_at.emplace(compile->origin.file, compile->origin.line).second;
    if (compile->reason == CompileReason::kFirst) continue;
    if (first_here && compile->reason != CompileReason::kAgain) continue;
    RecompileRow& row = report.recompiles.emplace_back();
    row.reason = compile->reason;
    row.why = compile->why;
    row.program = compile->name;
    row.nearest = compile->nearest;
    row.origin = compile->origin;
    row.step = compile->step;
    const auto found = cost.find(compile->program);
    if (found != cost.end()) row.compile_us = found->second;
  }
}

void AddTransfers(const Profile& run, GraphReport& report) {
  std::map<std::tuple<Cause, std::string, int>, LineTransfers> rows;
  for (const ProfileAccount& account : run.accounts) {
    for (const TransferRow& row : account.account.transfers) {
      const Origin origin = row.other_lines ? Origin() : row.origin;
      LineTransfers& line = rows[{row.cause, origin.file, origin.line}];
      line.cause = row.cause;
      line.origin = origin;
      line.amount.bytes += row.amount.bytes;
      line.amount.calls += row.amount.calls;
    }
  }
  for (auto& [key, row] : rows) report.transfers.push_back(std::move(row));
  std::stable_sort(
      report.transfers.begin(), report.transfers.end(),
      [](const LineTransfers& a, const LineTransfers& b) { return a.amount.bytes > b.amount.bytes; });
}

}  // namespace

std::string_view Name(BreakStage stage) { return stage == BreakStage::kTrace ? "trace" : "lowering"; }
BreakStage StageOf(TraceCause cause) { return KindOf(cause).stage; }
std::string_view Remedy(TraceCause cause) { return KindOf(cause).remedy; }

GraphReport MakeGraphReport(const Profile& run) {
  const Timeline timeline(run);
  GraphReport report;
  AddGraphs(timeline, report);
  AddAccounts(run, report);
  AddBreaks(timeline, report);
  AddRecompiles(run, timeline, report);
  report.slow = SlowRows(run);
  AddTransfers(run, report);
  for (const Event& event : run.events) report.steps += std::holds_alternative<StepEvent>(event.what);
  if (!run.events.empty()) report.wall_us = run.events.back().at_us - run.events.front().at_us;
  return report;
}

GraphReport ReportGraphs(const std::function<void()>& body) {
  ProfileRecorder recording;
  body();
  return MakeGraphReport(recording.Finish());
}

}  // namespace hlod

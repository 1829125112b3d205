// Computes the parts of the report from events and accounts.
#include "client/report/page/report.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "client/report/page/first.h"
#include "client/report/page/memory.h"
#include "client/report/page/page.h"
#include "client/report/page/timeline.h"
#include "client/report/page/trace.h"
#include "common/base/kinds.h"
#include "common/base/saturated.h"
#include "hlod/tensor/trace.h"

namespace hlod::report {
namespace {

constexpr size_t kPointsMax = 4000;  // The maximum number of points, more than a screen has columns.

std::string_view MeaningOf(TraceCause cause) {
  switch (cause) {
#define HLOD_TRACE_CAUSE(id, text, meaning) \
  case TraceCause::id: return meaning;
#include "hlod/observe/trace_causes.inc"
#undef HLOD_TRACE_CAUSE
  }
  return "";
}

void Add(Amount& sum, const Amount& amount) {
  AddSaturated(sum.bytes, amount.bytes);
  AddSaturated(sum.calls, amount.calls);
}
Json AmountJson(const Amount& amount) { return {{"bytes", amount.bytes}, {"calls", amount.calls}}; }

Json RunPart(const Profile& run) {
  std::set<std::string> daemons;
  for (const ProfileAccount& account : run.accounts) daemons.insert(account.daemon);
  int64_t steps = 0;
  ForEach<StepEvent>(run, [&](const Event&, const StepEvent&) { ++steps; });
  const double seconds = run.events.empty() ? 0 : (run.events.back().at_us - StartOf(run)) / 1e6;
  return {{"program", run.program}, {"started", run.started},     {"sessions", run.accounts.size()},
          {"daemons", daemons},     {"complete", run.complete},   {"steps", steps},
          {"seconds", seconds},     {"events", run.events.size()}};
}

Json Totals(const Profile& run, const GraphReport& graphs) {
  Amount in, out, on;
  int64_t compiles = 0, hits = 0, executes = 0, peak = 0;
  for (const ProfileAccount& account : run.accounts) {
    const SessionStats& stats = account.account.stats;
    Add(in, stats.host_to_device);
    Add(out, stats.device_to_host);
    Add(on, stats.device_to_device);
    AddSaturated(compiles, stats.compiles);
    AddSaturated(hits, stats.compile_cache_hits);
    AddSaturated(hits, stats.persistent_cache_hits);
    AddSaturated(executes, stats.executes);
    AddSaturated(peak, stats.peak_bytes);
  }
  return {{"host_to_device", AmountJson(in)},
          {"device_to_host", AmountJson(out)},
          {"device_to_device", AmountJson(on)},
          {"compiles", compiles},
          {"found_in_program", graphs.cache_hits},
          {"found_by_daemon", hits},
          {"executes", executes},
          {"peak_bytes", peak}};
}

void LargestFirst(Json& rows, const char* field) {
  std::stable_sort(rows.begin(), rows.end(), [field](const Json& a, const Json& b) {
    return a[field].get<int64_t>() > b[field].get<int64_t>();
  });
}

// Returns the highest point of each stretch, so that no peak is lost.
std::vector<MemoryPoint> Thin(const std::vector<MemoryPoint>& points) {
  if (points.size() <= kPointsMax) return points;
  std::vector<MemoryPoint> thin;
  const size_t stretch = (points.size() + kPointsMax - 1) / kPointsMax;
  for (size_t i = 0; i < points.size(); i += stretch) {
    const auto begin = points.begin() + static_cast<ptrdiff_t>(i);
    const auto end = points.begin() + static_cast<ptrdiff_t>(std::min(points.size(), i + stretch));
    thin.push_back(*std::max_element(
        begin, end, [](const MemoryPoint& a, const MemoryPoint& b) { return a.bytes() < b.bytes(); }));
  }
  return thin;
}

Json MemoryPart(const Profile& run, const Memory& memory) {
  const double start = StartOf(run);
  Json points = Json::array(), largest = Json::array();
  for (const MemoryPoint& point : Thin(memory.points))
    points.push_back(Json::array({point.at_us - start, point.bytes(), point.by_kind}));
  for (const LiveBuffer& buffer : memory.at_peak) {
    largest.push_back({{"name", buffer.name},
                       {"kind", Name(buffer.kind)},
                       {"shape", buffer.shape},
                       {"bytes", buffer.bytes},
                       {"origin", buffer.origin},
                       {"since_us", buffer.since_us - start}});
  }
  Json kinds = Json::array();
  for (size_t kind = 0; kind < kMemoryKinds; ++kind) kinds.push_back(Name(static_cast<MemoryKind>(kind)));
  return {{"kinds", kinds},
          {"points", points},
          {"peak_bytes", memory.peak_bytes},
          {"peak_us", memory.points.empty() ? 0 : memory.peak_us - start},
          {"largest", largest},
          {"others", memory.others},
          {"others_bytes", memory.others_bytes}};
}

// Returns the daemon's transfers. The sums of the rows are its totals.
Json Transfers(const Profile& run) {
  std::map<std::tuple<bool, uint64_t, Cause>, Amount> steps;  // Rows of several steps are last.
  std::map<std::tuple<std::string, std::string, Cause>, Amount> lines;
  for (const ProfileAccount& account : run.accounts) {
    for (const TransferRow& row : account.account.transfers) {
      Add(steps[{row.other_steps, row.step, row.cause}], row.amount);
      Add(lines[{row.other_lines ? "others" : LineOf(row.origin), row.name, row.cause}], row.amount);
    }
  }
  const auto add = [](Json entry, Cause cause, const Amount& amount, Json& list) {
    entry["cause"] = Name(cause);
    entry["direction"] = Name(DirectionOf(cause));
    entry.update(AmountJson(amount));
    list.push_back(std::move(entry));
  };
  Json by_step = Json::array(), by_line = Json::array();
  for (const auto& [key, amount] : steps) {
    const auto& [others, step, cause] = key;
    add({{"step", others ? Json("others") : Json(step)}}, cause, amount, by_step);
  }
  for (const auto& [key, amount] : lines) {
    const auto& [line, name, cause] = key;
    add({{"origin", line}, {"name", name}}, cause, amount, by_line);
  }
  LargestFirst(by_line, "bytes");
  return {{"by_step", by_step}, {"by_line", by_line}};
}

struct GraphLine {
  int64_t count = 0, compiled = 0, failed = 0, nodes = 0, results = 0, backward = 0, residual = 0;
  int64_t held_bytes = 0;  // The maximum held by one close.
  double trace_us = 0, lower_us = 0, send_us = 0, wait_us = 0;
  std::set<uint64_t> steps;

  void Add(const CloseEvent& close) {
    ++count;
    compiled += close.found == ProgramSource::kCompiled;
    failed += !close.status.ok();
    nodes += close.nodes;
    int64_t held = 0;
    for (const CloseEvent::Output& output : close.outputs) {
      ++results;
      backward += output.alive == LiveReason::kBackward;
      residual += output.alive == LiveReason::kResidual;
      AddSaturated(held, output.bytes);
    }
    held_bytes = std::max(held_bytes, held);
    trace_us += close.trace_us;
    lower_us += close.lower_us;
    send_us += close.compile_us + close.send_us;
    steps.insert(close.step);
  }
};

Json Graphs(const Profile& run) {
  std::map<std::tuple<TraceCause, std::string, std::string>, GraphLine> rows;
  std::map<std::string, double> waits;  // The waits by line.
  ForEach<WaitEvent>(run,
                     [&](const Event&, const WaitEvent& wait) { waits[LineOf(wait.origin)] += wait.us; });
  ForEach<CloseEvent>(run, [&](const Event&, const CloseEvent& close) {
    rows[{close.cause, close.operation, LineOf(close.origin)}].Add(close);
  });
  Json list = Json::array();
  for (auto& [key, row] : rows) {
    const auto& [cause, operation, line] = key;
    // A line's waits are counted once, although several graphs may end there.
    const auto wait = waits.find(line);
    if (wait != waits.end()) row.wait_us = std::exchange(wait->second, 0);
    list.push_back({{"cause", Name(cause)},
                    {"meaning", MeaningOf(cause)},
                    {"operation", operation},
                    {"origin", line},
                    {"count", row.count},
                    {"steps", row.steps.size()},
                    {"compiled", row.compiled},
                    {"failed", row.failed},
                    {"nodes", row.nodes},
                    {"results", row.results},
                    {"backward", row.backward},
                    {"residual", row.residual},
                    {"held_bytes", row.held_bytes},
                    {"trace_us", row.trace_us},
                    {"lower_us", row.lower_us},
                    {"send_us", row.send_us},
                    {"wait_us", row.wait_us}});
  }
  LargestFirst(list, "count");
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, double>> functions;
  ForEach<HostFunctionEvent>(run, [&](const Event&, const HostFunctionEvent& call) {
    auto& [count, us] = functions[{call.name, LineOf(call.origin)}];
    ++count;
    us += call.us;
  });
  Json host = Json::array();
  for (const auto& [key, sums] : functions) {
    host.push_back({{"name", key.first}, {"origin", key.second}, {"count", sums.first}, {"us", sums.second}});
  }
  return {{"rows", list}, {"host_functions", host}};
}

// Returns the compiles: the times at which the program sent them, by its clock, with the daemon's answers.
Json Compiles(const Profile& run) {
  // The compiles, latest first.
  std::map<std::tuple<uint64_t, std::string, uint64_t>, std::vector<const CompileRow*>> rows;
  for (const ProfileAccount& account : run.accounts) {
    for (const CompileRow& row : account.account.compiles)
      rows[{account.session, row.digest, row.step}].push_back(&row);
  }
  Json list = Json::array();
  ForEach<CompileEvent>(run, [&](const Event& event, const CompileEvent& compile) {
    Json entry = {{"at_us", event.at_us - StartOf(run)},
                  {"us", nullptr},
                  {"name", compile.name},
                  {"program", compile.program},
                  {"reason", Name(compile.reason)},
                  {"why", compile.why},
                  {"outcome", nullptr},
                  {"origin", LineOf(compile.origin)},
                  {"step", compile.step},
                  {"instructions", compile.instructions},
                  {"temporary_bytes", nullptr}};
    auto& found = rows[{compile.session, compile.program, compile.step}];
    if (!found.empty()) {
      const CompileRow& row = *found.back();
      entry["us"] = row.compile_us;
      entry["outcome"] = Name(row.outcome);
      entry["temporary_bytes"] = row.temporary_bytes;
      found.pop_back();
    }
    list.push_back(std::move(entry));
  });
  return {{"rows", list}};
}

Json Programs(const Profile& run, const ReportOptions& options) {
  struct Sums {
    std::string name;
    int64_t count = 0, run_us = 0, queue_us = 0, peak = 0;
  };
  std::map<std::string, Sums> programs;
  for (const ProfileAccount& account : run.accounts) {
    for (const RunRow& row : account.account.runs) {
      Sums& sums = programs[row.other_programs ? "" : row.digest];
      sums.name = row.other_programs ? "others" : row.program;
      AddSaturated(sums.count, row.count);
      AddSaturated(sums.run_us, row.run.sum_us);
      AddSaturated(sums.queue_us, row.queue.sum_us);
      sums.peak = std::max(sums.peak, row.peak_bytes);
    }
  }
  Json list = Json::array();
  for (const auto& [digest, sums] : programs) {
    Json entry = {{"name", sums.name},     {"program", digest},         {"count", sums.count},
                  {"run_us", sums.run_us}, {"queue_us", sums.queue_us}, {"peak_bytes", sums.peak},
                  {"flops", nullptr},      {"bytes", nullptr}};
    if (const auto cost = options.costs.find(digest); cost != options.costs.end()) {
      entry["flops"] = cost->second.flops;
      entry["bytes"] = cost->second.bytes;
    }
    list.push_back(std::move(entry));
  }
  LargestFirst(list, "run_us");
  return {{"rows", list}};
}

Json SlowPart(const GraphReport& graphs) {
  Json list = Json::array();
  for (const SlowRow& row : graphs.slow) {
    list.push_back({{"path", row.path},
                    {"what", row.what},
                    {"origin", row.line},
                    {"program", row.program},
                    {"times", row.times},
                    {"us", row.us},
                    {"remedy", row.remedy}});
  }
  return {{"rows", list}};
}

}  // namespace

Json MakeReport(const Profile& run, const ReportOptions& options) {
  return MakeReport(run, MemoryOf(run), options);
}
Json MakeReport(const Profile& run, const Memory& memory, const ReportOptions& options) {
  const GraphReport graphs = MakeGraphReport(run);
  Json report = {{"run", RunPart(run)},
                 {"totals", Totals(run, graphs)},
                 {"first", FirstThings(graphs, run)},
                 {"timeline", TimelineOf(TraceOf(run, memory))},
                 {"memory", MemoryPart(run, memory)},
                 {"transfers", Transfers(run)},
                 {"graphs", Graphs(run)},
                 {"compiles", Compiles(run)},
                 {"slow", SlowPart(graphs)},
                 {"programs", Programs(run, options)}};
  if (options.target.has_value()) {
    const analysis::Chip& chip = options.target->chip;
    report["chip"] = {
        {"name", chip.name}, {"flops", chip.flops}, {"bandwidth", chip.bandwidth}, {"source", chip.source}};
  }
  return report;
}

std::string MakePage(const Json& report) {
  constexpr std::string_view kMark = "/*REPORT*/";
  std::string data = report.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Names come from programs: none of them may end the script element that the data is in.
  std::string safe;
  safe.reserve(data.size());
  for (const char c : data) {
    if (c == '<') safe += "\\u003c";
    else safe += c;
  }
  std::string page = kPage;
  const size_t mark = page.find(kMark);
  return page.replace(mark, kMark.size(), safe);
}

}  // namespace hlod::report

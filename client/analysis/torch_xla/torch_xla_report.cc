// Joins traces and analyses by the graph's hash, and metrics by their names.
#include "client/analysis/torch_xla/torch_xla_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/ascii.h"

namespace hlod::analysis::torch_xla {
namespace {

using Kind = Analysis::Kind;

// Returns the number of lines that define a node: in the IR "%3 = ...", in HLO "add.3 = ...", in dot
// "node3 [label=...".
int64_t Nodes(const Trace& trace) {
  return std::count_if(trace.lines.begin(), trace.lines.end(), [](const std::string& line) {
    return line.starts_with("  ") && (line.find(" = ") != line.npos ||
                                      (line.starts_with("  node") && line.find(" [label=") != line.npos &&
                                       line.find(" -> ") == line.npos));
  });
}

// Returns a line without numbers that only count lines: those of nodes and the suffixes of names.
std::string WithoutNumbers(const std::string& line) {
  std::string key;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool counted = i > 0 && (line[i - 1] == '%' || line[i - 1] == '.' ||
                                   (i >= 4 && line.compare(i - 4, 4, "node") == 0));
    if (!(counted && absl::ascii_isdigit(static_cast<unsigned char>(line[i])))) {
      key += line[i];
      continue;
    }
    while (i + 1 < line.size() && absl::ascii_isdigit(static_cast<unsigned char>(line[i + 1]))) ++i;
  }
  return key;
}

class Joiner {
 public:
  explicit Joiner(const Dump& dump) : dump_(dump) {
    for (const Analysis& analysis : dump.analyses) executions_known_ |= analysis.kind == Kind::kExecution;
  }

  Report Join() {
    for (const Analysis& analysis : dump_.analyses) Add(analysis);
    for (const Trace& trace : dump_.traces) Add(trace);
    for (const auto& [place, hashes] : order_) AddRecompiles(place, hashes);
    AddPlaces();
    AddMetrics();
    return std::move(report_);
  }

 private:
  // The file, the line and the name of a graph. Graphs for which all three are equal are versions of one
  // graph.
  using Version = std::tuple<std::string, int, std::string>;

  Graph& Find(const std::string& hash, const std::string& name, Cause cause,
              const std::vector<Frame>& frames) {
    const auto [found, added] = index_.emplace(hash, report_.graphs.size());
    if (added) {
      Graph graph{.hash = hash, .name = name, .cause = std::move(cause), .at = UserFrame(frames)};
      const Version version{graph.at.at.file, graph.at.at.line, name};
      auto known =
          std::find_if(order_.begin(), order_.end(), [&](const auto& row) { return row.first == version; });
      if (known == order_.end()) known = order_.insert(order_.end(), {version, {}});
      known->second.push_back(hash);
      report_.graphs.push_back(std::move(graph));
    }
    return report_.graphs[found->second];
  }

  void Add(const Analysis& analysis) {
    if (analysis.kind == Kind::kUnexpectedExecution) {
      ++report_.unexpected_executions;
      return;
    }
    Graph& graph = Find(analysis.hash, analysis.name, CauseOf(analysis.cause), analysis.frames);
    graph.inputs = analysis.inputs;
    graph.outputs = analysis.outputs;
    if (analysis.sizes.has_value()) graph.sizes = analysis.sizes;
    auto& count = analysis.kind == Kind::kCompilation ? graph.compiles : graph.executions;
    count = count.value_or(0) + 1;
    ends_.push_back({CauseOf(analysis.cause), UserFrame(analysis.frames), analysis.hash, analysis.kind});
  }

  // A trace is dumped each time that its graph runs; Dynamo dumps it when the graph is compiled.
  void Add(const Trace& trace) {
    const bool dynamo = trace.scope == "dynamo";
    Graph& graph = Find(trace.hash, trace.name, CauseOf(trace.frames, dynamo), trace.frames);
    if (!graph.nodes.has_value()) graph.nodes = Nodes(trace);
    traces_.emplace(trace.hash, &trace);
    if (executions_known_ || dynamo) return;
    graph.executions = graph.executions.value_or(0) + 1;
    ends_.push_back({CauseOf(trace.frames, dynamo), UserFrame(trace.frames), trace.hash, Kind::kExecution});
  }

  void AddRecompiles(const Version& version, const std::vector<std::string>& hashes) {
    for (size_t i = 1; i < hashes.size(); ++i) {
      Recompile recompile{.at = report_.graphs[index_.at(hashes[i])].at,
                          .name = std::get<2>(version),
                          .from = hashes[i - 1],
                          .to = hashes[i]};
      const auto from = traces_.find(recompile.from), to = traces_.find(recompile.to);
      if (from != traces_.end() && to != traces_.end())
        recompile.difference = DifferenceOf(from->second->lines, to->second->lines, WithoutNumbers);
      report_.recompiles.push_back(std::move(recompile));
    }
  }

  void AddPlaces() {
    std::map<std::tuple<std::string, std::string, int>, std::vector<std::string>> hashes;
    for (const End& end : ends_) {
      const auto is_here = [&](const GraphEnd& place) {
        return place.cause.text == end.cause.text && place.at.at.file == end.at.at.file &&
               place.at.at.line == end.at.at.line;
      };
      auto place = std::find_if(report_.places.begin(), report_.places.end(), is_here);
      if (place == report_.places.end())
        place = report_.places.insert(place, GraphEnd{.cause = end.cause, .at = end.at});
      auto& count = end.kind == Kind::kCompilation ? place->compiles : place->executions;
      count = count.value_or(0) + 1;
      auto& seen = hashes[{end.cause.text, end.at.at.file, end.at.at.line}];
      if (std::find(seen.begin(), seen.end(), end.hash) != seen.end()) continue;
      seen.push_back(end.hash);
      ++place->graphs;
    }
    std::stable_sort(report_.places.begin(), report_.places.end(), [](const GraphEnd& a, const GraphEnd& b) {
      return a.executions.value_or(0) > b.executions.value_or(0);
    });
  }

  // Adds up the metrics of all files, since each is a process.
  void AddMetrics() {
    const auto total = [&](std::initializer_list<std::string_view> names) {
      std::optional<Total> sum;
      for (const Metrics& metrics : dump_.metrics) {
        for (const std::string_view name : names) {
          const auto found = metrics.metrics.find(name);
          if (found == metrics.metrics.end()) continue;
          if (!sum.has_value()) sum.emplace();
          sum->calls += found->second.samples;
          sum->sum += found->second.total;
        }
      }
      return sum;
    };
    const auto counter = [&](std::string_view name) {
      std::optional<int64_t> sum;
      for (const Metrics& metrics : dump_.metrics) {
        const auto found = metrics.counters.find(name);
        if (found != metrics.counters.end()) sum = sum.value_or(0) + found->second;
      }
      return sum;
    };
    report_.compile = total({"CompileTime"});
    report_.execute = total({"ExecuteTime", "ExecuteReplicatedTime"});
    report_.to_device_seconds = total({"TransferToDeviceTime"});
    report_.from_device_seconds = total({"TransferFromDeviceTime"});
    // The names are from the host's point of view: outbound goes to the device.
    report_.to_device_bytes = total({"OutboundData"});
    report_.from_device_bytes = total({"InboundData"});
    report_.cached = counter("CachedCompile");
    report_.uncached = counter("UncachedCompile");
    report_.steps = counter("MarkStep");
    std::map<std::string, int64_t> fallbacks;
    for (const Metrics& metrics : dump_.metrics) {
      for (const auto& [name, value] : metrics.counters) {
        // The last is .item(), which reads a value and has no operator.
        if (name.starts_with("aten::") && name != "aten::_local_scalar_dense") fallbacks[name] += value;
      }
    }
    report_.fallbacks.assign(fallbacks.begin(), fallbacks.end());
    std::stable_sort(report_.fallbacks.begin(), report_.fallbacks.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }

  struct End {
    Cause cause;
    Frame at;
    std::string hash;
    Kind kind;
  };

  const Dump& dump_;
  bool executions_known_ = false;  // True if analyses of executions count them.
  Report report_;
  std::map<std::string, size_t> index_;  // The index by hash.
  std::map<std::string, const Trace*> traces_;
  std::vector<std::pair<Version, std::vector<std::string>>> order_;
  std::vector<End> ends_;
};

}  // namespace

int64_t Report::dynamo_graphs() const {
  return std::count_if(graphs.begin(), graphs.end(),
                       [](const Graph& graph) { return graph.cause.is_dynamo; });
}

Report ReportOf(Dump dump) {
  Report report = Joiner(dump).Join();
  report.advice = std::move(dump.advice);
  report.problems = std::move(dump.problems);
  return report;
}

}  // namespace hlod::analysis::torch_xla

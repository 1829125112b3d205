// A report on the dumps of a PyTorch/XLA program: the graphs that it made by lazy tracing and through Dynamo,
// the places and the causes of their ends, the lines that made several, and the costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/analysis/torch_xla/line_difference.h"
#include "client/analysis/torch_xla/torch_xla_causes.h"
#include "client/analysis/torch_xla/torch_xla_dump.h"

namespace hlod::analysis::torch_xla {

// A graph of the program. Counts that are in no dump are nullopt.
struct Graph {
  std::string hash, name;
  Cause cause;  // The cause at its first appearance.
  Frame at;     // The user's line.
  std::optional<int64_t> nodes, inputs, outputs;
  std::optional<int64_t> compiles, executions;
  std::optional<Sizes> sizes;
};

// A place where graphs end, for one cause.
struct GraphEnd {
  Cause cause;
  Frame at;
  int64_t graphs = 0;  // The number of different graphs.
  std::optional<int64_t> compiles, executions;
};

// A place that made another graph than before.
struct Recompile {
  Frame at;
  std::string name, from, to;                // The graph's name, and the two hashes.
  std::optional<LineDifference> difference;  // Set if there are traces of both.
};

// The total of a metric that counts calls and sums times or bytes.
struct Total {
  int64_t calls = 0;
  double sum = 0;
};

struct Report {
  std::vector<Graph> graphs;  // The graphs in order of appearance.
  std::vector<GraphEnd> places;  // The places with most executions first.
  std::vector<Recompile> recompiles;
  int64_t unexpected_executions = 0;  // Executions in torch_xla.compile'd functions with full_graph.
  // Totals of the metrics: times in seconds, amounts in bytes.
  std::optional<Total> compile, execute, to_device_seconds, from_device_seconds, to_device_bytes,
      from_device_bytes;
  std::optional<int64_t> cached, uncached, steps;  // Cache hits and misses of graphs; sync calls.
  std::vector<std::pair<std::string, int64_t>>
      fallbacks;  // aten:: operators that ran on the CPU, most first.
  std::vector<std::string> advice, problems;

  int64_t dynamo_graphs() const;
};
Report ReportOf(Dump dump);

// Returns the report as text for people.
std::string ToText(const Report& report);

}  // namespace hlod::analysis::torch_xla

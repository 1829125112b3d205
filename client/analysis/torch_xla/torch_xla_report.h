// What dumps of PyTorch/XLA say together: how many graphs a program made, by lazy tracing and through Dynamo,
// why each was cut where it was, which lines make several, and what all that cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/analysis/module/line_difference.h"
#include "client/analysis/torch_xla/torch_xla_causes.h"
#include "client/analysis/torch_xla/torch_xla_dump.h"

namespace hlod::analysis::torch_xla {

// Counts that no dump has are absent.
struct Graph {
  std::string hash, name;
  Cause cause;  // Of its first appearance.
  Frame at;     // The user's line.
  std::optional<int64_t> nodes, inputs, outputs;
  std::optional<int64_t> compiles, executions;
  std::optional<Sizes> sizes;
};

// A place where graphs end, with each cause of it.
struct Place {
  Cause cause;
  Frame at;
  int64_t graphs = 0;  // Different ones.
  std::optional<int64_t> compiles, executions;
};

// The same place made another graph than before.
struct Recompile {
  Frame at;
  std::string name, from, to;                // Hashes.
  std::optional<LineDifference> difference;  // When there are traces of both.
};

// Of a metric that counts calls and sums times or bytes.
struct Total {
  int64_t calls = 0;
  double sum = 0;
};

struct Report {
  std::vector<Graph> graphs;  // In order of appearance.
  std::vector<Place> places;  // Most executions first.
  std::vector<Recompile> recompiles;
  int64_t unexpected_executions = 0;  // In a torch_xla.compile'd function with full_graph.
  // From the metrics. Times in seconds, amounts in bytes.
  std::optional<Total> compile, execute, to_device_seconds, from_device_seconds, to_device_bytes,
      from_device_bytes;
  std::optional<int64_t> cached, uncached, steps;  // Graphs found in the cache or not; sync calls.
  std::vector<std::pair<std::string, int64_t>>
      fallbacks;  // aten:: operators that ran on the CPU, most first.
  std::vector<std::string> advice, problems;

  int64_t dynamo_graphs() const;
};
Report ReportOf(Dump dump);

// For people.
std::string ToText(const Report& report);

}  // namespace hlod::analysis::torch_xla

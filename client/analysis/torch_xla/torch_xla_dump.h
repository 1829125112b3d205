// Reads the files that PyTorch/XLA writes about its graphs:
//   XLA_SAVE_TENSORS_FILE  each graph's trace (XLA_SAVE_TENSORS_FMT text, hlo, dot), each time that it runs
//   PT_XLA_DEBUG_FILE      each compilation, and with PT_XLA_DEBUG_LEVEL=2 each execution, with its cause
//   XLA_METRICS_FILE       counters and times, summed since the program began, at each step
// One file may have all of them, as stderr does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/analysis/module/source_lines.h"

namespace hlod::analysis::torch_xla {

struct Frame {
  std::string function;
  SourceLine at;
};

struct Trace {
  std::string scope;  // "ScheduleSyncTensorsGraph", "dynamo".
  std::string name;   // The name in torch_xla.compile; usually empty.
  std::string hash;   // The hash of the graph; in dumps of older versions, the hash of its roots.
  std::vector<Frame> frames;
  std::vector<std::string> lines;  // The graph's text. Only the first trace of a hash has it.
};

// The memory that a graph needs, by its compiler.
struct Sizes {
  double input_bytes = 0, output_bytes = 0, alias_bytes = 0, temporary_bytes = 0, program_bytes = 0;
};

struct Analysis {
  enum class Kind { kCompilation, kExecution, kUnexpectedExecution };
  Kind kind = Kind::kCompilation;
  std::string cause, name, hash;
  int64_t inputs = 0, outputs = 0;
  std::vector<Frame> frames;
  std::optional<Sizes> sizes;  // The sizes, for a compilation if the backend knows them.
};

struct Metric {
  int64_t samples = 0;
  double total = 0;              // The total in seconds, bytes, or without a unit.
  std::optional<double> median;  // The median of the latest samples.
};
struct Metrics {
  int64_t reports = 0;                               // The number of reports in the file.
  std::map<std::string, int64_t, std::less<>> seen;  // By name, the number of reports that have it.
  std::map<std::string, Metric, std::less<>> metrics;
  std::map<std::string, int64_t, std::less<>> counters;
};

struct Dump {
  std::set<std::string> traced;  // The hashes of traces.
  std::vector<Trace> traces;
  std::vector<Analysis> analyses;
  std::vector<Metrics> metrics;       // One per file, with the latest value of each name.
  std::vector<std::string> advice;    // The advice of pt-xla-profiler.
  std::vector<std::string> problems;  // "debug.txt:41: ...": a part that was cut off and is left out.
};

// Adds the contents of a file, whose kind is recognized by its contents. A truncated block is added to the
// dump's problems. NOT_FOUND or a similar error if the file cannot be read. INVALID_ARGUMENT, with file and
// line, when the file is empty, has no part that PyTorch/XLA writes, or has another text where a number, a
// size or a frame belongs.
absl::Status ReadDump(const std::string& path, Dump& dump);

}  // namespace hlod::analysis::torch_xla

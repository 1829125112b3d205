// What PyTorch/XLA writes about its graphs, as it writes it:
//   XLA_SAVE_TENSORS_FILE  each graph's trace (XLA_SAVE_TENSORS_FMT text, hlo, dot), each time that it runs
//   PT_XLA_DEBUG_FILE      each compile, and with PT_XLA_DEBUG_LEVEL=2 each execution, with its cause
//   XLA_METRICS_FILE       counters and times, summed since the program began, at each step
// or all of them in one file, as stderr has them.
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
  std::string name;   // torch_xla.compile's; empty for most.
  std::string hash;   // The graph's, or of older versions the roots'.
  std::vector<Frame> frames;
  std::vector<std::string> lines;  // The graph's, as they stand; of each hash the first trace has them.
};

// What a compiler says that a graph needs.
struct Sizes {
  double input_bytes = 0, output_bytes = 0, alias_bytes = 0, temporary_bytes = 0, program_bytes = 0;
};

struct Analysis {
  enum class Kind { kCompilation, kExecution, kUnexpectedExecution };
  Kind kind = Kind::kCompilation;
  std::string cause, name, hash;
  int64_t inputs = 0, outputs = 0;
  std::vector<Frame> frames;
  std::optional<Sizes> sizes;  // Of a compilation, where the backend says it.
};

struct Metric {
  int64_t samples = 0;
  double total = 0;              // Seconds, bytes or a number.
  std::optional<double> median;  // Of the latest samples.
};
struct Metrics {
  int64_t reports = 0;                               // In the file.
  std::map<std::string, int64_t, std::less<>> seen;  // By name, in how many of them.
  std::map<std::string, Metric, std::less<>> metrics;
  std::map<std::string, int64_t, std::less<>> counters;
};

struct Dump {
  std::set<std::string> traced;  // Hashes.
  std::vector<Trace> traces;
  std::vector<Analysis> analyses;
  std::vector<Metrics> metrics;       // One a file: of each name the latest value.
  std::vector<std::string> advice;    // Of pt-xla-profiler.
  std::vector<std::string> problems;  // "debug.txt:41: ...": what was cut off, and is left out.
};

// Adds what a file holds; what kind it is its contents say. A block that is cut off is a problem of the dump.
// NOT_FOUND and the like for a file that cannot be read; INVALID_ARGUMENT for one that is empty, has nothing
// of PyTorch/XLA in it, or a number that is none, with file and line.
absl::Status ReadDump(const std::string& path, Dump& dump);

}  // namespace hlod::analysis::torch_xla

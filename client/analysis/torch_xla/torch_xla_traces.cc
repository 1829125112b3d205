// Reads XLA_SAVE_TENSORS_FILE:
//   [ScheduleSyncTensorsGraph]
//   Graph Name: ...                     the name in torch_xla.compile, if there is one
//   TensorsGraphInfo:
//     function (file.py:12)             frames, innermost first
//
//   Root Hashes: (...)                  "Hashes:" in older versions
//
//   ## BEGIN_GRAPH
//   IR { ... }                          or HLO, or a graph of dot
//   Graph Hash: ...                     not in older versions
//
//   ## END_GRAPH
#include "client/analysis/torch_xla/torch_xla_read.h"

namespace hlod::analysis::torch_xla {
namespace {

constexpr std::string_view kInfo = "TensorsGraphInfo:", kName = "Graph Name:", kBegin = "## BEGIN_GRAPH",
                           kEnd = "## END_GRAPH", kHash = "Graph Hash:";

// Returns true when the block that begins here ends before another one begins.
bool IsWhole(const Lines& lines) {
  for (size_t ahead = 1; ahead < lines.remaining() && !AtTrace(lines, ahead); ++ahead) {
    if (lines.Peek(ahead) == kEnd) return true;
  }
  return false;
}

void SkipBlock(Lines& lines) {
  lines.Take();
  while (!lines.AtEnd() && !AtTrace(lines) && !AtAnalysis(lines) && !AtMetric(lines)) lines.Take();
}

}  // namespace

bool AtTrace(const Lines& lines, size_t ahead) {
  const std::string_view header = lines.Peek(ahead), next = lines.Peek(ahead + 1);
  if (!header.starts_with('[') || !header.ends_with(']')) return false;
  return next == kInfo || (next.starts_with(kName) && lines.Peek(ahead + 2) == kInfo);
}

absl::Status ReadTrace(Lines& lines, Dump& dump) {
  const size_t begin = lines.number();
  if (!IsWhole(lines)) {
    dump.problems.push_back(lines.At(begin) + ": the graph that begins here is cut off; it is left out");
    SkipBlock(lines);
    return absl::OkStatus();
  }
  Trace trace;
  const std::string_view header = lines.Take();
  trace.scope = header.substr(1, header.size() - 2);
  if (const auto name = After(lines.Peek(), kName); name.has_value()) trace.name = (lines.Take(), *name);
  lines.Take();
  std::string roots;
  bool inside = false;
  for (std::string_view line = lines.Take(); line != kEnd; line = lines.Take()) {
    if (line == kBegin) {
      inside = true;
    } else if (const auto hash = After(line, kHash); hash.has_value()) {
      trace.hash = *hash;
    } else if (inside) {
      trace.lines.emplace_back(line);
    } else if (line.starts_with("  ")) {
      ASSIGN_OR_RETURN(Frame frame, ReadFrame(lines, lines.number() - 1, line));
      trace.frames.push_back(std::move(frame));
    } else if (line.starts_with("Root Hashes:") || line.starts_with("Hashes:")) {
      roots = After(line, line.substr(0, line.find(':') + 1)).value_or("");
    }
  }
  while (!trace.lines.empty() && trace.lines.back().empty()) trace.lines.pop_back();
  if (trace.hash.empty()) trace.hash = roots;
  if (trace.hash.empty()) return lines.ErrorAt(begin, "the graph that begins here has no hash");
  // A long run dumps the same graph thousands of times.
  if (!dump.traced.insert(trace.hash).second) trace.lines = {};
  dump.traces.push_back(std::move(trace));
  return absl::OkStatus();
}

}  // namespace hlod::analysis::torch_xla

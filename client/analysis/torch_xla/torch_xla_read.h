// The readers of the parts of a dump. Each is called at the beginning of its part and reads all of it.
#pragma once

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/analysis/torch_xla/torch_xla_dump.h"
#include "client/analysis/torch_xla/torch_xla_lines.h"

namespace hlod::analysis::torch_xla {

// Reads "[ScheduleSyncTensorsGraph]" ... "## END_GRAPH".
bool AtTrace(const Lines& lines, size_t ahead = 0);
absl::Status ReadTrace(Lines& lines, Dump& dump);

// Reads "Compilation Analysis: ====" ... "Compilation Analysis: ====".
bool AtAnalysis(const Lines& lines);
absl::Status ReadAnalysis(Lines& lines, Dump& dump);

// Reads "Metric: CompileTime", "Counter: MarkStep", or "[MetricsData; step=7]" before a report.
bool AtMetric(const Lines& lines);
absl::Status ReadMetric(Lines& lines, Metrics& metrics, Dump& dump);

// Reads "  function (file.py:12)".
absl::StatusOr<Frame> ReadFrame(const Lines& lines, size_t number, std::string_view text);
absl::StatusOr<int64_t> ReadCount(const Lines& lines, size_t number, std::string_view what,
                                  std::string_view text);
// Returns the trimmed text after `key` at the start of a line; nullopt if the line starts otherwise.
std::optional<std::string_view> After(std::string_view line, std::string_view key);

}  // namespace hlod::analysis::torch_xla

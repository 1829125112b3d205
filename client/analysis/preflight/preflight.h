// What a program that ran in abstract sessions would have needed: memory over its executes, transfers,
// programs, graph breaks, time; and whether that fits a target and a budget.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/analysis/module/budget.h"
#include "client/analysis/module/chips.h"
#include "client/analysis/module/module_check.h"
#include "client/analysis/module/source_lines.h"
#include "client/analysis/preflight/preflight_log.h"
#include "common/base/kinds.h"

namespace hlod::analysis {

// What memory is for. Buffers by what the tensor library knows of them; a program's temporaries are gradients
// where they have the dimensions of a weight, else activations.
enum class Part { kWeights, kGradients, kOptimizerState, kInputs, kActivations, kOther };
inline constexpr size_t kParts = 6;
std::string_view Name(Part part);

// An array at the peak.
struct RunArray {
  Part part = Part::kOther;
  std::string name;  // Of a module's parameter, or the instruction that makes it; may be empty.
  SourceLine line;   // Where it was made; may be empty.
  std::string shape;
  double bytes = 0;  // On a chip.
};

struct RunPeak {
  Bracket bytes;                       // On a chip. As in ModuleReport::peak_bytes.
  Bracket likely;                      // As ModuleReport::likely_bytes, where most. Zero on one chip.
  std::array<double, kParts> parts{};  // Of the low end.
  std::string program;                 // While it ran. Empty: nothing ran.
  SourceLine line;                     // That ran it.
  int64_t step = 0;                    // From 1.
  std::vector<RunArray> largest;       // Largest first, at most 4096.
  int64_t arrays = 0;                  // That were alive.
};

// A compiled program of the run.
struct RunProgram {
  SourceLine line;  // That compiled it.
  int64_t runs = 0;
  ModuleReport report;
};

// Transfers, or asked-for values, of one cause and line.
struct RunLine {
  std::string cause;
  SourceLine line;
  int64_t bytes = 0, calls = 0;
  std::optional<Direction> direction;  // Of transfers.
};

struct RunReport {
  std::string program;
  int64_t sessions = 0, steps = 0, executes = 0;
  std::vector<RunProgram> programs;
  RunPeak peak;
  // What would have crossed; `unsent`: of it, what did not.
  int64_t upload_bytes = 0, upload_calls = 0, unsent_bytes = 0, download_bytes = 0, download_calls = 0;
  std::vector<RunLine> transfers;  // Largest first.
  std::vector<RunLine> breaks;     // Traces that were not cut by Sync(), most first.
  int64_t stand_ins = 0;           // Values that were stood in for.
  // Of the step that takes longest.
  double flops = 0;
  Bracket traffic, step_seconds;
  int64_t simulated_peak_bytes = 0;   // As the daemon counted: undivided, and with its engine's temporaries.
  std::vector<std::string> failures;  // What the daemon refused; each once.
  SourceLine stopped_at;              // Empty unless a value was asked for that is not there.
  std::string stopped_why;
  bool cut_off = false;  // The process ended without ending its sessions.
  std::optional<Target> target;
  Budget budget;
  std::vector<Finding> findings;

  int64_t graph_breaks() const;
  ModuleReport::Fit fit() const;
  bool passed() const;  // As far as it came.
  // Whether it stopped before its first step, or before `steps_wanted`.
  bool incomplete(int64_t steps_wanted) const;
};

// Follows the executes of a run's sessions, each by itself.
absl::StatusOr<RunReport> FollowRun(const std::vector<PreflightLog>& sessions,
                                    const std::optional<Target>& target, const Budget& budget);

// What a budget may limit, by the metric's name.
Budget ValuesOf(const RunReport& report);

// For people.
std::string ToText(const RunReport& report);

}  // namespace hlod::analysis

// The needs of a program that ran in abstract sessions: memory over its executes, transfers, compiled
// programs, graph breaks and time, checked against a target and a budget.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/analysis/check/budget.h"
#include "client/analysis/check/module_check.h"
#include "client/analysis/module/chips/chips.h"
#include "client/analysis/module/source_lines.h"
#include "client/analysis/preflight/preflight_log.h"
#include "common/base/kinds.h"

namespace hlod::analysis {

// The purpose of memory. Buffers have the roles known to the tensor library; a program's temporaries count as
// gradients if they have the dimensions of a weight, otherwise as activations.
enum class Part { kWeights, kGradients, kOptimizerState, kInputs, kActivations, kOther };
inline constexpr size_t kParts = 6;
std::string_view Name(Part part);

// An array at the peak.
struct RunArray {
  Part part = Part::kOther;
  std::string name;  // The name of a model's parameter, or the instruction that makes it; may be empty.
  SourceLine line;   // The line that made it; may be empty.
  std::string shape;
  double bytes = 0;  // The bytes per chip.
};

struct RunPeak {
  Bracket bytes;   // The peak per chip, as in ModuleReport::peak_bytes.
  Bracket likely;  // The largest likely peak, as in ModuleReport::likely_bytes. Zero on one chip.
  std::array<double, kParts> parts{};  // The low end, divided by purpose.
  std::string program;                 // The program that was running at the peak; empty if none was.
  SourceLine line;                     // The line that ran it.
  int64_t step = 0;                    // The step of the peak, counted from 1.
  std::vector<RunArray> largest;       // The arrays at the peak, largest first, at most 4096.
  int64_t arrays = 0;                  // The number of arrays that were alive.
};

// A compiled program of the run.
struct RunProgram {
  SourceLine line;  // The line that compiled it.
  // The difference from the program of the same name and line before; empty: there was none.
  std::string recompiled;
  int64_t runs = 0;
  ModuleReport report;
};

// The transfers, or the cuts of traces, of one cause and line.
struct RunLine {
  std::string cause;
  SourceLine line;
  int64_t bytes = 0, calls = 0;
  std::optional<Direction> direction;  // Set for transfers.
};

struct RunReport {
  std::string program;
  int64_t sessions = 0, steps = 0, executes = 0;
  // The number of devices that XLA divided the programs among; the figures are those of one. 1: it did not.
  int64_t devices = 1;
  // The program whose runs were counted as steps, because the run marks none; or empty.
  std::string step_program;
  std::vector<RunProgram> programs;
  RunPeak peak;
  // Transfers that a real run would make; unsent_bytes is the part of the uploads that was not sent.
  int64_t upload_bytes = 0, upload_calls = 0, unsent_bytes = 0, download_bytes = 0, download_calls = 0;
  std::vector<RunLine> transfers;  // The transfers, largest first.
  std::vector<RunLine> breaks;     // Cuts of traces other than by Sync(), most frequent first.
  std::vector<RunLine> refused;    // Reads of values that do not exist, which failed.
  int64_t stand_ins = 0;           // Values that were read and replaced by stand-ins.
  // The operations, traffic and time of the step that takes longest.
  double flops = 0;
  Bracket traffic, step_seconds;
  // The network's use in a step by programs that are divided over a mesh; nullopt when it is not known.
  std::optional<NetworkTotals> network;
  int64_t simulated_peak_bytes = 0;   // The daemon's own count: undivided, with its engine's temporaries.
  std::vector<std::string> failures;  // The daemon's errors, each once; at most 10.
  SourceLine stopped_at;              // The line that read a value that does not exist; otherwise empty.
  std::string stopped_why;
  bool cut_off = false;  // True when the process ended without ending its sessions.
  std::string
      void_because;  // The reason why the run measured nothing that a verdict could be about; or empty.
  std::optional<Target> target;
  Budget budget;
  std::vector<Finding> findings;

  int64_t graph_breaks() const;
  int64_t recompiles() const;
  ModuleReport::Fit fit() const;
  // Returns true when the run, up to its end, fits the target and keeps its limits.
  bool passed() const;
  // Returns true when it keeps its limits and nobody knows whether it fits.
  bool unknown() const;
  // Returns true when the run stopped before its first step, or before `steps_wanted`.
  bool incomplete(int64_t steps_wanted) const;
};

// Follows the executes of a run's sessions, each session separately. INVALID_ARGUMENT if a log is not
// consistent, or if the budget limits a metric that has no value. `network` is the report's.
absl::StatusOr<RunReport> FollowRun(const std::vector<PreflightLog>& sessions,
                                    const std::optional<Target>& target, const Budget& budget,
                                    const std::optional<NetworkTotals>& network = {});

// Returns the values that a budget may limit, by the metric's name.
Budget ValuesOf(const RunReport& report);

// Returns the report as text for people.
std::string ToText(const RunReport& report);

}  // namespace hlod::analysis

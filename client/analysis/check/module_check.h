// The cost and the memory of one module, checked against a chip and a budget.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/analysis/check/budget.h"
#include "client/analysis/check/error_bar.h"
#include "client/analysis/module/chips/chips.h"
#include "client/analysis/module/cost.h"
#include "client/analysis/module/peak.h"

namespace hlod::analysis {

// The two ends of an estimate, which are equal for a single number. The peak of what one chip runs is one
// number. The peak of a module for several chips that was not partitioned lies between the ends: at the low
// one all arrays except the parameters are divided among all chips; at the high one nothing is fused, and
// only the parameters are divided, by their shardings.
struct Bracket {
  double low = 0, high = 0;
};
// Returns "low to high", each end by `text`; once when both read the same.
std::string RangeText(const Bracket& bracket, std::string (*text)(double));

// The use of the network by one chip: its bytes and its time, when nothing else runs.
struct NetworkTotals {
  double bytes = 0;  // The bytes that the chip sends.
  double seconds = 0;
};

struct ModuleReport {
  std::string name;
  int64_t instructions = 0;
  ModuleCost cost;
  Compiler compiler = Compiler::kXlaCpu;  // The compiler whose plan is estimated.
  Peak fused;                             // The estimate, undivided.
  Peak unfused;                           // At least that: what it would be if nothing were fused.
  Bracket traffic;                        // Bytes moved in the device's memory, undivided.
  Bracket peak_bytes;                     // The peak per chip.
  // An estimate within `peak_bytes` for several chips: the parameters' shardings are propagated through
  // operations that determine the result's sharding (division.h), with fusion and without. Zero on one chip.
  Bracket likely_bytes;
  Bracket likely_temporaries;         // The part of likely_bytes that is neither argument nor result.
  std::vector<int64_t> result_parts;  // The number of parts of each array of the result in that estimate.
  // True when the module is already one chip's share, as made by XLA's partitioner: it is not divided again.
  bool partitioned = false;
  std::string undivided_because;  // A sentence: why a module for several chips was not partitioned; or empty.
  // The time by the chip's speed, without overheads and communication. Zero without a target.
  Bracket step_seconds;
  std::optional<NetworkTotals> network;  // Unless it is not known.
  std::optional<Target> target;
  Budget budget;
  std::vector<Finding> findings;  // Values above their limits, or far below.

  // The peak with its error bar is below the limit, the limit is within the error bar, or the peak is above.
  // It is unknown when the module is not partitioned and neither fits a single chip whole nor exceeds a chip
  // when ideally divided.
  enum class Fit { kNoTarget, kFits, kMayNotFit, kDoesNotFit, kUnknown };
  Fit fit() const;
  // Returns true when it keeps its limits and fits with its error bar; never when that is unknown.
  bool passed() const;
  // Returns true when it keeps its limits and nobody knows whether it fits.
  bool unknown() const;
};

std::string_view Name(ModuleReport::Fit fit);

// Returns kFits, kMayNotFit or kDoesNotFit for the peak of one chip.
ModuleReport::Fit FitOf(double peak_bytes, const Target& target);

// Returns the compiler whose plan is estimated: the target's, or without one XLA's for this machine.
Compiler CompilerOf(const std::optional<Target>& target);

// Returns true for a module that is one chip's share already: its shapes are a chip's, though XLA's
// partitioner leaves the whole arrays' shardings on the parameters.
bool IsPartitioned(const hlo::Module& module);

// Returns the values that a budget may limit, by the metric's name. For a bracket it is the low end, which
// even an ideal compiler needs.
Budget ValuesOf(const ModuleReport& report);

// Checks a verified module. Returns the error of a pass that finds it too large; RESOURCE_EXHAUSTED if its
// arrays have more bytes together than can be counted; INVALID_ARGUMENT if the budget limits a metric that
// has no value. `network` is the report's.
absl::StatusOr<ModuleReport> CheckModule(const hlo::Module& module, const std::optional<Target>& target,
                                         const Budget& budget, std::optional<NetworkTotals> network = {});

// Returns several lines for people, with the largest arrays at the peak.
std::string ToText(const ModuleReport& report);

}  // namespace hlod::analysis

// What one module costs and needs, and whether that fits a chip and a budget.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/analysis/module/budget.h"
#include "client/analysis/module/chips.h"
#include "client/analysis/module/cost.h"
#include "client/analysis/module/peak.h"

namespace hlod::analysis {

// An estimate between two ends: everything that can be fused is, or nothing is; on several chips also: all is
// divided among them, or only what the parameters' shardings say.
struct Bracket {
  double low = 0, high = 0;
};

struct ModuleReport {
  std::string name;
  int64_t instructions = 0;
  ModuleCost cost;
  Peak fused, unfused;  // The lower and the upper end on one chip, undivided.
  Bracket traffic;      // Bytes moved in the device's memory, undivided.
  Bracket peak_bytes;   // On a chip.
  // On one of several chips, with the parameters' shardings carried through what leaves no choice
  // (division.h), fused or not: an estimate within `peak_bytes`. Zero on one chip.
  Bracket likely_bytes;
  Bracket likely_temporaries;         // Of it, what is neither argument nor result.
  std::vector<int64_t> result_parts;  // In how many parts each array of the result then is.
  // The module is one chip's share already, as XLA's partitioner made it: it is not divided once more.
  bool partitioned = false;
  Bracket step_seconds;  // By the chip's speed alone: no overheads, no communication. Zero without a target.
  std::optional<Target> target;
  Budget budget;
  std::vector<Finding> findings;  // What the budget says.

  // Whether it is certain to fit, uncertain, or certain not to.
  enum class Fit { kNoTarget, kFits, kMayNotFit, kDoesNotFit };
  Fit fit() const;
  bool passed() const;
};

std::string_view Name(ModuleReport::Fit fit);

// What a budget may limit, by the metric's name. Of brackets the low ends: what an ideal compiler needs, so
// that a limit that is exceeded is exceeded for certain.
Budget ValuesOf(const ModuleReport& report);

// Of a verified module. The error of a pass that finds it too large.
absl::StatusOr<ModuleReport> CheckModule(const hlo::Module& module, const std::optional<Target>& target,
                                         const Budget& budget);

// For people: several lines, the largest arrays at the peak among them.
std::string ToText(const ModuleReport& report);

}  // namespace hlod::analysis

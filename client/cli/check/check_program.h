// The form of `hloctl check` that runs a program.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "client/analysis/check/budget.h"
#include "client/analysis/module/chips/chips.h"
#include "client/cli/commands.h"

namespace hlod::cli {

// Runs options.program against a private daemon, in an abstract session, and prints what it would have
// needed. Returns an error when the run allows no conclusion: the program does not exist, failed, never
// connected, never ended a step, or sent a command that the daemon refused.
absl::StatusOr<CheckOutcome> CheckProgram(const CommonOptions& common, const CheckOptions& options,
                                          const std::optional<analysis::Target>& target,
                                          const analysis::Budget& budget);

// Prints what a run in abstract sessions would have needed, from the preflight logs in options.preflight.
// Returns an error when there is none, or when one cannot be read.
absl::StatusOr<CheckOutcome> CheckLogs(const CommonOptions& common, const CheckOptions& options,
                                       const std::optional<analysis::Target>& target,
                                       const analysis::Budget& budget);

}  // namespace hlod::cli

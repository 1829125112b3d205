// One run of a plan, whole or in part, for an execute. Private to Executions.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/device/execution.h"

namespace hlod::device {

// On the memory of a device. All memory is there before anything happens: an execute that
// is refused leaves its arguments alone.
struct PlanRun {
  PlanRun(SessionState& state, Execution& execution, const engine::Plan& plan)
      : state(state),
        execution(execution),
        plan(plan),
        memory(state.devices.device(execution.request.device).memory),
        limit(TimeLimit(execution.request, state.limits)),
        arguments(execution.arguments.size()),
        takes(plan.results().size(), -1),
        copies(plan.results().size(), -1),
        blocks(plan.results().size()) {}

  // Null for those that are absent: what is computed does not read them.
  void CollectArguments();
  // A result takes over an argument's memory when nothing else can see it; else the program works on a copy.
  void ChooseAliases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  absl::Status Allocate();
  absl::Status AboutResult(const absl::Status& status, size_t i) const ABSL_LOCKS_EXCLUDED(state.mu);
  // The blocks of arguments that results take over.
  void TakeOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void CopyShared();
  absl::Status RunPlan(absl::Duration used);

  SessionState& state;
  Execution& execution;
  const engine::Plan& plan;
  DeviceMemory& memory;
  const absl::Duration limit;
  absl::InlinedVector<const std::byte*, 16> arguments;
  absl::InlinedVector<int, 16> takes, copies;  // By result: the argument, or -1.
  std::vector<Block> blocks;                   // By result.
  Block temporary;
};

// The engine's error with the kind its code means.
absl::Status WithRunKind(const absl::Status& status, absl::Duration limit, const Limits& limits);

}  // namespace hlod::device

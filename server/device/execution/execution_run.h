// One run of a plan, whole or in part, for an execute. Private to Executions.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/system/rendezvous.h"
#include "server/device/execution/execution.h"

namespace hlod::device {

// On the memory of a device. All memory is there before anything happens: an execute that
// is refused leaves its arguments alone.
struct PlanRun {
  // Of a program of several participants the run of one.
  PlanRun(SessionState& state, Execution& execution, const engine::Plan& plan, size_t participant = 0)
      : state(state),
        execution(execution),
        plan(plan),
        participant(participant),
        device(execution.request.DeviceOf(participant)),
        memory(state.devices.device(device).memory),
        limit(TimeLimit(execution.request, state.limits)),
        arguments(execution.arguments.size() / execution.request.participants()),
        first_argument(participant * arguments.size()),
        first_result(participant * (execution.results.size() / execution.request.participants())),
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
  // With `rendezvous` as a participant that meets others there.
  absl::Status RunPlan(absl::Duration used, Rendezvous* rendezvous = nullptr);
  // The results that have names get their values.
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);

  SessionState& state;
  Execution& execution;
  const engine::Plan& plan;
  const size_t participant;
  const uint32_t device;
  DeviceMemory& memory;
  const absl::Duration limit;
  absl::InlinedVector<const std::byte*, 16> arguments;
  const size_t first_argument, first_result;   // Of the execution's.
  absl::InlinedVector<int, 16> takes, copies;  // By result: the argument of these, or -1.
  std::vector<Block> blocks;                   // By result.
  Block temporary;
};

// A result that has its value.
void Publish(Buffer& buffer, const hlo::Shape& shape, Block block);
// Donated arguments are gone from here on.
void Consume(Execution& execution, SessionState& state, DeferringLock& lock)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
// Those that were not taken over are freed when the execution is.
void DropDonated(Execution& execution);

// The engine's error with the kind its code means.
absl::Status WithRunKind(const absl::Status& status, absl::Duration limit, const Limits& limits);

}  // namespace hlod::device

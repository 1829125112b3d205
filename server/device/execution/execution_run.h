// One run of a whole or partial plan for an execute. Private to Executions.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/system/rendezvous.h"
#include "server/device/execution/execution.h"

namespace hlod::device {

// Runs on the memory of a device. Allocates all memory before it changes anything, so that a refused execute
// leaves its arguments unchanged.
struct PlanRun {
  // For a program of several participants: one participant's run.
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

  // Collects the addresses of the arguments; null for absent ones, which the plan does not read.
  void CollectArguments();
  // Decides for each result whether it takes over an argument's memory, which it does when nothing else can
  // read that memory; otherwise the program works on a copy.
  void ChooseAliases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  absl::Status Allocate();
  absl::Status AboutResult(const absl::Status& status, size_t i) const ABSL_LOCKS_EXCLUDED(state.mu);
  // Moves the blocks of arguments to the results that take them over.
  void TakeOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void CopyShared();
  // Runs the plan. `used` is the part of the time limit that is already used. At `rendezvous` a participant
  // meets the others; null for a program of one participant.
  absl::Status RunPlan(absl::Duration used, Rendezvous* rendezvous = nullptr);
  // Sets the values of the results that have names.
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);

  SessionState& state;
  Execution& execution;
  const engine::Plan& plan;
  const size_t participant;
  const uint32_t device;
  DeviceMemory& memory;
  const absl::Duration limit;
  absl::InlinedVector<const std::byte*, 16> arguments;
  // The indices of this participant's first argument and first result in the execution.
  const size_t first_argument, first_result;
  // By result, the argument whose memory it takes over, or that it copies; -1 for none.
  absl::InlinedVector<int, 16> takes, copies;
  std::vector<Block> blocks;  // By result, its memory.
  Block temporary;
  Block received;  // The values of participants on other daemons.
};

// Sets the value of a result.
void Publish(Buffer& buffer, const hlo::Shape& shape, Block block);
// Marks the donated arguments as consumed.
void Consume(Execution& execution, SessionState& state, DeferringLock& lock)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
// Drops the donated arguments that were not taken over; their memory is freed with the execution.
void DropDonated(Execution& execution);

// Returns the engine's error with the kind that its code means.
absl::Status WithRunKind(const absl::Status& status, absl::Duration limit, const Limits& limits);

}  // namespace hlod::device

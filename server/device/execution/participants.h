// The participants of one execute that are on this daemon. Private to Executions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/system/mutex.h"
#include "common/base/system/rendezvous.h"
#include "server/device/execution/execution_run.h"
#include "server/device/execution/executions.h"
#include "server/device/execution/launches.h"

namespace hlod::device {

// The state shared by the participants of one execute. Lives as long as one of their jobs.
struct Executions::Participants {
  enum class Phase : uint8_t { kGathering, kRunning, kOver };

  Participants(std::shared_ptr<Execution> e, const engine::Plan& whole);
  static Elsewhere OthersOf(const Execution& execution);
  static std::vector<std::string> Names(const Execution& execution, const hlo::Participants& participants);
  bool launched() const { return execution->request.launch != nullptr; }

  const std::shared_ptr<Execution> execution;
  const engine::Plan& plan;   // In an abstract execute, the part that can be computed.
  std::vector<size_t> order;  // The participants in the order of their devices' ordinals.
  // In a launch, the participants of other daemons. The rest is set at the start, when all wait.
  Elsewhere elsewhere;
  Rendezvous rendezvous;  // The participants of this daemon meet here.
  // By participant, its run, set when it has its memory. Used by the participant's own thread, except at the
  // start, when all others wait.
  std::vector<std::optional<PlanRun>> runs;
  std::chrono::steady_clock::time_point start;
  int64_t peak_bytes = 0;

  Mutex mu;
  CondVar changed;  // Signals changes of what the mutex guards.
  Phase phase ABSL_GUARDED_BY(mu) = Phase::kGathering;
  size_t inside ABSL_GUARDED_BY(mu) = 0;  // The number of participants that hold their device.
  size_t ended ABSL_GUARDED_BY(mu) = 0;   // The number of participants whose run has ended.
  bool settled ABSL_GUARDED_BY(mu) = false;
  absl::Status refused ABSL_GUARDED_BY(mu);  // The error that occurred before all had their devices.

  // The fields below are those of a launch.
  LaunchPart::Report prepared ABSL_GUARDED_BY(mu), done ABSL_GUARDED_BY(mu);
  bool may_start ABSL_GUARDED_BY(mu) = false;  // All daemons are ready.
  absl::Status verdict ABSL_GUARDED_BY(mu);    // The reason why the launch is ended from outside.
};

}  // namespace hlod::device

// The executes of a session that have not ended: binds them to buffers, waits for these, runs the executes
// and answers them. Private to SessionDevice.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/device/deferring_lock.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/requests.h"
#include "server/device/session_state.h"
#include "server/device/violation.h"

namespace hlod::device {

struct Execution;
class LaunchedExecute;
class SessionDevice;

struct PlanRun;

// Thread-safe, except where noted.
class Executions {
 public:
  // This object is a member of `owner`, which pending work keeps alive.
  Executions(SessionDevice& owner, SessionState& state);

  Violation Execute(ExecuteRequest request, Done done);
  // Answers the execute, unless it is running; then its run ends soon. Has no effect if the command is not a
  // pending execute.
  void Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Stops all executes without answering them.
  void Close(DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Calls `call` with the device of each execute that waits for its arguments.
  void ForEachWaiting(absl::FunctionRef<void(uint32_t device)> call) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  // Tells clang, which knows the state's mutex by another name where this is called, that it is held.
  void AssertHeld() const HLOD_ASSERTS_HELD(state_.mu) {}

 private:
  std::shared_ptr<Executions> Self();

  // Called before and after the run (executions.cc).
  void OnReady(const std::shared_ptr<Execution>& execution);
  // Answers an execute that has ended, and removes it.
  void Settle(const std::shared_ptr<Execution>& execution, absl::Status status);
  // The two halves of Settle. Report makes the results ready or failed, and answers; Retire releases what the
  // execute holds, and lets the commands run that wait for it.
  void Report(Execution& execution, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  void Retire(Execution& execution, DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  // On the device (executions_run.cc).
  //
  // Determines which results of an abstract execute can be computed, and compiles that part. Runs on a
  // compile thread, because it takes long for wide programs.
  void PrepareAbstract(const std::shared_ptr<Execution>& execution);
  // Returns the executable of an execute that does not run yet; null when the session has ended.
  std::shared_ptr<SessionExecutable> Hold(const Execution& execution) ABSL_LOCKS_EXCLUDED(state_.mu);
  void Queue(const std::shared_ptr<Execution>& execution, double expected_us);
  // Programs that exchange values with the client while they run are run one at a time within a line, in the
  // order in which they became ready, so that they receive the values in order. Returns true if the execute
  // may run now.
  using LineKey = std::pair<uint32_t, uint64_t>;  // The device of the first participant, and the line.
  static LineKey LineOf(const Execution& execution);
  bool JoinLine(const std::shared_ptr<Execution>& execution) ABSL_LOCKS_EXCLUDED(state_.mu);
  void LeaveLine(Execution& execution, DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  void Submit(const std::shared_ptr<Execution>& execution, double expected_us);
  // Reserves the memory of an execute's profile.
  absl::Status AdmitReport(Execution& execution) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Measures the speed of the machine in memory of the execute's device.
  absl::Status MeasureMachine(Execution& execution);
  void Run(const std::shared_ptr<Execution>& execution);
  // Sets `started` unless the execute was refused for lack of memory.
  absl::Status RunReal(Execution& execution, bool& started);
  absl::Status RunAbstract(Execution& execution, bool& started);
  // Gives an abstract execute its results: values that `runs` (by participant) computed, and placeholders.
  // Returns the peak that the real execute would have.
  int64_t PublishAbstract(Execution& execution, absl::Span<PlanRun* const> runs)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Executes of several participants (execution_participants.cc). The participants acquire their devices one
  // after the other, then all run.
  struct Participants;
  void QueueParticipants(const std::shared_ptr<Execution>& execution);
  void QueueParticipant(const std::shared_ptr<Participants>& participants, size_t position);
  bool PostponeParticipant(const std::shared_ptr<Participants>& participants, size_t position);
  void RunParticipant(const std::shared_ptr<Participants>& participants, size_t position);
  absl::Status Gather(Participants& participants, size_t position);
  static void Count(Participants& participants, int inside);
  static void Refuse(Participants& participants, const absl::Status& status);
  void StartParticipants(Participants& participants);
  static bool AwaitStart(Participants& participants);
  static void RunMemberPlan(Participants& participants, size_t participant);
  void GiveResults(Participants& participants, bool succeeded);
  void EndParticipant(const std::shared_ptr<Participants>& participants);
  // Executes that are parts of launches (executions_launch.cc).
  friend class LaunchedExecute;
  // Tells the cluster that there is a part, and lets the execute begin unless it is refused (not `bound`).
  void AddLaunch(const std::shared_ptr<Execution>& execution, bool bound);
  void OfferLaunch(const std::shared_ptr<Execution>& execution);
  // Tells the other daemons that the part will not run.
  void TakeBackLaunch(const Execution& execution, const absl::Status& why, DeferringLock& lock);
  // Reserves the execute for an attempt to prepare it, which holds its arguments. Returns null, with the
  // reason, if it has ended.
  std::shared_ptr<Participants> BeginAttempt(const std::shared_ptr<Execution>& execution, absl::Status& why)
      ABSL_LOCKS_EXCLUDED(state_.mu);
  void EndAttempt(Execution& execution) ABSL_LOCKS_EXCLUDED(state_.mu);
  static bool AwaitLaunch(Participants& participants);
  // Records an execute that started and has ended in the account.
  void RecordRun(const Execution& execution, std::chrono::microseconds queued, int64_t run_us,
                 int64_t peak_bytes);
  // Runs the execute again when another execute of the device has completed. Returns false if no other one
  // ran beside it.
  bool Postpone(const std::shared_ptr<Execution>& execution);

  SessionDevice& owner_;
  SessionState& state_;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Execution>> executions_ ABSL_GUARDED_BY(state_.mu);
  // The running execute of each line and those that wait for it.
  std::map<LineKey, std::deque<std::shared_ptr<Execution>>> lines_ ABSL_GUARDED_BY(state_.mu);
  ByteBudget waiting_arguments_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hlod::device

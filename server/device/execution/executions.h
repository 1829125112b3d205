// The executes of a session that are not over: binding to buffers, waiting for them, running, answering.
// Private to the session device.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/device/deferring_lock.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/requests.h"
#include "server/device/session_state.h"
#include "server/device/violation.h"

namespace hlod::device {

struct Execution;
class SessionDevice;

// Thread-safe, as far as it does not say otherwise.
class Executions {
 public:
  // A member of `owner`, which work under way keeps alive.
  Executions(SessionDevice& owner, SessionState& state);

  Violation Execute(ExecuteRequest request, Done done);
  // Answers the execute, unless it runs: its run ends soon. Nothing when there is none.
  void Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Stops them. None is answered.
  void Close(DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Calls with the device of each that waits for its arguments.
  void ForEachWaiting(absl::FunctionRef<void(uint32_t device)> call) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

 private:
  std::shared_ptr<Executions> Self();

  // Until they run, and after it (executions.cc).
  void OnReady(const std::shared_ptr<Execution>& execution);
  // Answers an execute that is over, and lets go of it.
  void Settle(const std::shared_ptr<Execution>& execution, const absl::Status& status);
  // The two halves of it: its results are ready or failed; it holds and orders nothing any more.
  void Report(Execution& execution, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  void Retire(Execution& execution, DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  // On the device (executions_run.cc).
  // Finds out which results of an abstract execute can be computed, and compiles that part: on a compile
  // thread, for wide programs take long.
  void PrepareAbstract(const std::shared_ptr<Execution>& execution);
  void Queue(const std::shared_ptr<Execution>& execution, double expected_us);
  // Of programs that take or give values while they run one at a time runs on a device, in the order in which
  // they became ready: values go to them in order.
  bool JoinLine(const std::shared_ptr<Execution>& execution) ABSL_LOCKS_EXCLUDED(state_.mu);
  void LeaveLine(Execution& execution, DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  void Submit(const std::shared_ptr<Execution>& execution, double expected_us);
  void Run(const std::shared_ptr<Execution>& execution);
  // `started`: it has its memory, and was not refused for want of it.
  absl::Status RunReal(Execution& execution, bool& started);
  absl::Status RunAbstract(Execution& execution, bool& started);
  // Of several participants (execution_members.cc): one after the other gets its device, then all run.
  struct Participants;
  void QueueParticipants(const std::shared_ptr<Execution>& execution);
  void QueueParticipant(const std::shared_ptr<Participants>& participants, size_t position);
  bool PostponeMember(const std::shared_ptr<Participants>& participants, size_t position);
  void RunMember(const std::shared_ptr<Participants>& participants, size_t position);
  absl::Status Gather(Participants& participants, size_t position);
  static void Count(Participants& participants, int inside);
  static void Refuse(Participants& participants, const absl::Status& status);
  void StartMembers(Participants& participants);
  static bool AwaitStart(Participants& participants);
  static void RunMemberPlan(Participants& participants, size_t participant);
  void EndMember(const std::shared_ptr<Participants>& participants);
  // Accounts for an execute that started and is over.
  void RecordRun(const Execution& execution, std::chrono::microseconds queued, int64_t run_us,
                 int64_t peak_bytes);
  // Runs it again when another execute of the device has completed; false when there was none beside it.
  bool Postpone(const std::shared_ptr<Execution>& execution);

  SessionDevice& owner_;
  SessionState& state_;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Execution>> executions_ ABSL_GUARDED_BY(state_.mu);
  // By device: the one that runs, and those that wait for it.
  std::map<uint32_t, std::deque<std::shared_ptr<Execution>>> lines_ ABSL_GUARDED_BY(state_.mu);
  ByteBudget waiting_arguments_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hlod::device

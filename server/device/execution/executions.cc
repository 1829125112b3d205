// Executes before they run, and their answers.
#include "server/device/execution/executions.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "server/device/execution/execution.h"
#include "server/device/execution/launched_execute.h"
#include "server/device/session_device.h"

namespace hlod::device {

Executions::Executions(SessionDevice& owner, SessionState& state)
    : owner_(owner),
      state_(state),
      waiting_arguments_(state.limits.staging_bytes_max, "staging_bytes_max", "of executes that wait",
                         state.share) {}

std::shared_ptr<Executions> Executions::Self() { return {owner_.shared_from_this(), this}; }

std::string DescribeExecute(const Execution& execution) {
  if (execution.executable == nullptr || execution.executable->compiled == nullptr) return "execute";
  return absl::StrFormat("execute of \"%s\"", execution.executable->compiled->name());
}

Violation Executions::Execute(ExecuteRequest request, Done done) {
  auto execution = std::make_shared<Execution>(std::move(request));
  execution->done = std::move(done);
  if (execution->request.launch != nullptr)
    execution->launched = std::make_shared<LaunchedExecute>(Self(), execution);
  absl::Status refused;
  {
    DeferringLock lock(&state_.mu, &state_.failed);
    if (state_.closed) return Violation();
    const ExecuteRequest& r = execution->request;
    std::vector<bool> fills(r.results.size(), false);
    for (const uint32_t i : r.fills) {
      if (i < fills.size()) fills[i] = true;
    }
    for (size_t i = 0; i < r.results.size(); ++i) {
      if (r.results[i] != 0 && !fills[i]) RETURN_IF_VIOLATION(state_.table.Claim(r.results[i]));
    }
    refused = Bind(*execution, std::move(fills), state_, waiting_arguments_);
    if (refused.ok()) {
      execution->task->ready = [self = Self(), execution] {
        try {
          self->OnReady(execution);
        } catch (const std::exception& e) {  // For example bad_alloc.
          self->Settle(execution, ExceptionError("The execute could not start", e));
        }
      };
      executions_[r.command.id] = execution;
      if (r.line != 0) state_.channels.BeginExecution(r.command.id);
    }
    if (r.launch != nullptr && !r.launch->own.empty()) {
      lock.Call([self = Self(), execution, bound = refused.ok()] { self->AddLaunch(execution, bound); });
    } else if (refused.ok()) {
      Start(execution->task, lock.ready_tasks());
    }
  }
  if (!refused.ok()) Settle(execution, refused);
  return Violation();
}

// Called when everything that the execute needs is settled, successfully or not.
void Executions::OnReady(const std::shared_ptr<Execution>& execution) {
  absl::Status status;
  double expected_us = 0;
  {
    MutexLock lock(&state_.mu);
    if (state_.closed) return;
    execution->ready = true;
    execution->ready_since = std::chrono::steady_clock::now();
    status =
        execution->reported ? Cancelled("The command was cancelled.") : CheckArguments(*execution, state_);
    if (status.ok()) expected_us = execution->executable->compiled->ExpectedRunUs();
    if (status.ok() && execution->request.report != nullptr) {
      status = AdmitReport(*execution);
      // A measurement must not hold up a thread that reads a stream.
      expected_us = Executable::kUnknownRunUs;
    }
  }
  if (!status.ok()) return Settle(execution, status);
  if (!execution->abstract) return Queue(execution, expected_us);
  state_.devices.executables().Run(state_.session,
                                   [self = Self(), execution] { self->PrepareAbstract(execution); });
}

// -----------------------------------------------------------------------------------------------------------
// answers

void Executions::Settle(const std::shared_ptr<Execution>& execution, absl::Status status) {
  state_.channels.EndExecution(execution->request.command.id);
  if (RunReport* const report = execution->request.report.get(); report != nullptr && status.ok()) {
    try {
      report->profile = execution->executable->compiled->plan().Profile(report->times);
    } catch (const std::bad_alloc&) {
      status = MakeError(ErrorKind::kNoMemory, "The profile of the run finds no memory.");
    }
  }
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return;
  Report(*execution, status, lock);
  Retire(*execution, lock);
}

void Executions::Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock) {
  const auto found = executions_.find(command);
  if (found == executions_.end()) return;
  const std::shared_ptr<Execution> execution = found->second;
  execution->cancel = true;
  if (execution->running) return TakeBackLaunch(*execution, cancelled, lock);
  lock.Call([self = Self(), command] { self->state_.channels.EndExecution(command); });
  Report(*execution, cancelled, lock);
  // An execute that was to consume a buffer orders later commands: they wait for it instead of everything
  // that it waits for, such as reads of that buffer. It is retired when these are done.
  const bool orders = !execution->ready && std::find(execution->donated.begin(), execution->donated.end(),
                                                     true) != execution->donated.end();
  if (!orders) Retire(*execution, lock);
}

void Executions::Report(Execution& execution, const absl::Status& status, DeferringLock& lock) {
  if (std::exchange(execution.reported, true)) return;
  absl::Status answer;
  std::shared_ptr<const ErrorDetails> error;
  if (!status.ok()) {
    const ErrorDetails root =
        state_.errors.Root(DescribeExecute(execution), status, execution.request.command);
    answer = ToStatus(root);
    error = state_.errors.Keep(root);
    TakeBackLaunch(execution, status, lock);
  }
  for (const std::shared_ptr<Buffer>& buffer : execution.results) {
    if (buffer == nullptr) continue;
    buffer->producer = nullptr;
    if (error == nullptr) continue;
    buffer->state = BufferState::kFailed;
    buffer->error = error;
  }
  lock.Discard(std::exchange(execution.results, {}));
  lock.Answer(std::exchange(execution.done, nullptr), std::move(answer));
}

void Executions::Retire(Execution& execution, DeferringLock& lock) {
  for (const std::shared_ptr<Buffer>& buffer : execution.arguments) {
    if (buffer == nullptr || buffer->donor != execution.task) continue;
    buffer->donor = nullptr;
    buffer->abstract_donor.reset();
  }
  lock.Discard(std::exchange(execution.arguments, {}));
  waiting_arguments_.Release(std::exchange(execution.held_bytes, 0));
  LeaveLine(execution, lock);
  Finish(*execution.task, lock.ready_tasks());
  if (const auto found = executions_.find(execution.request.command.id); found != executions_.end()) {
    lock.Discard(std::move(found->second));
    executions_.erase(found);
  }
}

// -----------------------------------------------------------------------------------------------------------
// all executes

// Executes that do not run release their memory here, because the device's queue may keep them as long as
// other sessions' work takes.
void Executions::Close(DeferringLock& lock) {
  for (auto& [id, execution] : executions_) {
    execution->cancel = true;
    execution->reported = true;
    lock.Discard(std::exchange(execution->done, nullptr));
    lock.Discard(std::exchange(execution->task->ready, nullptr));
    Abandon(*execution->task);
    if (execution->launched != nullptr) {
      try {
        TakeBackLaunch(*execution, MakeError(ErrorKind::kCancelled, "The session has ended."), lock);
      } catch (const std::exception&) {  // Without memory to say so, the others wait until prepare_wait_us.
      }
    }
    if (execution->running) continue;
    lock.Discard(std::exchange(execution->arguments, {}));
    lock.Discard(std::exchange(execution->results, {}));
    lock.Discard(std::exchange(execution->request.arguments, {}));
    lock.Discard(std::exchange(execution->executable, nullptr));
  }
  lock.Discard(std::exchange(executions_, {}));
  lock.Discard(std::exchange(lines_, {}));
}

void Executions::ForEachWaiting(absl::FunctionRef<void(uint32_t device)> call) const {
  for (const auto& [command, execution] : executions_) {
    if (execution->ready) continue;
    for (size_t m = 0; m < execution->request.participants(); ++m) call(execution->request.DeviceOf(m));
  }
}

}  // namespace hlod::device

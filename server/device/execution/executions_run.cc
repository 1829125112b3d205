// Runs executes in order, with values or over placeholders.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "common/base/saturated.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "server/device/execution/execution_run.h"
#include "server/device/execution/executions.h"

namespace hlod::device {
namespace {

int64_t ArrayBytes(const hlo::Shape& shape) { return StoredByteSize(shape).value_or(0); }

}  // namespace

// Until an execute runs, the end of its session may take its executable away at any time.
std::shared_ptr<SessionExecutable> Executions::Hold(const Execution& execution) {
  MutexLock lock(&state_.mu);
  return state_.closed ? nullptr : execution.executable;
}

void Executions::Queue(const std::shared_ptr<Execution>& execution, double expected_us) {
  const std::shared_ptr<SessionExecutable> held = Hold(*execution);
  if (held == nullptr) return;
  // Participants hold all of their devices, so programs without a line cannot overlap either.
  const bool waits_in_line = held->compiled->plan().stats().transfers &&
                             (execution->request.participants() == 1 || execution->request.line != 0);
  if (waits_in_line && !JoinLine(execution)) return;
  Submit(execution, expected_us);
}

Executions::LineKey Executions::LineOf(const Execution& execution) {
  return {execution.request.DeviceOf(0), execution.request.line};
}

bool Executions::JoinLine(const std::shared_ptr<Execution>& execution) {
  MutexLock lock(&state_.mu);
  if (state_.closed) return false;
  auto& line = lines_[LineOf(*execution)];
  line.push_back(execution);
  execution->in_line = true;
  return line.size() == 1;
}

void Executions::LeaveLine(Execution& execution, DeferringLock& lock) {
  if (!std::exchange(execution.in_line, false)) return;
  const auto found = lines_.find(LineOf(execution));
  if (found == lines_.end()) return;  // The session has ended.
  auto& line = found->second;
  const bool first = line.front().get() == &execution;
  std::erase_if(line, [&](const std::shared_ptr<Execution>& other) { return other.get() == &execution; });
  if (line.empty()) {
    lines_.erase(found);
  } else if (first) {
    lock.Call([self = Self(), next = line.front()] { self->Submit(next, Executable::kUnknownRunUs); });
  }
}

void Executions::Submit(const std::shared_ptr<Execution>& execution, double expected_us) {
  if (execution->launched != nullptr) return OfferLaunch(execution);
  // An abstract execute that computes nothing needs no more than its first device.
  const bool needs_all = !execution->abstract || execution->part != nullptr;
  if (execution->request.participants() > 1 && needs_all) return QueueParticipants(execution);
  state_.devices.device(execution->request.DeviceOf(0))
      .queue.Submit(state_.session, expected_us, [self = Self(), execution] { self->Run(execution); });
}

// An execute is refused for lack of memory only if it is alone on the device, because another execute may
// hold the memory that it needs.
bool Executions::Postpone(const std::shared_ptr<Execution>& execution) {
  {
    MutexLock lock(&state_.mu);
    execution->running = false;
  }
  return state_.devices.device(execution->request.DeviceOf(0))
      .queue.Postpone(state_.session, Executable::kUnknownRunUs,
                      [self = Self(), execution] { self->Run(execution); });
}

void Executions::Run(const std::shared_ptr<Execution>& execution) {
  absl::Status status;
  bool started = true;
  {
    MutexLock lock(&state_.mu);
    if (execution->reported) return;  // It was cancelled, or its session has ended, so it holds nothing.
    execution->running = true;
  }
  if (execution->cancel) {
    status = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  } else {
    try {
      status = execution->abstract ? RunAbstract(*execution, started) : RunReal(*execution, started);
    } catch (const std::exception& e) {  // For example bad_alloc, or an exception of a library.
      status = ExceptionError("The run failed", e);
    }
  }
  if (!started && KindOf(status) == ErrorKind::kNoMemory && Postpone(execution)) return;
  Settle(execution, status);
}

void Executions::RecordRun(const Execution& execution, std::chrono::microseconds queued, int64_t run_us,
                           int64_t peak_bytes) {
  Executable& executable = *execution.executable->compiled;
  const ExecuteRequest& request = execution.request;
  RunKey key;
  key.device = request.DeviceOf(0);
  key.origin = request.command.origin;
  key.step = request.command.step;
  RunSample times = {state_.devices.uptime_us(), queued.count(), run_us};
  if (const network::Network* const chips = state_.devices.network();
      chips != nullptr && request.participants() > 1 && request.launch == nullptr) {
    const network::CollectiveCost cost = executable.NetworkCost(*chips, request.devices);
    // A branch that is never taken counts, too: the model of a run may be larger than any number.
    times.network_us = SaturatedInteger(cost.seconds * 1e6);
    times.network_bytes = SaturatedInteger(cost.bytes);
    int64_t before = executable.network_us;
    while (!executable.network_us.compare_exchange_weak(before, SaturatedSum(before, times.network_us))) {
    }
  }
  state_.ledger.RecordRun(key, executable.digest(), executable.name(), times, peak_bytes);
}

absl::Status Executions::AdmitReport(Execution& execution) {
  if (execution.abstract)
    return MakeError(ErrorKind::kUnimplemented, "An abstract execute runs nothing that can be profiled.");
  const int64_t bytes = execution.executable->compiled->plan().profile_bytes_max();
  RETURN_IF_ERROR(waiting_arguments_.Reserve(bytes, "A profile"));
  execution.held_bytes += bytes;
  return absl::OkStatus();
}

absl::Status Executions::MeasureMachine(Execution& execution) {
  engine::MachineSpeed& machine = execution.request.report->machine;
  if (machine.f32_flops > 0) return absl::OkStatus();  // The run was postponed after it.
  DeviceMemory& memory = state_.devices.device(execution.request.DeviceOf(0)).memory;
  const absl::Duration limit = TimeLimit(execution.request, state_.limits);
  engine::RunContext context;
  context.cancel = &execution.cancel;
  context.deadline = absl::Now() + limit;
  // Measures smaller sizes when the device is almost full.
  for (int64_t bytes = engine::kMachineSpeedBytes; bytes > (1 << 20); bytes /= 4) {
    const absl::StatusOr<Block> block =
        memory.Allocate(state_.account, bytes, Category::kTemporary, "the measurement of the machine");
    if (!block.ok()) continue;
    absl::StatusOr<engine::MachineSpeed> measured =
        engine::MeasureMachineSpeed({block->data(), static_cast<size_t>(bytes)},
                                    execution.executable->compiled->plan().threads(), context);
    if (measured.ok()) machine = *std::move(measured);
    return WithRunKind(measured.status(), limit, state_.limits);
  }
  return absl::OkStatus();
}

absl::Status Executions::RunReal(Execution& execution, bool& started) {
  started = false;
  Executable& executable = *execution.executable->compiled;
  if (execution.request.report != nullptr && execution.request.report->measure_machine) {
    const auto measured_since = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(MeasureMachine(execution));
    // The execute does not wait while it has the device.
    execution.ready_since += std::chrono::steady_clock::now() - measured_since;
  }
  PlanRun run(state_, execution, executable.plan());
  run.CollectArguments();
  {
    MutexLock lock(&state_.mu);
    run.state.mu.AssertHeld();
    run.ChooseAliases();
  }
  RETURN_IF_ERROR(run.Allocate());
  started = true;
  {
    DeferringLock lock(&state_.mu, &state_.failed);
    Consume(execution, state_, lock);
    run.state.mu.AssertHeld();
    run.TakeOver();
  }
  run.CopyShared();
  const int64_t peak_bytes = state_.account->figures().live_bytes;
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = run.RunPlan(absl::ZeroDuration());
  const int64_t us =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
  executable.CountRun(us);
  RecordRun(execution, std::chrono::duration_cast<std::chrono::microseconds>(start - execution.ready_since),
            us, peak_bytes);
  // Donated memory that was not taken over is freed with the execution, and results without a handle with the
  // run.
  DropDonated(execution);
  RETURN_IF_ERROR(status);
  MutexLock lock(&state_.mu);
  run.state.mu.AssertHeld();
  run.Publish();
  return absl::OkStatus();
}

// -----------------------------------------------------------------------------------------------------------
// over placeholders

namespace {

// Returns, by argument of the program, true when a participant has a placeholder there: participants exchange
// values, so that what depends on it has no value for any of them.
std::vector<bool> AbsentLeaves(const Execution& execution, const engine::Plan& plan) {
  std::vector<bool> absent(plan.arguments().size());
  for (size_t i = 0; i < execution.absent.size(); ++i) {
    if (execution.absent[i]) absent[i % absent.size()] = true;
  }
  return absent;
}

}  // namespace

void Executions::PrepareAbstract(const std::shared_ptr<Execution>& execution) {
  std::shared_ptr<SessionExecutable> held;
  {
    MutexLock lock(&state_.mu);
    if (state_.closed || execution->reported) return;  // It was cancelled and answered.
    held = execution->executable;
  }
  Executable& executable = *held->compiled;
  const absl::Duration limit = TimeLimit(execution->request, state_.limits);
  const absl::Time start = absl::Now();
  absl::Status status;
  try {
    const absl::StatusOr<std::vector<bool>> known =
        executable.ComputableResults(AbsentLeaves(*execution, executable.plan()));
    std::vector<bool> computable = known.ok() ? *known : std::vector<bool>();
    computable.resize(executable.plan().results().size(), false);
    for (const uint32_t i : execution->request.absent) computable[i % computable.size()] = false;
    absl::StatusOr<std::shared_ptr<const engine::Plan>> part = nullptr;
    if (!known.ok()) part = known.status();
    engine::CompileOptions options = state_.devices.executables().options().compile;
    options.cancel = &execution->cancel;
    options.deadline = start + limit;
    options.assembly = state_.assembly;
    if (std::find(computable.begin(), computable.end(), true) != computable.end())
      part = executable.PartialPlan(computable, options, state_.share);
    if (part.ok()) {
      execution->computable = std::move(computable);
      execution->part = *std::move(part);
    }
    status = WithRunKind(part.status(), limit, state_.limits);
  } catch (const std::exception& e) {  // For example bad_alloc, or an exception of a library.
    status = ExceptionError("The part that can be computed was not compiled", e);
  }
  execution->preparation = absl::Now() - start;
  if (status.ok() && execution->preparation >= limit)
    status = WithRunKind(absl::DeadlineExceededError("It was being prepared."), limit, state_.limits);
  if (!status.ok()) return Settle(execution, status);
  Queue(execution, Executable::kUnknownRunUs);
}

absl::Status Executions::RunAbstract(Execution& execution, bool& started) {
  started = false;
  const auto start = std::chrono::steady_clock::now();
  Executable& executable = *execution.executable->compiled;
  absl::Status status;
  std::optional<PlanRun> part;  // The plan's results are the computable ones, in order.
  if (execution.part != nullptr) {
    part.emplace(state_, execution, *execution.part);
    part->CollectArguments();
    RETURN_IF_ERROR(part->Allocate());
    started = true;
    status = part->RunPlan(execution.preparation);
  }
  started = true;
  ++executable.executes;
  const auto queued = std::chrono::duration_cast<std::chrono::microseconds>(start - execution.ready_since);
  int64_t peak_bytes = 0;  // The peak that the real execute would have.
  {
    DeferringLock lock(&state_.mu, &state_.failed);
    Consume(execution, state_, lock);
    // The execute had started, so donated arguments are consumed even if it fails.
    if (status.ok()) {
      const std::vector<PlanRun*> runs(execution.request.participants(), part ? &*part : nullptr);
      peak_bytes = PublishAbstract(execution, runs);
    }
  }
  RecordRun(execution, queued, /*run_us=*/0, peak_bytes);
  return status;
}

int64_t Executions::PublishAbstract(Execution& execution, absl::Span<PlanRun* const> runs) {
  const engine::Plan& plan = execution.executable->compiled->plan();
  const std::vector<bool>& computable = execution.computable;
  const size_t arguments = plan.arguments().size();
  // This order reproduces the peak of the real execute: aliased arguments become results, then the other
  // results and the temporaries are added, and only then is donated memory released.
  for (size_t r = 0; r < execution.results.size(); ++r) {
    const size_t i = r % computable.size(), m = r / computable.size();
    const int alias = plan.aliases()[i];
    if (computable[i] || alias < 0) continue;
    const size_t argument = m * arguments + static_cast<size_t>(alias);
    if (execution.donated[argument]) execution.arguments[argument]->simulated = SimulatedCharge();
  }
  std::vector<SimulatedCharge> dropped;
  size_t next = 0;
  for (size_t r = 0; r < execution.results.size(); ++r) {
    const size_t i = r % computable.size();
    if (i == 0) next = 0;
    Buffer* buffer = execution.results[r].get();
    if (computable[i]) {
      Block block = std::move(runs[r / computable.size()]->blocks[next++]);
      if (buffer != nullptr) Publish(*buffer, plan.results()[i], std::move(block));
      continue;
    }
    const int64_t bytes = ArrayBytes(plan.results()[i]);
    SimulatedCharge charge(state_.account, bytes);
    if (buffer == nullptr) {
      dropped.push_back(std::move(charge));
      continue;
    }
    buffer->shape = plan.results()[i];
    buffer->bytes = bytes;
    buffer->simulated = std::move(charge);
    buffer->state = BufferState::kPlaceholder;
  }
  const SimulatedCharge temporary(state_.account,
                                  plan.memory().temporary_bytes * static_cast<int64_t>(runs.size()));
  return state_.account->figures().simulated_live_bytes;
}

}  // namespace hlod::device

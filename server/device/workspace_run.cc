// Executes that run: memory, donations, the plan, and the results.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "common/base/status.h"
#include "server/device/execution.h"
#include "server/device/workspace.h"

namespace hlod::device {
namespace {

// The engine's error with the kind its code means.
absl::Status WithRunKind(const absl::Status& status, absl::Duration limit, const Limits& limits) {
  if (status.ok()) return status;
  ErrorDetails error = ErrorOf(status);
  if (error.kind != ErrorKind::kNone) return status;
  if (error.code == absl::StatusCode::kDeadlineExceeded) {
    error.kind = ErrorKind::kDeadline;
    const int64_t us = absl::ToInt64Microseconds(limit);
    error.text = us == limits.execute_us_max
                     ? absl::StrFormat("It ran longer than the limit execute_us_max, %d microseconds.", us)
                     : absl::StrFormat("It ran past its deadline of %d microseconds.", us);
  } else if (error.code == absl::StatusCode::kCancelled) {
    error.kind = ErrorKind::kCancelled;
    error.text = "The command was cancelled.";
  } else if (error.code == absl::StatusCode::kUnimplemented) {
    error.kind = ErrorKind::kUnimplemented;
  }
  return ToStatus(std::move(error));
}

int64_t ArrayBytes(const hlo::Shape& shape) { return ByteSize(shape).value_or(0); }

// A result that has its value.
void Publish(Buffer& buffer, const hlo::Shape& shape, Block block) {
  buffer.shape = shape;
  buffer.bytes = block.bytes();
  buffer.block = std::move(block);
  buffer.state = BufferState::kReady;
}

}  // namespace

// One run of a plan on the memory of a device. All memory is there before anything happens: an execute that
// is refused leaves its arguments alone.
struct Workspace::Run {
  Run(Workspace& workspace, Execution& execution, const engine::Plan& plan)
      : workspace(workspace),
        execution(execution),
        plan(plan),
        memory(workspace.devices_.device(execution.request.device).memory),
        limit(TimeLimit(execution.request, workspace.limits_)),
        arguments(execution.arguments.size()),
        takes(plan.results().size(), -1),
        copies(plan.results().size(), -1),
        blocks(plan.results().size()) {}

  // Null for those that are absent: what is computed does not read them.
  void CollectArguments();
  // A result takes over an argument's memory when nothing else can see it; else the program works on a copy.
  void ChooseAliases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);
  absl::Status Allocate();
  absl::Status AboutResult(const absl::Status& status, size_t i) const ABSL_LOCKS_EXCLUDED(workspace.mu_);
  // The blocks of arguments that results take over.
  void TakeOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);
  void CopyShared();
  absl::Status RunPlan(absl::Duration used);

  Workspace& workspace;
  Execution& execution;
  const engine::Plan& plan;
  DeviceMemory& memory;
  const absl::Duration limit;
  absl::InlinedVector<const std::byte*, 16> arguments;
  absl::InlinedVector<int, 16> takes, copies;  // By result: the argument, or -1.
  std::vector<Block> blocks;                   // By result.
  Block temporary;
};

absl::Duration TimeLimit(const ExecuteRequest& request, const Limits& limits) {
  const int64_t most = limits.execute_us_max;
  return absl::Microseconds(request.deadline_us > 0 ? std::min(request.deadline_us, most) : most);
}

void Workspace::Run::CollectArguments() {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool absent = !execution.absent.empty() && execution.absent[i];
    arguments[i] = absent ? nullptr : execution.ArgumentBytes(i);
  }
}

void Workspace::Run::ChooseAliases() {
  const auto aliased = [](int alias) { return alias >= 0; };
  if (std::none_of(plan.aliases().begin(), plan.aliases().end(), aliased)) return;
  absl::flat_hash_map<const Buffer*, int> uses;
  for (const std::shared_ptr<Buffer>& argument : execution.arguments) ++uses[argument.get()];
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int alias = plan.aliases()[i];
    if (alias < 0) continue;
    const Buffer* argument = execution.arguments[alias].get();
    const bool exclusive = execution.donated[alias] && argument->pins == 0 && uses[argument] == 1;
    (exclusive ? takes : copies)[i] = alias;
  }
}

// Names the result that there is no memory for. Of an abstract execute the results of the plan are the
// computable ones, in order.
absl::Status Workspace::Run::AboutResult(const absl::Status& status, size_t i) const {
  size_t result = i;
  if (!execution.computable.empty()) {
    result = 0;
    for (size_t computable = 0;; ++result) {
      if (execution.computable[result] && computable++ == i) break;
    }
  }
  ErrorDetails error = ErrorOf(status);
  error.handle = execution.request.results[result];
  error.shape = ShapeText(plan.results()[i]);
  MutexLock lock(&workspace.mu_);
  error.origin = workspace.errors_.OriginOf(execution.request.command.origin);
  return ToStatus(std::move(error));
}

absl::Status Workspace::Run::Allocate() {
  const auto allocate = [&]() -> absl::Status {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (takes[i] >= 0) continue;
      const hlo::Shape& shape = plan.results()[i];
      absl::StatusOr<Block> block =
          memory.Allocate(workspace.account_, ArrayBytes(shape), Category::kBuffer,
                          absl::StrFormat("result %d (%s)", i, ToStringNoLayout(shape)));
      if (!block.ok()) return AboutResult(block.status(), i);
      blocks[i] = *std::move(block);
    }
    ASSIGN_OR_RETURN(temporary, memory.Allocate(workspace.account_, plan.memory().temporary_bytes,
                                                Category::kTemporary, "the temporaries"));
    return absl::OkStatus();
  };
  absl::Status status = allocate();
  if (status.ok()) return status;
  MutexLock lock(&workspace.mu_);
  return workspace.errors_.WithLargestBuffers(std::move(status), workspace.table_);
}

void Workspace::Run::TakeOver() {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (takes[i] >= 0) blocks[i] = std::move(execution.arguments[takes[i]]->block);
  }
}

void Workspace::Run::CopyShared() {
  const ExecuteRequest& request = execution.request;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (copies[i] < 0) continue;
    std::memcpy(blocks[i].data(), arguments[copies[i]], static_cast<size_t>(blocks[i].bytes()));
    arguments[copies[i]] = blocks[i].data();
    if (execution.arguments[copies[i]] == nullptr) continue;  // A literal crossed already.
    workspace.ledger_.Record(
        {request.device, Cause::kDonationCopy, request.command.origin, request.command.step},
        blocks[i].bytes());
  }
}

// `used` of the execute's time was spent before.
absl::Status Workspace::Run::RunPlan(absl::Duration used) {
  absl::InlinedVector<std::byte*, 16> results;
  for (const Block& block : blocks) results.push_back(block.data());
  engine::RunContext context;
  context.deadline = absl::Now() + limit - used;
  context.cancel = &execution.cancel;
  return WithRunKind(
      plan.Run(absl::MakeConstSpan(arguments), absl::MakeConstSpan(results), temporary.data(), context),
      limit, workspace.limits_);
}

// -----------------------------------------------------------------------------------------------------------
// on the device

void Workspace::Queue(const std::shared_ptr<Execution>& execution, double expected_us) {
  devices_.device(execution->request.device)
      .queue.Submit(session_, expected_us,
                    [self = shared_from_this(), execution] { self->RunExecution(execution); });
}

// An execute is refused for want of memory only when the device is its own: what runs beside it may hold what
// it needs.
bool Workspace::Postpone(const std::shared_ptr<Execution>& execution) {
  {
    MutexLock lock(&mu_);
    execution->running = false;
  }
  return devices_.device(execution->request.device)
      .queue.Postpone(session_, Executable::kUnknownRunUs,
                      [self = shared_from_this(), execution] { self->RunExecution(execution); });
}

void Workspace::RunExecution(const std::shared_ptr<Execution>& execution) {
  absl::Status status;
  bool started = true;
  {
    MutexLock lock(&mu_);
    if (execution->reported) return;  // Cancelled, or its session is gone: it holds nothing any more.
    execution->running = true;
  }
  if (execution->cancel) {
    status = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  } else {
    try {
      status = execution->absent.empty() ? RunReal(*execution, started) : RunAbstract(*execution, started);
    } catch (const std::exception& e) {  // bad_alloc, and whatever a library lets out.
      status = Internal("The run failed: %s.", e.what());
    }
  }
  if (!started && KindOf(status) == ErrorKind::kNoMemory && Postpone(execution)) return;
  Settle(execution, status);
}

void Workspace::Consume(Execution& execution, DeferringLock& lock) {
  const CommandRef& command = execution.request.command;
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (!execution.donated[i]) continue;
    Buffer& buffer = *execution.arguments[i];
    buffer.consumed_by = command;
    const Entry* entry = table_.Find(buffer.handle);
    if (entry != nullptr && entry->buffer == execution.arguments[i]) {
      lock.Discard(table_.Erase(buffer.handle, {ErrorKind::kDonated, command, nullptr}).buffer);
    } else {
      table_.RecordDeath(buffer.handle, {ErrorKind::kDonated, command, nullptr});
    }
  }
}

absl::Status Workspace::RunReal(Execution& execution, bool& started) {
  started = false;
  Executable& executable = *execution.executable->compiled;
  Run run(*this, execution, executable.plan());
  run.CollectArguments();
  {
    MutexLock lock(&mu_);
    run.ChooseAliases();
  }
  RETURN_IF_ERROR(run.Allocate());
  started = true;
  {
    DeferringLock lock(&mu_);
    Consume(execution, lock);
    run.TakeOver();
  }
  run.CopyShared();
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = run.RunPlan(absl::ZeroDuration());
  const int64_t us =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
  executable.CountRun(us);
  ledger_.Count(&Counters::executes);
  ledger_.Count(&Counters::execute_us, us);
  // What was donated and not taken over is freed with the execution; results that have no name go with the
  // run.
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (execution.donated[i]) execution.arguments[i].reset();
  }
  RETURN_IF_ERROR(status);
  MutexLock lock(&mu_);
  for (size_t i = 0; i < run.blocks.size(); ++i) {
    if (execution.results[i] == nullptr) continue;
    Publish(*execution.results[i], run.plan.results()[i], std::move(run.blocks[i]));
  }
  return absl::OkStatus();
}

// -----------------------------------------------------------------------------------------------------------
// over placeholders

void Workspace::PrepareAbstract(const std::shared_ptr<Execution>& execution) {
  std::shared_ptr<SessionExecutable> held;
  {
    MutexLock lock(&mu_);
    if (closed_ || execution->reported) return;  // Cancelled, and answered.
    held = execution->executable;
  }
  Executable& executable = *held->compiled;
  const absl::Duration limit = TimeLimit(execution->request, limits_);
  const absl::Time start = absl::Now();
  absl::Status status;
  try {
    const absl::StatusOr<std::vector<bool>> known = executable.ComputableResults(execution->absent);
    std::vector<bool> computable = known.ok() ? *known : std::vector<bool>();
    computable.resize(executable.plan().results().size(), false);
    absl::StatusOr<std::shared_ptr<const engine::Plan>> part = nullptr;
    if (!known.ok()) part = known.status();
    engine::CompileOptions options = devices_.executables().options().compile;
    options.cancel = &execution->cancel;
    options.deadline = start + limit;
    if (std::find(computable.begin(), computable.end(), true) != computable.end())
      part = executable.PartialPlan(computable, options);
    if (part.ok()) {
      execution->computable = std::move(computable);
      execution->part = *std::move(part);
    }
    status = WithRunKind(part.status(), limit, limits_);
  } catch (const std::exception& e) {  // bad_alloc, and whatever a library lets out.
    status = Internal("The part that can be computed was not compiled: %s.", e.what());
  }
  execution->preparation = absl::Now() - start;
  if (status.ok() && execution->preparation >= limit)
    status = WithRunKind(absl::DeadlineExceededError("It was being prepared."), limit, limits_);
  if (!status.ok()) return Settle(execution, status);
  Queue(execution, Executable::kUnknownRunUs);
}

absl::Status Workspace::RunAbstract(Execution& execution, bool& started) {
  started = false;
  Executable& executable = *execution.executable->compiled;
  const engine::Plan& plan = executable.plan();
  const std::vector<bool>& computable = execution.computable;
  absl::Status status;
  std::optional<Run> part;  // Its results are those that are computable, in order.
  if (execution.part != nullptr) {
    part.emplace(*this, execution, *execution.part);
    part->CollectArguments();
    RETURN_IF_ERROR(part->Allocate());
    started = true;
    status = part->RunPlan(execution.preparation);
  }
  started = true;
  ++executable.executes;
  ledger_.Count(&Counters::executes);
  DeferringLock lock(&mu_);
  Consume(execution, lock);
  if (!status.ok()) return status;  // It had started: what was donated is gone nevertheless.
  // In an order that gives the peak which the real execute would have: aliased arguments become results, then
  // the others and the temporaries are added, and only then donated memory is given back.
  for (size_t i = 0; i < computable.size(); ++i) {
    const int alias = plan.aliases()[i];
    if (!computable[i] && alias >= 0 && execution.donated[alias])
      execution.arguments[alias]->simulated = SimulatedCharge();
  }
  std::vector<SimulatedCharge> dropped;
  size_t next = 0;
  for (size_t i = 0; i < computable.size(); ++i) {
    Buffer* buffer = execution.results[i].get();
    if (computable[i]) {
      Block block = std::move(part->blocks[next++]);
      if (buffer != nullptr) Publish(*buffer, plan.results()[i], std::move(block));
      continue;
    }
    const int64_t bytes = ArrayBytes(plan.results()[i]);
    SimulatedCharge charge(account_, bytes);
    if (buffer == nullptr) {
      dropped.push_back(std::move(charge));
      continue;
    }
    buffer->shape = plan.results()[i];
    buffer->bytes = bytes;
    buffer->simulated = std::move(charge);
    buffer->state = BufferState::kPlaceholder;
  }
  const SimulatedCharge temporary(account_, plan.memory().temporary_bytes);
  return absl::OkStatus();
}

}  // namespace hlod::device

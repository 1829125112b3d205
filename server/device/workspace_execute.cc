// Executes: binding to buffers, waiting for them, checking, running, and what becomes of donated arguments.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"
#include "server/device/execution.h"
#include "server/device/workspace.h"

namespace hlod::device {
namespace {

// Long enough to be left to the driver thread, whatever it turns out to be.
constexpr double kUnknownUs = 1e9;

std::string DescribeExecute(const Execution& execution) {
  if (execution.program == nullptr || execution.program->executable == nullptr) return "execute";
  return absl::StrFormat("execute of \"%s\"", execution.program->executable->name());
}

absl::Status Argument(std::string text) { return MakeError(ErrorKind::kArgument, std::move(text)); }

// The engine's error with the kind its code means.
absl::Status WithRunKind(const absl::Status& status, int64_t limit_us) {
  if (status.ok()) return status;
  Error error = ErrorOf(status);
  if (error.kind != ErrorKind::kNone) return status;
  if (error.code == absl::StatusCode::kDeadlineExceeded) {
    error.kind = ErrorKind::kDeadline;
    error.text = absl::StrFormat("It ran past its deadline of %d microseconds.", limit_us);
  } else if (error.code == absl::StatusCode::kCancelled) {
    error.kind = ErrorKind::kCancelled;
    error.text = "The command was cancelled.";
  } else if (error.code == absl::StatusCode::kUnimplemented) {
    error.kind = ErrorKind::kUnimplemented;
  }
  return ToStatus(std::move(error));
}

// What an execute holds of host memory while it waits: literals, and what each name costs here, which is more
// than on the wire. Buffers are not in it: they are bounded as handles.
int64_t HeldBytes(const ExecuteRequest& request) {
  constexpr size_t kOfArgument = sizeof(ExecuteRequest::Argument) + sizeof(std::shared_ptr<Buffer>);
  constexpr size_t kOfResult = sizeof(Handle) + sizeof(std::shared_ptr<Buffer>);
  size_t bytes = request.arguments.size() * kOfArgument + request.results.size() * kOfResult +
                 (request.fills.size() + request.donated.size()) * sizeof(uint32_t);
  for (const ExecuteRequest::Argument& argument : request.arguments) {
    if (argument.literal != nullptr) bytes += argument.literal->bytes().size();
  }
  return static_cast<int64_t>(bytes);
}

int64_t ArrayBytes(const hlo::Shape& shape) { return ByteSize(shape).value_or(0); }

}  // namespace

absl::Status Workspace::Execute(ExecuteRequest request, Done done) {
  auto execution = std::make_shared<Execution>(std::move(request));
  execution->done = std::move(done);
  ReadyTasks ready_tasks;
  absl::Status refused;
  {
    MutexLock lock(&mu_);
    if (closed_) return absl::OkStatus();
    const ExecuteRequest& r = execution->request;
    std::vector<bool> fills(r.results.size(), false);
    for (const uint32_t i : r.fills) {
      if (i < fills.size()) fills[i] = true;
    }
    for (size_t i = 0; i < r.results.size(); ++i) {
      if (r.results[i] != 0 && !fills[i]) RETURN_IF_ERROR(table_.Claim(r.results[i]));
    }
    refused = BindExecution(*execution);
    if (refused.ok()) {
      execution->task->ready = [self = shared_from_this(), execution] {
        try {
          self->OnReady(execution);
        } catch (const std::exception& e) {  // bad_alloc.
          self->Settle(execution, Internal("The execute could not start: %s.", e.what()));
        }
      };
      executions_[r.command.id] = execution;
      Unwait(execution->task, ready_tasks);
    }
  }
  if (!refused.ok()) Settle(execution, refused);
  Run(ready_tasks);
  return absl::OkStatus();
}

// Looks up all handles, defines the results, and makes the task depend on whatever is not settled. Results
// are defined even when an error is returned: they are there to be failed with it.
absl::Status Workspace::BindExecution(Execution& execution) {
  const ExecuteRequest& request = execution.request;
  const std::shared_ptr<Task>& task = execution.task;
  // The first thing found wrong is the answer. After it nothing more is looked up: a command may hold
  // millions of indices, and the text of an error costs more than reading one.
  absl::Status status = request.refused;

  // The results, pending.
  execution.results.resize(request.results.size());
  const absl::Status room = CheckHandles(static_cast<int64_t>(request.results.size()));
  const bool fits = room.ok();
  status.Update(room);
  if (status.ok()) {
    const int64_t held_bytes = HeldBytes(request);
    status = waiting_arguments_.Reserve(held_bytes, "An execute with arguments");
    if (status.ok()) execution.held_bytes = held_bytes;
  }
  std::vector<std::shared_ptr<Buffer>> placeholders(request.results.size());
  std::vector<bool> fills(request.results.size());
  absl::flat_hash_set<Handle> filled;
  if (status.ok() && request.fills.size() > request.results.size()) {
    status = Argument(
        absl::StrFormat("fills names %d results of %d.", request.fills.size(), request.results.size()));
  }
  for (const uint32_t i : request.fills) {
    if (i < request.results.size()) fills[i] = true;
    if (!status.ok()) continue;
    if (i >= request.results.size()) {
      status = Argument(absl::StrFormat("fills names result %d of %d.", i, request.results.size()));
      continue;
    }
    absl::StatusOr<std::shared_ptr<Buffer>> old = FindPlaceholder(request.results[i]);
    if (!old.ok()) {
      status = old.status();
    } else if (!filled.insert(request.results[i]).second) {
      status = Argument(absl::StrFormat("Placeholder %d is filled twice.", request.results[i]));
    } else if ((*old)->device != request.device) {
      status =
          Argument(absl::StrFormat("Placeholder %d is on device %d; an execute on device %d cannot fill it.",
                                   request.results[i], (*old)->device, request.device));
    } else {
      placeholders[i] = *std::move(old);
    }
  }

  // The program.
  if (absl::StatusOr<std::shared_ptr<Program>> program = FindProgram(request.executable); program.ok()) {
    execution.program = *program;
    DependOn(task, execution.program->producer);
  } else {
    status.Update(program.status());
  }
  status.Update(CheckDevice(request.device));

  // The arguments.
  execution.arguments.resize(request.arguments.size());
  execution.donated.resize(request.arguments.size());
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    const ExecuteRequest::Argument& argument = request.arguments[i];
    if (argument.literal != nullptr) {
      ledger_.Count(&Counters::inline_argument_bytes, static_cast<int64_t>(argument.literal->bytes().size()));
      continue;
    }
    if (!status.ok() || argument.handle == 0) continue;
    absl::StatusOr<std::shared_ptr<Buffer>> buffer = FindBuffer(argument.handle);
    if (buffer.ok()) {
      execution.arguments[i] = *std::move(buffer);
    } else {
      status = Annotate(buffer.status(), absl::StrFormat("binding argument %d", i));
    }
  }
  absl::flat_hash_map<const Buffer*, uint32_t> donations;
  if (status.ok() && request.donated.size() > request.arguments.size()) {
    status = Argument(absl::StrFormat("donated names %d arguments of %d.", request.donated.size(),
                                      request.arguments.size()));
  }
  for (const uint32_t i : request.donated) {
    if (!status.ok()) break;
    if (i >= request.arguments.size()) {
      status = Argument(absl::StrFormat("donated names argument %d of %d.", i, request.arguments.size()));
      continue;
    }
    if (execution.arguments[i] == nullptr) continue;  // A literal: there is nothing to give away.
    const uint32_t j = donations.emplace(execution.arguments[i].get(), i).first->second;
    if (j != i) {
      status = Argument(absl::StrFormat("Handle %d is donated twice, as arguments %d and %d.",
                                        request.arguments[i].handle, std::min(i, j), std::max(i, j)));
    }
    execution.donated[i] = true;
  }
  if (status.ok()) {
    for (size_t i = 0; i < execution.arguments.size(); ++i) {
      if (execution.arguments[i] == nullptr) continue;
      Buffer& buffer = *execution.arguments[i];
      DependOn(task, buffer.producer);
      if (!execution.donated[i]) AddReader(buffer, task);
    }
    for (size_t i = 0; i < execution.arguments.size(); ++i) {
      if (!execution.donated[i]) continue;
      Buffer& buffer = *execution.arguments[i];
      DependOn(task, buffer.donor);
      for (const std::shared_ptr<Task>& reader : buffer.readers) DependOn(task, reader);
      buffer.readers.clear();
      buffer.donor = task;
      if (request.abstract) buffer.abstract_donor = request.command;
    }
  }

  std::shared_ptr<const Error> error;  // One for all results that there is no room for.
  if (!fits) error = std::make_shared<const Error>(Root(DescribeExecute(execution), status, request.command));
  for (size_t i = 0; i < request.results.size(); ++i) {
    if (request.results[i] == 0 || (placeholders[i] == nullptr && fills[i])) continue;
    if (placeholders[i] != nullptr && !status.ok()) continue;  // Refused: it stays a placeholder.
    if (!fits) {
      table_.RecordDeath(request.results[i], {error->kind, request.command, error});
      continue;
    }
    auto buffer = std::make_shared<Buffer>();
    buffer->handle = request.results[i];
    buffer->device = request.device;
    buffer->made_by = placeholders[i] != nullptr ? placeholders[i]->made_by : request.command;
    if (placeholders[i] != nullptr) buffer->shape = placeholders[i]->shape;
    buffer->state = BufferState::kPendingExecute;
    buffer->producer = task;
    table_.Put(request.results[i], {buffer, nullptr});
    execution.results[i] = std::move(buffer);
  }
  return status;
}

// All that it needs is settled, for better or worse.
void Workspace::OnReady(const std::shared_ptr<Execution>& execution) {
  absl::Status status;
  double estimate_us = kUnknownUs;
  {
    MutexLock lock(&mu_);
    if (closed_) return;
    execution->ready = true;
    status = execution->told ? Cancelled("The command was cancelled.") : CheckArguments(*execution);
    if (status.ok() && execution->absent.empty())
      estimate_us = execution->program->executable->ExpectedRunUs();
  }
  if (!status.ok()) return Settle(execution, status);
  if (execution->absent.empty()) return Queue(execution, estimate_us);
  devices_.executables().Run(session_,
                             [self = shared_from_this(), execution] { self->PrepareAbstract(execution); });
}

void Workspace::Queue(const std::shared_ptr<Execution>& execution, double estimate_us) {
  devices_.device(execution->request.device)
      .queue.Submit(session_, estimate_us,
                    [self = shared_from_this(), execution] { self->RunExecution(execution); });
}

absl::Duration Workspace::TimeLimit(const ExecuteRequest& request) const {
  return absl::Microseconds(request.deadline_us > 0 ? std::min(request.deadline_us, limits_.execute_us_max)
                                                    : limits_.execute_us_max);
}

void Workspace::PrepareAbstract(const std::shared_ptr<Execution>& execution) {
  std::shared_ptr<Program> program;
  {
    MutexLock lock(&mu_);
    if (closed_ || execution->told) return;  // Cancelled: its answer is on its way already.
    program = execution->program;
  }
  Executable& executable = *program->executable;
  const absl::Time start = absl::Now();
  absl::Status status;
  try {
    std::vector<bool> computable = executable.ComputableResults(execution->absent);
    computable.resize(executable.plan().results().size(), false);
    absl::StatusOr<std::shared_ptr<const engine::Plan>> part = nullptr;
    if (std::find(computable.begin(), computable.end(), true) != computable.end())
      part = executable.PartialPlan(computable, devices_.executables().options().compile);
    if (part.ok()) {
      execution->computable = std::move(computable);
      execution->part = *std::move(part);
    }
    status = part.status();
  } catch (const std::exception& e) {  // bad_alloc, and whatever a library lets out.
    status = Internal("The part that can be computed was not compiled: %s.", e.what());
  }
  execution->preparation = absl::Now() - start;
  if (status.ok() && execution->preparation >= TimeLimit(execution->request)) {
    status = WithRunKind(absl::DeadlineExceededError("It was being prepared."),
                         absl::ToInt64Microseconds(TimeLimit(execution->request)));
  }
  if (!status.ok()) return Settle(execution, status);
  Queue(execution, kUnknownUs);
}

absl::Status Workspace::CheckArguments(Execution& execution) {
  const ExecuteRequest& request = execution.request;
  if (execution.program->error.has_value()) return ToStatus(*execution.program->error);
  const Executable& executable = *execution.program->executable;
  const engine::Plan& plan = executable.plan();
  if (request.arguments.size() != plan.arguments().size()) {
    return Argument(absl::StrFormat("\"%s\" takes %d arguments; %d are given.", executable.name(),
                                    plan.arguments().size(), request.arguments.size()));
  }
  if (request.results.size() != plan.results().size()) {
    return Argument(absl::StrFormat("\"%s\" gives %d results; %d are named.", executable.name(),
                                    plan.results().size(), request.results.size()));
  }
  std::vector<bool> absent(request.arguments.size(), false);
  bool any_absent = false;
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    const Buffer* buffer = execution.arguments[i].get();
    const hlo::Shape& expected = plan.arguments()[i];
    if (buffer != nullptr && buffer->consumed_by.has_value()) return Consumed(*buffer, *buffer->consumed_by);
    if (buffer != nullptr && buffer->state == BufferState::kFailed) return ToStatus(*buffer->error);
    const hlo::Shape& given = buffer != nullptr ? buffer->shape : request.arguments[i].literal->shape();
    if (!Compatible(given, expected)) {
      Error error;
      error.kind = ErrorKind::kArgument;
      error.handle = request.arguments[i].handle;
      error.shape = ToStringNoLayout(given);
      if (buffer != nullptr) error.origin = OriginOf(buffer->made_by.origin);
      error.text = absl::StrFormat(
          "Argument %d (%s) of \"%s\" is a %s; given is %s, a %s.", i, executable.DescribeArgument(i),
          executable.name(), ToStringNoLayout(expected),
          buffer != nullptr ? absl::StrCat("handle ", buffer->handle) : "a literal", error.shape);
      return ToStatus(std::move(error));
    }
    if (buffer == nullptr) continue;
    if (buffer->device != request.device) {
      return Argument(absl::StrFormat(
          "Argument %d (%s) of \"%s\", handle %d, is on device %d; the execute is on device %d.", i,
          executable.DescribeArgument(i), executable.name(), buffer->handle, buffer->device, request.device));
    }
    if (buffer->state != BufferState::kPlaceholder) continue;
    if (!request.abstract) {
      ledger_.Count(&Counters::refused_reads);
      return PlaceholderRead(*buffer, absl::StrFormat("Argument %d (%s) of \"%s\"", i,
                                                      executable.DescribeArgument(i), executable.name()));
    }
    absent[i] = any_absent = true;
  }
  for (size_t i = 0; i < execution.results.size(); ++i) {
    const Buffer* buffer = execution.results[i].get();
    if (buffer == nullptr || buffer->shape.type == hlo::kInvalid ||
        Compatible(buffer->shape, plan.results()[i]))
      continue;
    return Argument(absl::StrFormat("Result %d of \"%s\" is a %s; it cannot fill placeholder %d, a %s.", i,
                                    executable.name(), ToStringNoLayout(plan.results()[i]), buffer->handle,
                                    ToStringNoLayout(buffer->shape)));
  }
  for (size_t i = 0; i < plan.results().size(); ++i) {
    if (const absl::Status fits = CheckBytes(plan.results()[i]).status(); !fits.ok())
      return Annotate(fits, absl::StrFormat("checking result %d", i));
  }
  if (any_absent) execution.absent = std::move(absent);
  return absl::OkStatus();
}

void Workspace::RunExecution(const std::shared_ptr<Execution>& execution) {
  absl::Status status;
  bool started = true;
  {
    MutexLock lock(&mu_);
    if (execution->told) return;  // Cancelled, or its session is gone: it holds nothing any more.
    execution->running = true;
  }
  if (execution->cancel) {
    status = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  } else {
    try {
      status = execution->absent.empty() ? RunReal(*execution, started) : RunAbstract(*execution);
    } catch (const std::exception& e) {  // bad_alloc, and whatever a library lets out.
      status = Internal("The run failed: %s.", e.what());
    }
  }
  if (!started && KindOf(status) == ErrorKind::kNoMemory && Postpone(execution)) return;
  Settle(execution, status);
}

// An execute is refused for want of memory only when the device is its own: what runs beside it may hold what
// it needs.
bool Workspace::Postpone(const std::shared_ptr<Execution>& execution) {
  {
    MutexLock lock(&mu_);
    execution->running = false;
  }
  return devices_.device(execution->request.device)
      .queue.Postpone(session_, kUnknownUs,
                      [self = shared_from_this(), execution] { self->RunExecution(execution); });
}

// Donated arguments are gone from here on.
void Workspace::Consume(Execution& execution, std::vector<Entry>& gone) {
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (!execution.donated[i]) continue;
    Buffer& buffer = *execution.arguments[i];
    buffer.consumed_by = execution.request.command;
    const Entry* entry = table_.Find(buffer.handle);
    if (entry != nullptr && entry->buffer == execution.arguments[i]) {
      gone.push_back(table_.Erase(buffer.handle, {ErrorKind::kDonated, execution.request.command, nullptr}));
    } else {
      table_.RecordDeath(buffer.handle, {ErrorKind::kDonated, execution.request.command, nullptr});
    }
  }
}

absl::Status Workspace::RunReal(Execution& execution, bool& started) {
  started = false;
  const ExecuteRequest& request = execution.request;
  Executable& executable = *execution.program->executable;
  const engine::Plan& plan = executable.plan();
  DeviceMemory& memory = devices_.device(request.device).memory;
  const size_t argument_count = execution.arguments.size(), result_count = plan.results().size();

  absl::InlinedVector<const std::byte*, 16> arguments(argument_count);
  for (size_t i = 0; i < argument_count; ++i) {
    arguments[i] = execution.arguments[i] != nullptr ? execution.arguments[i]->block.data()
                                                     : request.arguments[i].literal->bytes().data();
  }
  // A result takes over an argument's memory when nobody else can see it; else the program works on a copy.
  absl::flat_hash_map<const Buffer*, int> uses;
  if (std::any_of(plan.aliases().begin(), plan.aliases().end(), [](int alias) { return alias >= 0; })) {
    for (const std::shared_ptr<Buffer>& argument : execution.arguments) ++uses[argument.get()];
  }
  const auto exclusive = [&](size_t a) {
    return execution.donated[a] && execution.arguments[a]->pins == 0 &&
           uses[execution.arguments[a].get()] == 1;
  };
  absl::InlinedVector<int, 16> takes(result_count, -1), copies(result_count, -1);
  {
    MutexLock lock(&mu_);
    for (size_t i = 0; i < result_count; ++i) {
      if (plan.aliases()[i] >= 0) (exclusive(plan.aliases()[i]) ? takes : copies)[i] = plan.aliases()[i];
    }
  }
  // All memory before anything happens: an execute that is refused leaves its arguments alone.
  const auto refuse = [&](absl::Status status) {
    MutexLock lock(&mu_);
    return WithLargestBuffers(std::move(status));
  };
  std::vector<Block> blocks(result_count);
  for (size_t i = 0; i < result_count; ++i) {
    if (takes[i] >= 0) continue;
    absl::StatusOr<Block> block =
        memory.Allocate(account_, ArrayBytes(plan.results()[i]), Category::kBuffer,
                        absl::StrFormat("result %d (%s)", i, ToStringNoLayout(plan.results()[i])));
    if (!block.ok()) return refuse(block.status());
    blocks[i] = *std::move(block);
  }
  absl::StatusOr<Block> temporary =
      memory.Allocate(account_, plan.memory().temporary_bytes, Category::kTemporary, "the temporaries");
  if (!temporary.ok()) return refuse(temporary.status());

  std::vector<Entry> gone;
  started = true;
  {
    MutexLock lock(&mu_);
    Consume(execution, gone);
    for (size_t i = 0; i < result_count; ++i) {
      if (takes[i] >= 0) blocks[i] = std::move(execution.arguments[takes[i]]->block);
    }
  }
  for (size_t i = 0; i < result_count; ++i) {
    if (copies[i] < 0) continue;
    std::memcpy(blocks[i].data(), arguments[copies[i]], static_cast<size_t>(blocks[i].bytes()));
    arguments[copies[i]] = blocks[i].data();
    if (execution.arguments[copies[i]] != nullptr) {
      ledger_.Record({request.device, Cause::kDonationCopy, request.command.origin, request.command.step},
                     blocks[i].bytes());
    }
  }

  absl::InlinedVector<std::byte*, 16> results(result_count);
  for (size_t i = 0; i < result_count; ++i) results[i] = blocks[i].data();
  const absl::Duration limit = TimeLimit(request);
  const int64_t limit_us = absl::ToInt64Microseconds(limit);
  engine::RunContext context;
  context.deadline = absl::Now() + limit;
  context.cancel = &execution.cancel;
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status =
      plan.Run(absl::MakeConstSpan(arguments), absl::MakeConstSpan(results), temporary->data(), context);
  const int64_t us =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
  executable.CountRun(us);
  ledger_.Count(&Counters::executes);
  ledger_.Count(&Counters::execute_us, us);
  // What was donated and not taken over is freed with `gone` and the execution; results that nobody named go
  // with `blocks`.
  for (size_t i = 0; i < argument_count; ++i) {
    if (execution.donated[i]) execution.arguments[i].reset();
  }
  RETURN_IF_ERROR(WithRunKind(status, limit_us));
  MutexLock lock(&mu_);
  for (size_t i = 0; i < result_count; ++i) {
    Buffer* buffer = execution.results[i].get();
    if (buffer == nullptr) continue;
    buffer->shape = plan.results()[i];
    buffer->bytes = blocks[i].bytes();
    buffer->block = std::move(blocks[i]);
    buffer->state = BufferState::kReady;
  }
  return absl::OkStatus();
}

// Computes the results that depend on no absent argument.
absl::Status Workspace::RunPart(Execution& execution, bool& started) {
  const ExecuteRequest& request = execution.request;
  const std::vector<bool>& keep = execution.computable;
  const std::shared_ptr<const engine::Plan>& plan = execution.part;
  DeviceMemory& memory = devices_.device(request.device).memory;
  std::vector<const std::byte*> arguments(execution.arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (execution.absent[i]) continue;  // Null: no kept result reads it.
    arguments[i] = execution.arguments[i] != nullptr ? execution.arguments[i]->block.data()
                                                     : request.arguments[i].literal->bytes().data();
  }
  std::vector<Block> blocks;
  std::vector<std::byte*> results;
  for (const hlo::Shape& shape : plan->results()) {
    ASSIGN_OR_RETURN(Block block,
                     memory.Allocate(account_, ArrayBytes(shape), Category::kBuffer, "a computable result"));
    results.push_back(block.data());
    blocks.push_back(std::move(block));
  }
  ASSIGN_OR_RETURN(const Block temporary, memory.Allocate(account_, plan->memory().temporary_bytes,
                                                          Category::kTemporary, "the temporaries"));
  const absl::Duration limit = TimeLimit(request);
  const int64_t limit_us = absl::ToInt64Microseconds(limit);
  engine::RunContext context;
  context.deadline = absl::Now() + limit - execution.preparation;
  context.cancel = &execution.cancel;
  started = true;
  RETURN_IF_ERROR(WithRunKind(plan->Run(arguments, results, temporary.data(), context), limit_us));
  MutexLock lock(&mu_);
  size_t part = 0;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    Block block = std::move(blocks[part++]);
    Buffer* buffer = execution.results[i].get();
    if (buffer == nullptr) continue;
    buffer->shape = plan->results()[part - 1];
    buffer->bytes = block.bytes();
    buffer->block = std::move(block);
    buffer->state = BufferState::kReady;
  }
  return absl::OkStatus();
}

absl::Status Workspace::RunAbstract(Execution& execution) {
  Executable& executable = *execution.program->executable;
  const engine::Plan& plan = executable.plan();
  const std::vector<bool>& keep = execution.computable;
  absl::Status status;
  if (execution.part != nullptr) {
    bool started = false;
    status = RunPart(execution, started);
    if (!started && !status.ok()) return status;
  }
  ++executable.executes;
  ledger_.Count(&Counters::executes);
  std::vector<Entry> gone;
  {
    MutexLock lock(&mu_);
    Consume(execution, gone);
    if (!status.ok()) return status;  // It had started: what was donated is gone all the same.
    // In an order that gives the peak which the real execute would have: aliased arguments become results,
    // then the others and the temporaries are added, and only then donated memory is given back.
    for (size_t i = 0; i < keep.size(); ++i) {
      const int alias = plan.aliases()[i];
      if (!keep[i] && alias >= 0 && execution.donated[alias])
        execution.arguments[alias]->simulated = SimulatedCharge();
    }
    std::vector<SimulatedCharge> dropped;
    for (size_t i = 0; i < keep.size(); ++i) {
      if (keep[i]) continue;
      const int64_t bytes = ArrayBytes(plan.results()[i]);
      SimulatedCharge charge(account_, bytes);
      Buffer* buffer = execution.results[i].get();
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
  }
  return absl::OkStatus();
}

// What is let go of without the lock, and before anybody is told: whoever then frees a handle finds its bytes
// gone.
struct Workspace::AfterUnlock {
  std::vector<std::shared_ptr<Buffer>> arguments, results;
  Done done;
  absl::Status answer;
  ReadyTasks ready_tasks;

  void Tell() {
    arguments.clear();
    results.clear();
    if (done) done(answer);
    Run(ready_tasks);
  }
};

void Workspace::Tell(Execution& execution, const absl::Status& status, AfterUnlock& left) {
  if (std::exchange(execution.told, true)) return;
  if (!status.ok()) {
    const auto error =
        std::make_shared<const Error>(Root(DescribeExecute(execution), status, execution.request.command));
    for (const std::shared_ptr<Buffer>& buffer : execution.results) {
      if (buffer == nullptr) continue;
      buffer->state = BufferState::kFailed;
      buffer->error = error;
    }
    left.answer = ToStatus(*error);
  }
  left.results = std::exchange(execution.results, {});
  for (const std::shared_ptr<Buffer>& buffer : left.results) {
    if (buffer != nullptr) buffer->producer = nullptr;
  }
  left.done = std::exchange(execution.done, nullptr);
}

void Workspace::Retire(Execution& execution, AfterUnlock& left) {
  left.arguments = std::exchange(execution.arguments, {});
  for (const std::shared_ptr<Buffer>& buffer : left.arguments) {
    if (buffer != nullptr && buffer->donor == execution.task) {
      buffer->donor = nullptr;
      buffer->abstract_donor.reset();
    }
  }
  waiting_arguments_.Release(std::exchange(execution.held_bytes, 0));
  Finish(*execution.task, left.ready_tasks);
  executions_.erase(execution.request.command.id);
}

void Workspace::Settle(const std::shared_ptr<Execution>& execution, const absl::Status& status,
                       bool if_waiting) {
  AfterUnlock left;
  {
    MutexLock lock(&mu_);
    if (closed_ || (if_waiting && execution->running)) return;
    Tell(*execution, status, left);
    // One that would have taken a buffer over is what later commands wait for in place of all that it waits
    // for itself, among them reads of that buffer: it goes when those are done.
    const bool orders = !execution->ready && std::find(execution->donated.begin(), execution->donated.end(),
                                                       true) != execution->donated.end();
    if (!if_waiting || !orders) Retire(*execution, left);
  }
  left.Tell();
}

}  // namespace hlod::device

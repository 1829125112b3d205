// Executes until they run: binding to buffers, waiting for them, checking; and how they are answered.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"
#include "server/device/buffer_rules.h"
#include "server/device/execution.h"
#include "server/device/workspace.h"

namespace hlod::device {
namespace {

absl::Status Argument(std::string text) { return MakeError(ErrorKind::kArgument, std::move(text)); }

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

}  // namespace

// Binds one execute, step by step. The first thing that is wrong is the answer; after it nothing more is
// looked up: a command may hold millions of indices, and the text of an error costs more than reading one.
struct Workspace::Binding {
  void Reserve() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);
  void FindFilled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);
  void FindExecutable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);
  void FindArguments() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);
  void MarkDonated() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);
  void Order() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);
  void DefineResults() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workspace.mu_);

  Workspace& workspace;
  Execution& execution;
  const std::vector<bool> fills;  // By result: it was to fill a placeholder ...
  const ExecuteRequest& request = execution.request;
  absl::Status status = request.refused;
  bool fits = true;                                  // There is room for the handles of the results.
  std::vector<std::shared_ptr<Buffer>> filled = {};  // By result: ... this one, when that is right.
};

std::string DescribeExecute(const Execution& execution) {
  if (execution.executable == nullptr || execution.executable->compiled == nullptr) return "execute";
  return absl::StrFormat("execute of \"%s\"", execution.executable->compiled->name());
}

Violation Workspace::Execute(ExecuteRequest request, Done done) {
  auto execution = std::make_shared<Execution>(std::move(request));
  execution->done = std::move(done);
  absl::Status refused;
  {
    DeferringLock lock(&mu_);
    if (closed_) return Violation();
    const ExecuteRequest& r = execution->request;
    std::vector<bool> fills(r.results.size(), false);
    for (const uint32_t i : r.fills) {
      if (i < fills.size()) fills[i] = true;
    }
    for (size_t i = 0; i < r.results.size(); ++i) {
      if (r.results[i] != 0 && !fills[i]) RETURN_IF_VIOLATION(table_.Claim(r.results[i]));
    }
    refused = BindExecution(*execution, std::move(fills));
    if (refused.ok()) {
      execution->task->ready = [self = shared_from_this(), execution] {
        try {
          self->OnReady(execution);
        } catch (const std::exception& e) {  // bad_alloc.
          self->Settle(execution, Internal("The execute could not start: %s.", e.what()));
        }
      };
      executions_[r.command.id] = execution;
      Start(execution->task, lock.ready_tasks());
    }
  }
  if (!refused.ok()) Settle(execution, refused);
  return Violation();
}

// -----------------------------------------------------------------------------------------------------------
// binding

// Looks up all handles, defines the results, and makes the task depend on whatever is not settled. Results
// are defined even when an error is returned: they are there to be failed with it.
absl::Status Workspace::BindExecution(Execution& execution, std::vector<bool> fills) {
  Binding binding{*this, execution, std::move(fills)};
  binding.Reserve();
  binding.FindFilled();
  binding.FindExecutable();
  binding.FindArguments();
  binding.MarkDonated();
  binding.Order();
  binding.DefineResults();
  return binding.status;
}

// Handles for the results, and host memory for what waits.
void Workspace::Binding::Reserve() {
  int64_t defined = 0;
  for (size_t i = 0; i < request.results.size(); ++i) defined += request.results[i] != 0 && !fills[i];
  const absl::Status room = defined > 0 ? workspace.CheckHandles(defined) : absl::OkStatus();
  fits = room.ok();
  status.Update(room);
  if (!status.ok()) return;
  const int64_t bytes = HeldBytes(request);
  status = workspace.waiting_arguments_.Reserve(bytes, "An execute with arguments");
  if (status.ok()) execution.held_bytes = bytes;
}

void Workspace::Binding::FindFilled() {
  filled.resize(request.results.size());
  if (status.ok() && request.fills.size() > request.results.size()) {
    status = Argument(
        absl::StrFormat("fills names %d results of %d.", request.fills.size(), request.results.size()));
  }
  absl::flat_hash_set<Handle> seen;
  for (const uint32_t i : request.fills) {
    if (!status.ok()) break;
    if (i >= request.results.size()) {
      status = Argument(absl::StrFormat("fills names result %d of %d.", i, request.results.size()));
      continue;
    }
    const Handle handle = request.results[i];
    absl::StatusOr<std::shared_ptr<Buffer>> old = workspace.FindPlaceholder(handle);
    if (!old.ok()) {
      status = old.status();
    } else if (!seen.insert(handle).second) {
      status = Argument(absl::StrFormat("Placeholder %d is filled twice.", handle));
    } else if ((*old)->device != request.device) {
      status =
          Argument(absl::StrFormat("Placeholder %d is on device %d; an execute on device %d cannot fill it.",
                                   handle, (*old)->device, request.device));
    } else {
      filled[i] = *std::move(old);
    }
  }
}

void Workspace::Binding::FindExecutable() {
  const absl::StatusOr<std::shared_ptr<SessionExecutable>> executable =
      workspace.FindExecutable(request.executable);
  status.Update(executable.status());
  status.Update(CheckDevice(request.device, workspace.devices_.count()));
  if (!executable.ok()) return;
  execution.executable = *executable;
  DependOn(execution.task, (*executable)->producer);
}

void Workspace::Binding::FindArguments() {
  execution.arguments.resize(request.arguments.size());
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    const ExecuteRequest::Argument& argument = request.arguments[i];
    if (argument.literal != nullptr) {
      workspace.ledger_.Count(&Counters::inline_argument_bytes,
                              static_cast<int64_t>(argument.literal->bytes().size()));
      continue;
    }
    if (!status.ok()) continue;
    absl::StatusOr<std::shared_ptr<Buffer>> buffer = workspace.FindBuffer(argument.handle);
    if (buffer.ok()) {
      execution.arguments[i] = *std::move(buffer);
    } else {
      status = Annotate(buffer.status(), absl::StrFormat("binding argument %d", i));
    }
  }
}

void Workspace::Binding::MarkDonated() {
  execution.donated.resize(request.arguments.size());
  if (status.ok() && request.donated.size() > request.arguments.size()) {
    status = Argument(absl::StrFormat("donated names %d arguments of %d.", request.donated.size(),
                                      request.arguments.size()));
  }
  absl::flat_hash_map<const Buffer*, uint32_t> donations;
  for (const uint32_t i : request.donated) {
    if (!status.ok()) return;
    if (i >= request.arguments.size()) {
      status = Argument(absl::StrFormat("donated names argument %d of %d.", i, request.arguments.size()));
      return;
    }
    if (execution.arguments[i] == nullptr) continue;  // A literal: there is nothing to give away.
    const uint32_t j = donations.emplace(execution.arguments[i].get(), i).first->second;
    if (j != i) {
      status = Argument(absl::StrFormat("Handle %d is donated twice, as arguments %d and %d.",
                                        request.arguments[i].handle, std::min(i, j), std::max(i, j)));
    }
    execution.donated[i] = true;
  }
}

// Everything waits for what makes it. What is donated waits for those that read it before; what is not, for
// those that may consume it before.
void Workspace::Binding::Order() {
  if (!status.ok()) return;
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (execution.arguments[i] == nullptr) continue;
    DependOn(execution.task, execution.arguments[i]->producer);
    if (!execution.donated[i]) AddReader(*execution.arguments[i], execution.task);
  }
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (!execution.donated[i]) continue;
    AddConsumer(*execution.arguments[i], execution.task);
    if (request.abstract) execution.arguments[i]->abstract_donor = request.command;
  }
}

// The results are pending. When there is no room for their handles, these are dead, with that error as the
// reason.
void Workspace::Binding::DefineResults() {
  execution.results.resize(request.results.size());
  std::shared_ptr<const ErrorDetails> error;  // One for all results that there is no room for.
  if (!fits) {
    error =
        workspace.errors_.Keep(workspace.errors_.Root(DescribeExecute(execution), status, request.command));
  }
  for (size_t i = 0; i < request.results.size(); ++i) {
    const Buffer* placeholder = filled[i].get();
    if (request.results[i] == 0) continue;
    // Of a fill that is refused the placeholder stays one.
    if (fills[i] && (placeholder == nullptr || !status.ok())) continue;
    if (!fits) {
      workspace.table_.RecordDeath(request.results[i], {error->kind, request.command, error});
      continue;
    }
    auto buffer = std::make_shared<Buffer>();
    buffer->handle = request.results[i];
    buffer->device = request.device;
    buffer->made_by = placeholder != nullptr ? placeholder->made_by : request.command;
    if (placeholder != nullptr) {
      buffer->shape = placeholder->shape;
    } else if (i < request.result_origins.size() && request.result_origins[i] != 0) {
      buffer->made_by.origin = request.result_origins[i];
    }
    buffer->state = BufferState::kPendingExecute;
    buffer->producer = execution.task;
    workspace.table_.Put(request.results[i], {buffer, nullptr});
    execution.results[i] = std::move(buffer);
  }
}

// -----------------------------------------------------------------------------------------------------------
// checking

// All that it needs is settled, for better or worse.
void Workspace::OnReady(const std::shared_ptr<Execution>& execution) {
  absl::Status status;
  double expected_us = 0;
  {
    MutexLock lock(&mu_);
    if (closed_) return;
    execution->ready = true;
    status = execution->reported ? Cancelled("The command was cancelled.") : CheckArguments(*execution);
    if (status.ok()) expected_us = execution->executable->compiled->ExpectedRunUs();
  }
  if (!status.ok()) return Settle(execution, status);
  if (execution->absent.empty()) return Queue(execution, expected_us);
  devices_.executables().Run(session_,
                             [self = shared_from_this(), execution] { self->PrepareAbstract(execution); });
}

absl::Status Workspace::CheckArguments(Execution& execution) {
  const ExecuteRequest& request = execution.request;
  if (execution.executable->error != nullptr) return ToStatus(*execution.executable->error);
  const Executable& executable = *execution.executable->compiled;
  const engine::Plan& plan = executable.plan();
  if (request.arguments.size() != plan.arguments().size()) {
    return Argument(absl::StrFormat("\"%s\" takes %d arguments; %d are given.", executable.name(),
                                    plan.arguments().size(), request.arguments.size()));
  }
  if (request.results.size() != plan.results().size()) {
    return Argument(absl::StrFormat("\"%s\" gives %d results; %d are named.", executable.name(),
                                    plan.results().size(), request.results.size()));
  }
  std::vector<bool> absent;
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    RETURN_IF_ERROR(CheckArgument(execution, i));
    const Buffer* buffer = execution.arguments[i].get();
    if (buffer == nullptr || buffer->state != BufferState::kPlaceholder) continue;
    absent.resize(request.arguments.size());
    absent[i] = true;
  }
  RETURN_IF_ERROR(CheckResults(execution));
  execution.absent = std::move(absent);
  return absl::OkStatus();
}

// One argument: a value of the right shape, or in an abstract execute a placeholder of it.
absl::Status Workspace::CheckArgument(const Execution& execution, size_t i) {
  const ExecuteRequest& request = execution.request;
  const Executable& executable = *execution.executable->compiled;
  const Buffer* buffer = execution.arguments[i].get();
  const hlo::Shape& expected = executable.plan().arguments()[i];
  if (buffer != nullptr) RETURN_IF_ERROR(CheckUsable(*buffer));
  const hlo::Shape& given = buffer != nullptr ? buffer->shape : request.arguments[i].literal->shape();
  if (!Compatible(given, expected)) {
    ErrorDetails error;
    error.kind = ErrorKind::kArgument;
    error.handle = request.arguments[i].handle;
    error.shape = ToStringNoLayout(given);
    if (buffer != nullptr) error.origin = errors_.OriginOf(buffer->made_by.origin);
    error.text = absl::StrFormat(
        "Argument %d (%s) of \"%s\" is a %s; given is %s, a %s.", i, executable.DescribeArgument(i),
        executable.name(), ToStringNoLayout(expected),
        buffer != nullptr ? absl::StrCat("handle ", buffer->handle) : "a literal", error.shape);
    return ToStatus(std::move(error));
  }
  if (buffer == nullptr) return absl::OkStatus();
  if (buffer->device != request.device) {
    return Argument(absl::StrFormat(
        "Argument %d (%s) of \"%s\", handle %d, is on device %d; the execute is on device %d.", i,
        executable.DescribeArgument(i), executable.name(), buffer->handle, buffer->device, request.device));
  }
  if (buffer->state == BufferState::kPlaceholder && !request.abstract) {
    ledger_.Count(&Counters::refused_reads);
    return errors_.PlaceholderRead(
        *buffer,
        absl::StrFormat("Argument %d (%s) of \"%s\"", i, executable.DescribeArgument(i), executable.name()));
  }
  return absl::OkStatus();
}

absl::Status Workspace::CheckResults(const Execution& execution) {
  const Executable& executable = *execution.executable->compiled;
  const absl::Span<const hlo::Shape> shapes = executable.plan().results();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Buffer* buffer = execution.results[i].get();
    if (buffer != nullptr && buffer->shape.type != hlo::kInvalid && !Compatible(buffer->shape, shapes[i])) {
      return Argument(absl::StrFormat("Result %d of \"%s\" is a %s; it cannot fill placeholder %d, a %s.", i,
                                      executable.name(), ToStringNoLayout(shapes[i]), buffer->handle,
                                      ToStringNoLayout(buffer->shape)));
    }
    if (const absl::Status fits = CheckBytes(shapes[i], limits_).status(); !fits.ok())
      return Annotate(fits, absl::StrFormat("checking result %d", i));
  }
  return absl::OkStatus();
}

// -----------------------------------------------------------------------------------------------------------
// answering

void Workspace::Settle(const std::shared_ptr<Execution>& execution, const absl::Status& status) {
  DeferringLock lock(&mu_);
  if (closed_) return;
  Report(*execution, status, lock);
  Retire(*execution, lock);
}

void Workspace::CancelWaiting(Execution& execution, const absl::Status& cancelled, DeferringLock& lock) {
  if (execution.running) return;
  Report(execution, cancelled, lock);
  // One that would have taken a buffer over is what later commands wait for in place of all that it waits for
  // itself, among them reads of that buffer: it goes when those are done.
  const bool orders = !execution.ready && std::find(execution.donated.begin(), execution.donated.end(),
                                                    true) != execution.donated.end();
  if (!orders) Retire(execution, lock);
}

void Workspace::Report(Execution& execution, const absl::Status& status, DeferringLock& lock) {
  if (std::exchange(execution.reported, true)) return;
  absl::Status answer;
  std::shared_ptr<const ErrorDetails> error;
  if (!status.ok()) {
    const ErrorDetails root = errors_.Root(DescribeExecute(execution), status, execution.request.command);
    answer = ToStatus(root);
    error = errors_.Keep(root);
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

void Workspace::Retire(Execution& execution, DeferringLock& lock) {
  for (const std::shared_ptr<Buffer>& buffer : execution.arguments) {
    if (buffer == nullptr || buffer->donor != execution.task) continue;
    buffer->donor = nullptr;
    buffer->abstract_donor.reset();
  }
  lock.Discard(std::exchange(execution.arguments, {}));
  waiting_arguments_.Release(std::exchange(execution.held_bytes, 0));
  Finish(*execution.task, lock.ready_tasks());
  if (const auto found = executions_.find(execution.request.command.id); found != executions_.end()) {
    lock.Discard(std::move(found->second));
    executions_.erase(found);
  }
}

}  // namespace hlod::device

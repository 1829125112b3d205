// A session's lines and handles, what ends commands early, and what listings show.
#include "server/device/workspace.h"

#include <utility>

#include "common/base/status.h"
#include "server/device/buffer_rules.h"
#include "server/device/execution.h"

namespace hlod::device {

Workspace::Workspace(uint64_t session, Devices& devices)
    : session_(session),
      devices_(devices),
      limits_(devices.limits()),
      account_(std::make_shared<MemoryAccount>()),
      kept_(KeptBudget(limits_.session_bytes_max)),
      table_(limits_.reasons_kept),
      errors_(limits_, kept_),
      programs_(kept_),
      uploads_(limits_, ledger_),
      waiting_arguments_(limits_.staging_bytes_max, "staging_bytes_max", "of executes that wait") {}

// -----------------------------------------------------------------------------------------------------------
// lines

Violation Workspace::DefineOrigin(uint32_t id, Origin origin, Done done) {
  DeferringLock lock(&mu_);
  if (closed_) return Violation();
  absl::Status refused;
  RETURN_IF_VIOLATION(errors_.DefineOrigin(id, std::move(origin), refused));
  lock.Answer(std::move(done), std::move(refused));
  return Violation();
}

Origin Workspace::origin(uint32_t id) const {
  MutexLock lock(&mu_);
  return errors_.OriginOf(id);
}

// -----------------------------------------------------------------------------------------------------------
// handles

absl::StatusOr<std::shared_ptr<Buffer>> Workspace::FindBuffer(Handle handle) {
  const Entry* entry = table_.Find(handle);
  if (entry == nullptr) return errors_.Dead(table_, handle);
  if (entry->buffer == nullptr) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("Handle %d names an executable, where a buffer is expected.", handle));
  }
  return entry->buffer;
}

absl::StatusOr<std::shared_ptr<SessionExecutable>> Workspace::FindExecutable(Handle handle) {
  const Entry* entry = table_.Find(handle);
  if (entry == nullptr) return errors_.Dead(table_, handle);
  if (entry->executable == nullptr) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("Handle %d names a buffer, where an executable is expected.", handle));
  }
  return entry->executable;
}

absl::StatusOr<std::shared_ptr<Buffer>> Workspace::FindPlaceholder(Handle handle) {
  ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, FindBuffer(handle));
  if (buffer->state != BufferState::kPlaceholder) {
    return MakeError(
        ErrorKind::kArgument,
        absl::StrFormat("Handle %d is not a placeholder: only a placeholder can be filled.", handle));
  }
  // Whether the execute that it was given to has begun yet is a matter of time: the answer is not.
  if (buffer->abstract_donor.has_value()) return errors_.Consumed(*buffer, *buffer->abstract_donor);
  return buffer;
}

absl::Status Workspace::CheckUsable(const Buffer& buffer) const {
  if (buffer.consumed_by.has_value()) return errors_.Consumed(buffer, *buffer.consumed_by);
  if (buffer.state == BufferState::kFailed) return ToStatus(*buffer.error);
  return absl::OkStatus();
}

absl::Status Workspace::CheckHandles(int64_t more) const {
  if (more <= limits_.handles_per_session_max - table_.size()) return absl::OkStatus();
  return MakeError(ErrorKind::kLimit,
                   absl::StrFormat("This session has %d live handles, and %d more are too many: the limit "
                                   "handles_per_session_max is %d.",
                                   table_.size(), more, limits_.handles_per_session_max));
}

void Workspace::DefineFailed(Handle handle, uint32_t device, const hlo::Shape& shape,
                             const CommandRef& command, const ErrorDetails& error) {
  // Beside so many handles, words and lines are not kept: they may be of thousands of bytes.
  std::shared_ptr<const ErrorDetails> kept =
      table_.size() >= limits_.reasons_kept ? errors_.KeepShort(error) : errors_.Keep(error);
  if (table_.size() >= limits_.handles_per_session_max) {
    table_.RecordDeath(handle, {error.kind, command, std::move(kept)});
    return;
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->handle = handle;
  buffer->device = device;
  buffer->shape = shape;
  buffer->made_by = command;
  buffer->state = BufferState::kFailed;
  buffer->error = std::move(kept);
  table_.Put(handle, {std::move(buffer), nullptr});
}

Violation Workspace::DefinePlaceholder(const PlaceholderRequest& request, Done done) {
  DeferringLock lock(&mu_);
  if (closed_) return Violation();
  RETURN_IF_VIOLATION(table_.Claim(request.handle));
  absl::Status refused = request.refused;
  int64_t bytes = 0;
  if (refused.ok()) {
    const absl::StatusOr<int64_t> checked = CheckShape(request.shape, limits_);
    refused = checked.status();
    bytes = checked.value_or(0);
  }
  if (refused.ok()) refused = CheckDevice(request.device, devices_.count());
  if (refused.ok()) refused = CheckHandles(1);
  if (!refused.ok()) {
    const ErrorDetails error = errors_.Root("placeholder", refused, request.command);
    DefineFailed(request.handle, request.device, request.shape, request.command, error);
    lock.Answer(std::move(done), ToStatus(error));
    return Violation();
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->handle = request.handle;
  buffer->device = request.device;
  buffer->shape = request.shape;
  buffer->bytes = bytes;
  buffer->made_by = request.command;
  buffer->simulated = SimulatedCharge(account_, bytes);
  table_.Put(request.handle, {std::move(buffer), nullptr});
  lock.Answer(std::move(done), absl::OkStatus());
  return Violation();
}

Violation Workspace::Free(const CommandRef& command, const std::vector<Handle>& handles, Done done) {
  DeferringLock lock(&mu_);
  if (closed_) return Violation();
  absl::Status answer;
  // May have been donated: whether freeing them was right is known when that execute has started or was
  // refused.
  std::vector<std::shared_ptr<Buffer>> given;
  auto task = std::make_shared<Task>();
  for (const Handle handle : handles) {
    const Entry* entry = table_.Find(handle);
    if (entry == nullptr) {
      if (answer.ok()) answer = errors_.Dead(table_, handle);
      continue;
    }
    if (entry->buffer != nullptr && entry->buffer->donor != nullptr) {
      DependOn(task, entry->buffer->donor);
      given.push_back(entry->buffer);
    }
    if (entry->executable != nullptr) --executables_;
    Entry gone = table_.Erase(handle, {ErrorKind::kDeleted, command, nullptr});
    lock.Discard(std::move(gone.buffer));
    lock.Discard(std::move(gone.executable));
  }
  if (given.empty()) {
    lock.Answer(std::move(done), std::move(answer));
    return Violation();
  }
  task->ready = [self = shared_from_this(), given = std::move(given), done = std::move(done),
                 answer = std::move(answer)]() mutable {
    DeferringLock inner(&self->mu_);
    if (self->closed_) return;
    for (std::shared_ptr<Buffer>& buffer : given) {
      if (answer.ok() && buffer->consumed_by.has_value())
        answer = self->errors_.Consumed(*buffer, *buffer->consumed_by);
      inner.Discard(std::move(buffer));
    }
    inner.Answer(std::move(done), std::move(answer));
  };
  Start(task, lock.ready_tasks());
  return Violation();
}

// -----------------------------------------------------------------------------------------------------------
// ends

void Workspace::Cancel(uint64_t command) {
  const absl::Status cancelled = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  WaitingCompile compile;
  {
    DeferringLock lock(&mu_);
    if (closed_) return;
    if (const auto found = compiles_.find(command); found != compiles_.end()) {
      compile = std::move(found->second);
      compiles_.erase(found);
    }
    if (const auto found = downloads_.find(command); found != downloads_.end()) {
      lock.Call([done = std::move(found->second.done), cancelled] { done(cancelled); });
      lock.Discard(std::exchange(found->second.task->ready, nullptr));
      Finish(*found->second.task, lock.ready_tasks());
      downloads_.erase(found);
    }
    if (const std::shared_ptr<PendingUpload> upload = uploads_.Remove(command); upload != nullptr)
      SettleUpload(*upload, cancelled, lock);
    if (const auto found = executions_.find(command); found != executions_.end()) {
      const std::shared_ptr<Execution> execution = found->second;
      execution->cancel = true;
      CancelWaiting(*execution, cancelled, lock);
    }
  }
  if (compile.request == nullptr) return;
  devices_.executables().Cancel(compile.request);
  SettleExecutable(compile.executable, compile.what, cancelled, compile.done);
}

// Nothing is answered: what would be is only destroyed. Executes that do not run let go of what they hold:
// the device's queue may keep them for as long as other sessions' work takes.
void Workspace::Close() {
  DeferringLock lock(&mu_);
  if (closed_) return;
  closed_ = true;
  auto live = table_.Clear();
  for (auto& [handle, entry] : live) {
    if (entry.buffer == nullptr) continue;
    entry.buffer->producer = nullptr;
    entry.buffer->donor = nullptr;
  }
  lock.Discard(std::move(live));
  for (auto& [id, execution] : executions_) {
    execution->cancel = true;
    execution->reported = true;
    lock.Discard(std::exchange(execution->done, nullptr));
    lock.Discard(std::exchange(execution->task->ready, nullptr));
    Abandon(*execution->task);
    if (execution->running) continue;
    lock.Discard(std::exchange(execution->arguments, {}));
    lock.Discard(std::exchange(execution->results, {}));
    lock.Discard(std::exchange(execution->request.arguments, {}));
    lock.Discard(std::exchange(execution->executable, nullptr));
  }
  lock.Discard(std::exchange(executions_, {}));
  for (auto& [id, download] : downloads_) {
    lock.Discard(std::exchange(download.task->ready, nullptr));
    Abandon(*download.task);
  }
  lock.Discard(std::exchange(downloads_, {}));
  for (std::shared_ptr<PendingUpload>& upload : uploads_.Clear()) {
    ledger_.Count(&Counters::aborted_bytes, upload->received);
    lock.Discard(std::exchange(upload->done, nullptr));
    Abandon(*upload->task);
    lock.Discard(std::move(upload));
  }
  lock.Call([this, compiles = std::exchange(compiles_, {})] {
    for (const auto& [id, compile] : compiles) devices_.executables().Cancel(compile.request);
    devices_.Discard(session_);
  });
}

// -----------------------------------------------------------------------------------------------------------
// listings

std::vector<BufferInfo> Workspace::ListBuffers() const {
  MutexLock lock(&mu_);
  std::vector<BufferInfo> list;
  for (const auto& [handle, entry] : table_.live()) {
    if (entry.buffer == nullptr) continue;
    const Buffer& buffer = *entry.buffer;
    list.push_back({handle, buffer.device, buffer.shape,
                    buffer.block.data() == nullptr ? 0 : buffer.block.bytes(), buffer.state,
                    errors_.OriginOf(buffer.made_by.origin)});
  }
  return list;
}

Workspace::Counts& Workspace::Counts::operator+=(const Counts& other) {
  buffers += other.buffers;
  placeholders += other.placeholders;
  waiting_executes += other.waiting_executes;
  return *this;
}

std::vector<Workspace::Counts> Workspace::device_counts() const {
  std::vector<Counts> counts(devices_.count());
  MutexLock lock(&mu_);
  for (const auto& [handle, entry] : table_.live()) {
    // A failed definition may name any device.
    if (entry.buffer == nullptr || entry.buffer->device >= counts.size()) continue;
    Counts& device = counts[entry.buffer->device];
    device.placeholders += entry.buffer->state == BufferState::kPlaceholder;
    device.buffers += entry.buffer->holds_memory();
  }
  for (const auto& [command, execution] : executions_) {
    counts[execution->request.device].waiting_executes += !execution->ready;
  }
  return counts;
}

Workspace::Counts Workspace::counts() const {
  Counts sum;
  for (const Counts& device : device_counts()) sum += device;
  return sum;
}

}  // namespace hlod::device

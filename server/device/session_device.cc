// A session's lines and handles, the early end of commands, and listings.
#include "server/device/session_device.h"

#include <utility>

#include "common/base/errors/status.h"
#include "server/device/buffers/buffer_rules.h"

namespace hlod::device {

SessionDevice::SessionDevice(uint64_t session, Devices& devices, std::shared_ptr<MemoryShare> share,
                             std::shared_ptr<engine::AssemblyUser> assembly, LaunchClient client)
    : state_(session, devices, share != nullptr ? std::move(share) : devices.side_memory().ShareOf(""),
             std::move(assembly), std::move(client)),
      programs_(state_.kept),
      uploads_(state_),
      executions_(*this, state_),
      host_values_(*this, state_) {}

// -----------------------------------------------------------------------------------------------------------
// lines

Violation SessionDevice::DefineOrigin(uint32_t id, Origin origin, Done done, std::string name) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return Violation();
  absl::Status refused;
  RETURN_IF_VIOLATION(state_.errors.DefineOrigin(id, std::move(origin), refused, std::move(name)));
  lock.Answer(std::move(done), std::move(refused));
  return Violation();
}

Origin SessionDevice::origin(uint32_t id) const {
  MutexLock lock(&state_.mu);
  return state_.errors.OriginOf(id);
}

std::string SessionDevice::origin_name(uint32_t id) const {
  MutexLock lock(&state_.mu);
  return state_.errors.NameOf(id);
}

// -----------------------------------------------------------------------------------------------------------
// handles

Violation SessionDevice::DefinePlaceholder(const PlaceholderRequest& request, Done done) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return Violation();
  RETURN_IF_VIOLATION(state_.table.Claim(request.handle));
  absl::Status refused = request.refused;
  int64_t bytes = 0;
  if (refused.ok()) {
    const absl::StatusOr<int64_t> checked = CheckShape(request.shape, state_.limits);
    refused = checked.status();
    bytes = checked.value_or(0);
  }
  if (refused.ok()) refused = CheckDevice(request.device, state_.devices.count());
  if (refused.ok()) refused = state_.CheckHandles(1);
  if (!refused.ok()) {
    const ErrorDetails error = state_.errors.Root("placeholder", refused, request.command);
    state_.DefineFailed(request.handle, request.device, request.shape, request.command, error);
    lock.Answer(std::move(done), ToStatus(error));
    return Violation();
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->handle = request.handle;
  buffer->device = request.device;
  buffer->shape = request.shape;
  buffer->bytes = bytes;
  buffer->made_by = request.command;
  buffer->simulated = SimulatedCharge(state_.account, bytes);
  state_.table.Put(request.handle, {std::move(buffer), nullptr});
  lock.Answer(std::move(done), absl::OkStatus());
  return Violation();
}

Violation SessionDevice::Free(const CommandRef& command, const std::vector<Handle>& handles, Done done) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return Violation();
  absl::Status answer;
  // Buffers that may have been donated. Whether freeing them was valid is known when that execute has started
  // or was refused.
  std::vector<std::shared_ptr<Buffer>> given;
  int64_t programs = 0, program_bytes = 0;
  auto task = std::make_shared<Task>();
  for (const Handle handle : handles) {
    const Entry* entry = state_.table.Find(handle);
    if (entry == nullptr) {
      if (answer.ok()) answer = state_.errors.Dead(state_.table, handle);
      continue;
    }
    if (entry->buffer != nullptr && entry->buffer->donor != nullptr) {
      DependOn(task, entry->buffer->donor);
      given.push_back(entry->buffer);
    }
    if (entry->executable != nullptr) {
      --executables_;
      ++programs;
      if (entry->executable->compiled != nullptr) program_bytes += entry->executable->compiled->held_bytes();
    }
    Entry gone = state_.table.Erase(handle, {ErrorKind::kDeleted, command, nullptr});
    lock.Discard(std::move(gone.buffer));
    lock.Discard(std::move(gone.executable));
  }
  if (programs > 0) {
    lock.Call([this, programs, program_bytes] {
      state_.devices.executables().CountFreed(state_.session, programs, program_bytes);
    });
  }
  if (given.empty()) {
    lock.Answer(std::move(done), std::move(answer));
    return Violation();
  }
  task->ready = [self = shared_from_this(), given = std::move(given), done = std::move(done),
                 answer = std::move(answer)]() mutable {
    DeferringLock inner(&self->state_.mu, &self->state_.failed);
    if (self->state_.closed) return;
    for (std::shared_ptr<Buffer>& buffer : given) {
      if (answer.ok() && buffer->consumed_by.has_value())
        answer = self->state_.errors.Consumed(*buffer, *buffer->consumed_by);
      inner.Discard(std::move(buffer));
    }
    inner.Answer(std::move(done), std::move(answer));
  };
  Start(task, lock.ready_tasks());
  return Violation();
}

// -----------------------------------------------------------------------------------------------------------
// ends

void SessionDevice::Cancel(uint64_t command) {
  const absl::Status cancelled = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  WaitingCompile compile;
  {
    DeferringLock lock(&state_.mu, &state_.failed);
    if (state_.closed) return;
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
    CancelCopy(command, cancelled, lock);
    uploads_.AssertHeld();
    executions_.AssertHeld();
    host_values_.AssertHeld();
    uploads_.Cancel(command, cancelled, lock);
    executions_.Cancel(command, cancelled, lock);
    host_values_.Cancel(command, cancelled, lock);
  }
  if (compile.request == nullptr) return;
  state_.devices.executables().Cancel(compile.request);
  SettleExecutable(compile.executable, compile.what, cancelled, compile.done);
}

// Destroys callbacks without calling them.
void SessionDevice::Close() {
  WaitingCompiles compiles;
  if (!CloseCommands(compiles)) return;
  for (const auto& [id, compile] : compiles) state_.devices.executables().Cancel(compile.request);
  compiles.clear();
  LeaveGroup();
  state_.devices.Discard(state_.session);
  state_.devices.executables().Trim();
}

// Tells the processes that launch programs together with this session's, also if it has launched nothing yet.
void SessionDevice::LeaveGroup() {
  const std::shared_ptr<Launches>& launches = state_.devices.launches();
  if (launches != nullptr && state_.client.group != 0 && state_.client.separate)
    launches->Leave(state_.client.group);
}

// Returns false when they are closed already. Needs no memory, except in Discard, which waits for it.
bool SessionDevice::CloseCommands(WaitingCompiles& compiles) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return false;
  state_.closed = true;
  auto live = state_.table.Clear();
  for (auto& [handle, entry] : live) {
    if (entry.buffer == nullptr) continue;
    entry.buffer->producer = nullptr;
    entry.buffer->donor = nullptr;
  }
  lock.Discard(std::move(live));
  uploads_.AssertHeld();
  executions_.AssertHeld();
  host_values_.AssertHeld();
  executions_.Close(lock);
  host_values_.Close(lock);
  for (auto& [id, download] : downloads_) {
    lock.Discard(std::exchange(download.task->ready, nullptr));
    Abandon(*download.task);
  }
  lock.Discard(std::exchange(downloads_, {}));
  CloseCopies(lock);
  uploads_.Close(lock);
  compiles.swap(compiles_);
  return true;
}

// -----------------------------------------------------------------------------------------------------------
// listings

std::vector<BufferInfo> SessionDevice::ListBuffers() const {
  MutexLock lock(&state_.mu);
  std::vector<BufferInfo> list;
  for (const auto& [handle, entry] : state_.table.live()) {
    if (entry.buffer == nullptr) continue;
    const Buffer& buffer = *entry.buffer;
    list.push_back({handle, buffer.device, buffer.shape,
                    buffer.block.data() == nullptr ? 0 : buffer.block.bytes(), buffer.state,
                    state_.errors.OriginOf(buffer.made_by.origin)});
  }
  return list;
}

SessionDevice::Counts& SessionDevice::Counts::operator+=(const Counts& other) {
  buffers += other.buffers;
  placeholders += other.placeholders;
  waiting_executes += other.waiting_executes;
  return *this;
}

std::vector<SessionDevice::Counts> SessionDevice::device_counts() const {
  std::vector<Counts> counts(state_.devices.count());
  MutexLock lock(&state_.mu);
  for (const auto& [handle, entry] : state_.table.live()) {
    // The device of a failed definition may not exist.
    if (entry.buffer == nullptr || entry.buffer->device >= counts.size()) continue;
    Counts& device = counts[entry.buffer->device];
    device.placeholders += entry.buffer->state == BufferState::kPlaceholder;
    device.buffers += entry.buffer->holds_memory();
  }
  executions_.AssertHeld();
  executions_.ForEachWaiting([&counts](uint32_t device) { ++counts[device].waiting_executes; });
  return counts;
}

SessionDevice::Counts SessionDevice::counts() const {
  Counts sum;
  for (const Counts& device : device_counts()) sum += device;
  return sum;
}

}  // namespace hlod::device

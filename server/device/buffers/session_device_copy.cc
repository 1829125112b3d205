// Copies of a session's buffers on its devices.
#include <utility>

#include "common/base/errors/status.h"
#include "common/base/system/copy.h"
#include "server/device/buffers/buffer_rules.h"
#include "server/device/session_device.h"

namespace hlod::device {
namespace {

// The size above which bytes are copied on the transfer thread, because other commands wait for this one.
constexpr int64_t kCopiedAtOnceBytes = 256 << 10;

}  // namespace

struct SessionDevice::PendingCopy {
  CommandRef command;
  std::shared_ptr<Buffer> source, copy;
  std::shared_ptr<Task> task = std::make_shared<Task>();  // Reads the source, and makes the copy.
  bool running = false;  // True while the bytes are copied; it cannot be cancelled then.
  Block block;           // The copy's memory, while the bytes are copied.
  Done done;
};

absl::StatusOr<std::shared_ptr<Buffer>> SessionDevice::FindSource(const CopyRequest& request) {
  RETURN_IF_ERROR(request.refused);
  RETURN_IF_ERROR(CheckDevice(request.device, state_.devices.count()));
  RETURN_IF_ERROR(state_.CheckHandles(1));
  return state_.FindBuffer(request.source);
}

Violation SessionDevice::Copy(const CopyRequest& request, Done done) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return Violation();
  RETURN_IF_VIOLATION(state_.table.Claim(request.handle));
  const absl::StatusOr<std::shared_ptr<Buffer>> source = FindSource(request);
  if (!source.ok()) {
    const ErrorDetails error = state_.errors.Root("copy", source.status(), request.command);
    state_.DefineFailed(request.handle, request.device, hlo::Shape(), request.command, error);
    lock.Answer(std::move(done), ToStatus(error));
    return Violation();
  }
  auto pending = std::make_shared<PendingCopy>();
  pending->command = request.command;
  pending->source = *source;
  pending->done = std::move(done);
  pending->copy = std::make_shared<Buffer>();
  Buffer& copy = *pending->copy;
  copy.handle = request.handle;
  copy.device = request.device;
  copy.shape = (*source)->shape;
  copy.bytes = (*source)->bytes;
  copy.made_by = request.command;
  copy.state = BufferState::kPendingExecute;
  copy.producer = pending->task;
  state_.table.Put(request.handle, {pending->copy, nullptr});
  copies_[request.command.id] = pending;
  DependOn(pending->task, (*source)->producer);
  AddReader(**source, pending->task);
  pending->task->ready = [self = shared_from_this(), pending] { self->StartCopy(pending); };
  Start(pending->task, lock.ready_tasks());
  return Violation();
}

// Called when the source is settled.
void SessionDevice::StartCopy(const std::shared_ptr<PendingCopy>& pending) {
  {
    DeferringLock lock(&state_.mu, &state_.failed);
    if (state_.closed || !copies_.contains(pending->command.id)) return;
    const Buffer& source = *pending->source;
    Buffer& copy = *pending->copy;
    if (const absl::Status usable = state_.CheckUsable(source); !usable.ok())
      return SettleCopy(*pending, usable, lock);
    if (source.state == BufferState::kPlaceholder) {
      copy.shape = source.shape;
      copy.bytes = source.bytes;
      copy.state = BufferState::kPlaceholder;
      copy.simulated = SimulatedCharge(state_.account, source.bytes);
      return SettleCopy(*pending, absl::OkStatus(), lock);
    }
    absl::StatusOr<Block> block =
        state_.devices.device(copy.device)
            .memory.Allocate(state_.account, source.block.bytes(), Category::kBuffer,
                             absl::StrCat("a copy of ", ShapeText(source.shape)));
    if (!block.ok()) {
      return SettleCopy(*pending, state_.errors.WithLargestBuffers(block.status(), state_.table), lock);
    }
    pending->block = *std::move(block);
    pending->running = true;
  }
  // Programs that may change the source wait for its readers.
  const auto run = [self = shared_from_this(), pending] { self->RunCopy(*pending); };
  if (pending->block.bytes() <= kCopiedAtOnceBytes) return run();
  state_.devices.transfers().Submit(state_.session, 0, run);
}

void SessionDevice::RunCopy(PendingCopy& pending) {
  const std::byte* const from = pending.source->block.data();
  CopyBytes(pending.block.data(), from, static_cast<size_t>(pending.block.bytes()));
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return;
  Buffer& copy = *pending.copy;
  copy.shape = pending.source->shape;
  copy.bytes = pending.block.bytes();
  copy.block = std::move(pending.block);
  copy.state = BufferState::kReady;
  state_.ledger.Record({copy.device, Cause::kDeviceCopy, pending.command.origin, pending.command.step},
                       copy.bytes);
  SettleCopy(pending, absl::OkStatus(), lock);
}

void SessionDevice::SettleCopy(PendingCopy& pending, const absl::Status& status, DeferringLock& lock) {
  absl::Status answer;
  if (!status.ok()) {
    const ErrorDetails root = state_.errors.Root("copy", status, pending.command);
    pending.copy->state = BufferState::kFailed;
    pending.copy->error = state_.errors.Keep(root);
    answer = ToStatus(root);
  }
  pending.copy->producer = nullptr;
  lock.Discard(std::exchange(pending.copy, nullptr));
  lock.Discard(std::exchange(pending.source, nullptr));
  lock.Answer(std::exchange(pending.done, nullptr), std::move(answer));
  Finish(*pending.task, lock.ready_tasks());
  const auto found = copies_.find(pending.command.id);
  lock.Discard(std::move(found->second));
  copies_.erase(found);
}

void SessionDevice::CancelCopy(uint64_t command, const absl::Status& cancelled, DeferringLock& lock) {
  const auto found = copies_.find(command);
  if (found == copies_.end() || found->second->running) return;
  const std::shared_ptr<PendingCopy> pending = found->second;
  lock.Discard(std::exchange(pending->task->ready, nullptr));
  SettleCopy(*pending, cancelled, lock);
}

// A copy that runs keeps its buffers until it ends.
void SessionDevice::CloseCopies(DeferringLock& lock) {
  for (auto& [command, pending] : copies_) {
    lock.Discard(std::exchange(pending->done, nullptr));
    lock.Discard(std::exchange(pending->task->ready, nullptr));
    Abandon(*pending->task);
  }
  lock.Discard(std::exchange(copies_, {}));
}

}  // namespace hlod::device

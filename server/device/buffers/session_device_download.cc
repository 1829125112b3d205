// Reads of a session's buffers.
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "server/device/session_device.h"

namespace hlod::device {

// Keeps a buffer's bytes in place.
struct SessionDevice::Pin {
  std::shared_ptr<SessionDevice> session_device;  // Set once the buffer has counted this pin.
  std::shared_ptr<Buffer> buffer;
  ~Pin() {
    if (session_device == nullptr) return;
    MutexLock lock(&session_device->state_.mu);
    --buffer->pins;
  }
};

Violation SessionDevice::Download(const DownloadRequest& request, DownloadDone done) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return Violation();
  absl::StatusOr<std::shared_ptr<Buffer>> found = state_.FindBuffer(request.handle);
  if (!found.ok()) {
    lock.Call([done = std::move(done), status = found.status()] { done(status); });
    return Violation();
  }
  auto task = std::make_shared<Task>();
  DependOn(task, (*found)->producer);
  AddReader(**found, task);
  task->ready = [self = shared_from_this(), request, buffer = *std::move(found), task, done]() mutable {
    self->Read(request, std::move(buffer), task, done);
  };
  Start(task, lock.ready_tasks());
  if (lock.ready_tasks().empty()) downloads_[request.command.id] = {task, std::move(done)};
  return Violation();
}

// Answers a download whose buffer is settled.
void SessionDevice::Read(const DownloadRequest& request, std::shared_ptr<Buffer> buffer,
                         const std::shared_ptr<Task>& task, const DownloadDone& done) {
  absl::StatusOr<ReadyBytes> bytes = absl::InternalError("not read");
  // Declared before the lock, because destroying a buffer's last pin takes the lock.
  const std::shared_ptr<Pin> pin = request.pin ? std::make_shared<Pin>() : nullptr;
  ReadyTasks next;
  {
    MutexLock lock(&state_.mu);
    if (state_.closed || task->finished) return;
    downloads_.erase(request.command.id);
    if (const absl::Status usable = state_.CheckUsable(*buffer); !usable.ok()) {
      bytes = usable;
    } else if (buffer->state == BufferState::kPlaceholder) {
      state_.ledger.Count(&Counters::refused_reads);
      bytes = state_.errors.PlaceholderRead(*buffer, "What is read");
    } else if (!InRange(request.offset, request.length, static_cast<uint64_t>(buffer->bytes))) {
      bytes = MakeError(ErrorKind::kArgument,
                        absl::StrFormat("A read of %d bytes at offset %d of buffer %d, which has %d.",
                                        request.length, request.offset, buffer->handle, buffer->bytes));
    } else {
      const int64_t length =
          static_cast<int64_t>(request.length == 0 ? buffer->bytes - request.offset : request.length);
      bytes = ReadyBytes{buffer, buffer->shape, buffer->block.data() + request.offset, length, task, pin};
      if (pin != nullptr) {
        ++buffer->pins;
        pin->session_device = shared_from_this();
        pin->buffer = buffer;
      }
    }
    if (!bytes.ok() || request.pin) Finish(*task, next);
  }
  buffer.reset();  // From now on only `bytes` holds the buffer.
  done(std::move(bytes));
  RunReady(next, &state_.failed);
}

void SessionDevice::Release(const ReadyBytes& bytes) {
  DeferringLock lock(&state_.mu, &state_.failed);
  Finish(*bytes.task, lock.ready_tasks());
}

}  // namespace hlod::device

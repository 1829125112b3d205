// Writes to a session's buffers.
#include "server/device/buffers/session_uploads.h"

#include <cstring>
#include <utility>

#include "common/base/errors/status.h"
#include "server/device/buffers/buffer_rules.h"

namespace hlod::device {
namespace {

std::string DescribeUpload(const hlo::Shape& shape) {
  return shape.type == hlo::kInvalid ? "upload" : absl::StrCat("upload of ", ShapeText(shape));
}

// Checks a request by itself, and returns its bytes.
absl::StatusOr<int64_t> CheckRequest(const UploadRequest& request, const Limits& limits,
                                     uint32_t device_count) {
  RETURN_IF_ERROR(request.refused);
  ASSIGN_OR_RETURN(const int64_t bytes, CheckShape(request.shape, limits));
  RETURN_IF_ERROR(CheckDevice(request.device, device_count));
  if (request.bytes != static_cast<uint64_t>(bytes)) {
    return ArgumentError(absl::StrFormat("%d bytes are announced for shape %s, which has %d.", request.bytes,
                                         ToStringNoLayout(request.shape), bytes));
  }
  if (request.data.has_value() && request.data->size() != request.bytes) {
    return ArgumentError(
        absl::StrFormat("%d bytes came along with an upload of %d.", request.data->size(), bytes));
  }
  if (DirectionOf(request.cause) != Direction::kHostToDevice)
    return ArgumentError(absl::StrFormat("Cause \"%s\" is not one of an upload.", Name(request.cause)));
  return bytes;
}

}  // namespace

Violation SessionUploads::Declare(const UploadRequest& request, Done done) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return Violation();
  if (!request.fill) RETURN_IF_VIOLATION(state_.table.Claim(request.handle));
  absl::StatusOr<std::shared_ptr<PendingUpload>> declared = DefineBuffer(request);
  if (!declared.ok()) {
    const ErrorDetails error =
        state_.errors.Root(DescribeUpload(request.shape), declared.status(), request.command);
    if (!request.fill)
      state_.DefineFailed(request.handle, request.device, request.shape, request.command, error);
    lock.Answer(std::move(done), ToStatus(error));
    return Violation();
  }
  PendingUpload& upload = **declared;
  upload.done = std::move(done);
  if (!request.data.has_value() && request.bytes > 0) {
    uploads_.Add(*std::move(declared), state_.devices.clock().Now());
    return Violation();
  }
  if (request.bytes > 0) std::memcpy(upload.target.data(), request.data->data(), request.data->size());
  Settle(upload, absl::OkStatus(), lock);
  return Violation();
}

absl::StatusOr<std::shared_ptr<PendingUpload>> SessionUploads::DefineBuffer(const UploadRequest& request) {
  ASSIGN_OR_RETURN(const int64_t bytes, CheckRequest(request, state_.limits, state_.devices.count()));
  std::shared_ptr<Buffer> old;
  if (request.fill) {
    ASSIGN_OR_RETURN(old, state_.FindPlaceholder(request.handle));
    if (!Compatible(old->shape, request.shape) || old->device != request.device) {
      return ArgumentError(absl::StrFormat(
          "Placeholder %d is a %s on device %d; it cannot be filled with a %s on device %d.", old->handle,
          ToStringNoLayout(old->shape), old->device, ToStringNoLayout(request.shape), request.device));
    }
  } else {
    RETURN_IF_ERROR(state_.CheckHandles(1));
  }
  // Bytes that are in the command are copied at once.
  const int64_t staged = request.data.has_value() ? 0 : bytes;
  RETURN_IF_ERROR(uploads_.Reserve(staged));
  if (old != nullptr) old->simulated = SimulatedCharge();  // From now on the real buffer is charged instead.
  absl::StatusOr<Block> block =
      state_.devices.device(request.device).memory.Allocate(state_.account, bytes, Category::kBuffer, [&] {
        return absl::StrCat("an ", DescribeUpload(request.shape));
      });
  if (!block.ok()) {
    uploads_.Release(staged);
    if (old != nullptr) old->simulated = SimulatedCharge(state_.account, old->bytes);
    return state_.errors.WithLargestBuffers(block.status(), state_.table);
  }
  auto upload = std::make_shared<PendingUpload>();
  upload->command = request.command;
  upload->cause = request.cause;
  upload->pieces = request.pieces;
  upload->staged = staged;
  upload->task = std::make_shared<Task>();
  upload->buffer = std::make_shared<Buffer>();
  Buffer& buffer = *upload->buffer;
  buffer.handle = request.handle;
  buffer.device = request.device;
  buffer.shape = request.shape;
  buffer.bytes = bytes;
  buffer.made_by = old != nullptr ? old->made_by : request.command;
  buffer.state = BufferState::kPendingUpload;
  buffer.block = *std::move(block);
  buffer.producer = upload->task;
  upload->target = {buffer.block.data(), static_cast<size_t>(bytes)};
  state_.table.Put(request.handle, {upload->buffer, nullptr});
  return upload;
}

void SessionUploads::Settle(PendingUpload& upload, const absl::Status& status, DeferringLock& lock) {
  Buffer& buffer = *upload.buffer;
  absl::Status answer;
  if (status.ok()) {
    buffer.state = BufferState::kReady;
    state_.ledger.Record({buffer.device, upload.cause, upload.command.origin, upload.command.step},
                         buffer.bytes);
  } else {
    state_.ledger.Count(&Counters::aborted_bytes, upload.received);
    buffer.state = BufferState::kFailed;
    const ErrorDetails root = state_.errors.Root(DescribeUpload(buffer.shape), status, upload.command);
    buffer.error = state_.errors.Keep(root);
    upload.discarded = std::move(buffer.block);
    answer = ToStatus(root);
  }
  buffer.producer = nullptr;
  // A transfer may refer to the upload for a while, but the buffer belongs to the handle.
  lock.Discard(std::exchange(upload.buffer, nullptr));
  lock.Answer(std::exchange(upload.done, nullptr), std::move(answer));
  Finish(*upload.task, lock.ready_tasks());
}

absl::StatusOr<UploadPart> SessionUploads::Claim(uint64_t command) {
  MutexLock lock(&state_.mu);
  return uploads_.Claim(command);
}

absl::StatusOr<UploadPart> SessionUploads::NextPiece(uint64_t command, uint64_t offset, uint64_t length) {
  MutexLock lock(&state_.mu);
  return uploads_.NextPiece(command, offset, length);
}

bool SessionUploads::Owns(const UploadPart& part) const {
  MutexLock lock(&state_.mu);
  return uploads_.Owns(part.upload->command.id, part.generation);
}

bool SessionUploads::ExpectsTransfer(uint64_t command) const {
  MutexLock lock(&state_.mu);
  return uploads_.ExpectsTransfer(command);
}

bool SessionUploads::AddReceived(uint64_t command, uint64_t generation, int64_t bytes) {
  DeferringLock lock(&state_.mu, &state_.failed);
  switch (uploads_.AddReceived(command, generation, bytes, state_.devices.clock().Now())) {
    case Uploads::Progress::kStale: return false;
    case Uploads::Progress::kIncomplete: return true;
    case Uploads::Progress::kComplete: Settle(*uploads_.Remove(command), absl::OkStatus(), lock);
  }
  return true;
}

void SessionUploads::AbortTransfer(uint64_t command, uint64_t generation, const absl::Status& error) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (!uploads_.Owns(command, generation)) return;
  if (error.ok()) return uploads_.Restart(command);
  const std::shared_ptr<PendingUpload> upload = uploads_.Remove(command);
  Settle(*upload, error, lock);
  lock.Discard(upload);
}

void SessionUploads::OnResume(absl::Time now) {
  MutexLock lock(&state_.mu);
  uploads_.RestartDeadlines(now);
}

void SessionUploads::Expire(absl::Time now, absl::Time heard) {
  DeferringLock lock(&state_.mu, &state_.failed);
  for (const uint64_t command : uploads_.Late(now, heard)) {
    const absl::Status late = uploads_.LateError(command);
    const std::shared_ptr<PendingUpload> upload = uploads_.Remove(command);
    Settle(*upload, late, lock);
    lock.Discard(upload);
  }
}

void SessionUploads::Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock) {
  if (const std::shared_ptr<PendingUpload> upload = uploads_.Remove(command); upload != nullptr)
    Settle(*upload, cancelled, lock);
}

void SessionUploads::Close(DeferringLock& lock) {
  while (std::shared_ptr<PendingUpload> upload = uploads_.RemoveAny()) {
    state_.ledger.Count(&Counters::aborted_bytes, upload->received);
    lock.Discard(std::exchange(upload->done, nullptr));
    Abandon(*upload->task);
    lock.Discard(std::move(upload));
  }
}

}  // namespace hlod::device

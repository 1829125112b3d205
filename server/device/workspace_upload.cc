// Bytes into a session's buffers.
#include <cstring>
#include <utility>

#include "common/base/status.h"
#include "server/device/buffer_rules.h"
#include "server/device/workspace.h"

namespace hlod::device {
namespace {

std::string DescribeUpload(const hlo::Shape& shape) {
  return shape.type == hlo::kInvalid ? "upload" : absl::StrCat("upload of ", ShapeText(shape));
}

absl::Status Argument(std::string text) { return MakeError(ErrorKind::kArgument, std::move(text)); }

// What is wrong with a request by itself; its bytes when nothing is.
absl::StatusOr<int64_t> CheckRequest(const UploadRequest& request, const Limits& limits,
                                     uint32_t device_count) {
  RETURN_IF_ERROR(request.refused);
  ASSIGN_OR_RETURN(const int64_t bytes, CheckShape(request.shape, limits));
  RETURN_IF_ERROR(CheckDevice(request.device, device_count));
  if (request.bytes != static_cast<uint64_t>(bytes)) {
    return Argument(absl::StrFormat("%d bytes are announced for shape %s, which has %d.", request.bytes,
                                    ToStringNoLayout(request.shape), bytes));
  }
  if (request.data.has_value() && request.data->size() != request.bytes) {
    return Argument(
        absl::StrFormat("%d bytes came along with an upload of %d.", request.data->size(), bytes));
  }
  if (DirectionOf(request.cause) != Direction::kHostToDevice)
    return Argument(absl::StrFormat("Cause \"%s\" is not one of an upload.", Name(request.cause)));
  return bytes;
}

}  // namespace

Violation Workspace::Upload(const UploadRequest& request, Done done) {
  DeferringLock lock(&mu_);
  if (closed_) return Violation();
  if (!request.fill) RETURN_IF_VIOLATION(table_.Claim(request.handle));
  absl::StatusOr<std::shared_ptr<PendingUpload>> declared = DeclareUpload(request);
  if (!declared.ok()) {
    const ErrorDetails error =
        errors_.Root(DescribeUpload(request.shape), declared.status(), request.command);
    if (!request.fill) DefineFailed(request.handle, request.device, request.shape, request.command, error);
    lock.Answer(std::move(done), ToStatus(error));
    return Violation();
  }
  PendingUpload& upload = **declared;
  upload.done = std::move(done);
  if (!request.data.has_value() && request.bytes > 0) {
    uploads_.Add(*std::move(declared), devices_.clock().Now());
    return Violation();
  }
  if (request.bytes > 0) std::memcpy(upload.target.data(), request.data->data(), request.data->size());
  SettleUpload(upload, absl::OkStatus(), lock);
  return Violation();
}

// Reserves the memory, and makes the handle name a buffer whose bytes are on their way.
absl::StatusOr<std::shared_ptr<PendingUpload>> Workspace::DeclareUpload(const UploadRequest& request) {
  ASSIGN_OR_RETURN(const int64_t bytes, CheckRequest(request, limits_, devices_.count()));
  std::shared_ptr<Buffer> old;
  if (request.fill) {
    ASSIGN_OR_RETURN(old, FindPlaceholder(request.handle));
    if (!Compatible(old->shape, request.shape) || old->device != request.device) {
      return Argument(absl::StrFormat(
          "Placeholder %d is a %s on device %d; it cannot be filled with a %s on device %d.", old->handle,
          ToStringNoLayout(old->shape), old->device, ToStringNoLayout(request.shape), request.device));
    }
  } else {
    RETURN_IF_ERROR(CheckHandles(1));
  }
  const int64_t staged = request.data.has_value() ? 0 : bytes;  // What came along is in place at once.
  RETURN_IF_ERROR(uploads_.Reserve(staged));
  if (old != nullptr) old->simulated = SimulatedCharge();  // From here on the real buffer is what is charged.
  absl::StatusOr<Block> block = devices_.device(request.device)
                                    .memory.Allocate(account_, bytes, Category::kBuffer,
                                                     absl::StrCat("an ", DescribeUpload(request.shape)));
  if (!block.ok()) {
    uploads_.Release(staged);
    if (old != nullptr) old->simulated = SimulatedCharge(account_, old->bytes);
    return errors_.WithLargestBuffers(block.status(), table_);
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
  table_.Put(request.handle, {upload->buffer, nullptr});
  return upload;
}

void Workspace::SettleUpload(PendingUpload& upload, const absl::Status& status, DeferringLock& lock) {
  Buffer& buffer = *upload.buffer;
  absl::Status answer;
  if (status.ok()) {
    buffer.state = BufferState::kReady;
    ledger_.Record({buffer.device, upload.cause, upload.command.origin, upload.command.step}, buffer.bytes);
  } else {
    ledger_.Count(&Counters::aborted_bytes, upload.received);
    buffer.state = BufferState::kFailed;
    const ErrorDetails root = errors_.Root(DescribeUpload(buffer.shape), status, upload.command);
    buffer.error = errors_.Keep(root);
    upload.discarded = std::move(buffer.block);
    answer = ToStatus(root);
  }
  buffer.producer = nullptr;
  // A transfer may hold the upload for a while; the buffer is the handle's.
  lock.Discard(std::exchange(upload.buffer, nullptr));
  lock.Answer(std::exchange(upload.done, nullptr), std::move(answer));
  Finish(*upload.task, lock.ready_tasks());
}

absl::StatusOr<UploadPart> Workspace::ClaimUpload(uint64_t command) {
  MutexLock lock(&mu_);
  return uploads_.Claim(command);
}

absl::StatusOr<UploadPart> Workspace::NextPiece(uint64_t command, uint64_t offset, uint64_t length) {
  MutexLock lock(&mu_);
  return uploads_.NextPiece(command, offset, length);
}

bool Workspace::OwnsUpload(const UploadPart& part) const {
  MutexLock lock(&mu_);
  return uploads_.Owns(part.upload->command.id, part.generation);
}

bool Workspace::ExpectsTransfer(uint64_t command) const {
  MutexLock lock(&mu_);
  return uploads_.ExpectsTransfer(command);
}

bool Workspace::AddReceived(uint64_t command, uint64_t generation, int64_t bytes) {
  DeferringLock lock(&mu_);
  switch (uploads_.AddReceived(command, generation, bytes, devices_.clock().Now())) {
    case Uploads::Progress::kStale: return false;
    case Uploads::Progress::kIncomplete: return true;
    case Uploads::Progress::kComplete: SettleUpload(*uploads_.Remove(command), absl::OkStatus(), lock);
  }
  return true;
}

void Workspace::AbortTransfer(uint64_t command, uint64_t generation, const absl::Status& error) {
  DeferringLock lock(&mu_);
  if (!uploads_.Owns(command, generation)) return;
  if (error.ok()) return uploads_.Restart(command);
  const std::shared_ptr<PendingUpload> upload = uploads_.Remove(command);
  SettleUpload(*upload, error, lock);
  lock.Discard(upload);
}

void Workspace::ExpireUploads(absl::Time now) {
  DeferringLock lock(&mu_);
  for (const uint64_t command : uploads_.Late(now)) {
    const absl::Status late = uploads_.LateError(command);
    const std::shared_ptr<PendingUpload> upload = uploads_.Remove(command);
    SettleUpload(*upload, late, lock);
    lock.Discard(upload);
  }
}

}  // namespace hlod::device

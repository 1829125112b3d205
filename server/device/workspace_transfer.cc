// Bytes into and out of a session's buffers.
#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/status.h"
#include "server/device/workspace.h"

namespace hlod::device {
namespace {

std::string DescribeUpload(const absl::StatusOr<hlo::Shape>& shape) {
  return shape.ok() ? absl::StrCat("upload of ", ToStringNoLayout(*shape)) : "upload";
}

absl::Status NoUpload(uint64_t command) {
  return NotFound("No upload of command %d is under way in this session.", command);
}

}  // namespace

// Keeps a buffer's bytes where they are.
struct Workspace::Pin {
  std::shared_ptr<Workspace> workspace;  // Set when the buffer has counted it.
  std::shared_ptr<Buffer> buffer;
  ~Pin() {
    if (workspace == nullptr) return;
    MutexLock lock(&workspace->mu_);
    --buffer->pins;
  }
};

absl::StatusOr<std::shared_ptr<PendingUpload>> Workspace::DeclareUpload(UploadRequest& request) {
  ASSIGN_OR_RETURN(const int64_t bytes, CheckShape(request.shape, request.device));
  if (request.bytes != static_cast<uint64_t>(bytes)) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("%d bytes are announced for shape %s, which has %d.", request.bytes,
                                     ToStringNoLayout(*request.shape), bytes));
  }
  if (request.data.has_value() && request.data->size() != request.bytes) {
    return MakeError(ErrorKind::kArgument, absl::StrFormat("%d bytes came along with an upload of %d.",
                                                           request.data->size(), bytes));
  }
  if (DirectionOf(request.cause) != Direction::kHostToDevice) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("Cause \"%s\" is not one of an upload.", Name(request.cause)));
  }
  std::shared_ptr<Buffer> old;
  if (request.fill) {
    ASSIGN_OR_RETURN(old, FindPlaceholder(request.handle));
    if (!Compatible(old->shape, *request.shape) || old->device != request.device) {
      return MakeError(
          ErrorKind::kArgument,
          absl::StrFormat("Placeholder %d is a %s on device %d; it cannot be filled with a %s on device %d.",
                          old->handle, ToStringNoLayout(old->shape), old->device,
                          ToStringNoLayout(*request.shape), request.device));
    }
  } else {
    RETURN_IF_ERROR(CheckHandles(1));
  }
  // Bytes that came along are in place at once.
  const int64_t staged = request.data.has_value() ? 0 : bytes;
  RETURN_IF_ERROR(staging_.Reserve(staged, "An upload"));
  if (old != nullptr) old->simulated = SimulatedCharge();  // From here on the real buffer is what is charged.
  absl::StatusOr<Block> block = devices_.device(request.device)
                                    .memory.Allocate(account_, bytes, Category::kBuffer,
                                                     absl::StrCat("an ", DescribeUpload(request.shape)));
  if (!block.ok()) {
    staging_.Release(staged);
    if (old != nullptr) old->simulated = SimulatedCharge(account_, old->bytes);
    return WithLargestBuffers(block.status());
  }
  auto upload = std::make_shared<PendingUpload>();
  upload->command = request.command;
  upload->cause = request.cause;
  upload->pieces = request.pieces;
  upload->task = std::make_shared<Task>();
  upload->buffer = std::make_shared<Buffer>();
  Buffer& buffer = *upload->buffer;
  buffer.handle = request.handle;
  buffer.device = request.device;
  buffer.shape = *request.shape;
  buffer.bytes = bytes;
  buffer.made_by = old != nullptr ? old->made_by : request.command;
  buffer.state = BufferState::kPendingUpload;
  buffer.block = *std::move(block);
  buffer.producer = upload->task;
  upload->target = {buffer.block.data(), static_cast<size_t>(bytes)};
  table_.Put(request.handle, {upload->buffer, nullptr});
  uploads_[request.command.id] = upload;
  upload->staged = staged;
  return upload;
}

absl::Status Workspace::Upload(UploadRequest request, Done done) {
  absl::Status answer;
  ReadyTasks ready_tasks;
  Done settled;
  {
    MutexLock lock(&mu_);
    if (closed_) return absl::OkStatus();
    if (!request.fill) RETURN_IF_ERROR(table_.Claim(request.handle));
    absl::StatusOr<std::shared_ptr<PendingUpload>> upload = DeclareUpload(request);
    if (!upload.ok()) {
      const Error error = Root(DescribeUpload(request.shape), upload.status(), request.command);
      if (!request.fill)
        DefineFailed(request.handle, request.device, request.shape.ok() ? &*request.shape : nullptr,
                     request.command, error);
      answer = ToStatus(error);
      settled = std::move(done);
    } else {
      (*upload)->done = std::move(done);
      if (request.data.has_value() || request.bytes == 0) {
        if (request.bytes > 0)
          std::memcpy((*upload)->target.data(), request.data->data(), request.data->size());
        settled = SettleUpload(**upload, absl::OkStatus(), answer, ready_tasks);
      } else {
        upload_deadlines_.Declare(request.command.id, devices_.clock().Now());
      }
    }
  }
  if (settled) settled(answer);
  Run(ready_tasks);
  return absl::OkStatus();
}

Done Workspace::SettleUpload(PendingUpload& upload, const absl::Status& status, absl::Status& answer,
                             ReadyTasks& ready_tasks) {
  Buffer& buffer = *upload.buffer;
  staging_.Release(upload.staged);
  if (status.ok()) {
    buffer.state = BufferState::kReady;
    ledger_.Record({buffer.device, upload.cause, upload.command.origin, upload.command.step}, buffer.bytes);
  } else {
    ledger_.Count(&Counters::aborted_bytes, upload.received);
    buffer.state = BufferState::kFailed;
    buffer.error = std::make_shared<const Error>(Root(DescribeUpload(buffer.shape), status, upload.command));
    upload.discarded = std::move(buffer.block);
    answer = ToStatus(*buffer.error);
  }
  buffer.producer = nullptr;
  upload.buffer.reset();  // A transfer may hold the upload for a while; the buffer is the handle's.
  Finish(*upload.task, ready_tasks);
  ++upload.generation;
  Done done = std::exchange(upload.done, nullptr);
  upload_deadlines_.End(upload.command.id);
  uploads_.erase(upload.command.id);  // The last: the map may have held it.
  return done;
}

absl::StatusOr<Workspace::UploadPart> Workspace::ClaimUpload(uint64_t command) {
  MutexLock lock(&mu_);
  const auto found = uploads_.find(command);
  if (found == uploads_.end() || found->second->pieces) return NoUpload(command);
  PendingUpload& upload = *found->second;
  ledger_.Count(&Counters::aborted_bytes, std::exchange(upload.received, 0));
  return UploadPart{found->second, ++upload.generation, upload.target};
}

bool Workspace::OwnsUpload(const UploadPart& part) const {
  MutexLock lock(&mu_);
  return part.upload->generation == part.generation;
}

bool Workspace::ExpectsTransfer(uint64_t command) const {
  MutexLock lock(&mu_);
  const auto found = uploads_.find(command);
  return found != uploads_.end() && !found->second->pieces;
}

absl::StatusOr<Workspace::UploadPart> Workspace::NextPiece(uint64_t command, uint64_t offset,
                                                           uint64_t length) {
  MutexLock lock(&mu_);
  const auto found = uploads_.find(command);
  if (found == uploads_.end() || !found->second->pieces) return NoUpload(command);
  PendingUpload& upload = *found->second;
  if (offset != static_cast<uint64_t>(upload.scheduled)) {
    return MakeError(
        ErrorKind::kArgument,
        absl::StrFormat("A piece at offset %d of the upload of command %d; the next one is at %d.", offset,
                        command, upload.scheduled));
  }
  if (!InRange(offset, length, upload.target.size())) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("A piece of %d bytes at offset %d of an upload of %d.", length, offset,
                                     upload.target.size()));
  }
  upload.scheduled += static_cast<int64_t>(length);
  return UploadPart{found->second, upload.generation, upload.target.subspan(offset, length)};
}

bool Workspace::AddReceived(uint64_t command, uint64_t generation, int64_t bytes) {
  ReadyTasks ready_tasks;
  Done done;
  {
    MutexLock lock(&mu_);
    const auto found = uploads_.find(command);
    if (found == uploads_.end() || found->second->generation != generation) return false;
    if (bytes > 0) upload_deadlines_.Progress(command, devices_.clock().Now());
    const std::shared_ptr<PendingUpload> upload = found->second;
    upload->received += bytes;
    if (upload->received < static_cast<int64_t>(upload->target.size())) return true;
    absl::Status answer;
    done = SettleUpload(*upload, absl::OkStatus(), answer, ready_tasks);
  }
  if (done) done(absl::OkStatus());
  Run(ready_tasks);
  return true;
}

void Workspace::AbortTransfer(uint64_t command, uint64_t generation, const absl::Status& error) {
  ReadyTasks ready_tasks;
  Done done;
  absl::Status answer;
  {
    MutexLock lock(&mu_);
    const auto found = uploads_.find(command);
    if (found == uploads_.end() || found->second->generation != generation) return;
    const std::shared_ptr<PendingUpload> upload = found->second;
    if (error.ok()) {
      ledger_.Count(&Counters::aborted_bytes, std::exchange(upload->received, 0));
      ++upload->generation;
      return;
    }
    done = SettleUpload(*upload, error, answer, ready_tasks);
  }
  if (done) done(answer);
  Run(ready_tasks);
}

void Workspace::ExpireUploads(absl::Time now) {
  std::vector<std::pair<Done, absl::Status>> failed;
  ReadyTasks ready_tasks;
  {
    MutexLock lock(&mu_);
    for (const uint64_t command : upload_deadlines_.Late(now)) {
      const std::shared_ptr<PendingUpload> upload = uploads_.at(command);
      const absl::Status status =
          MakeError(ErrorKind::kPending,
                    absl::StrFormat("Its bytes did not come within upload_wait_us (%d): %d of %d are here.",
                                    limits_.upload_wait_us, upload->received, upload->target.size()));
      absl::Status answer;
      Done done = SettleUpload(*upload, status, answer, ready_tasks);
      if (done) failed.emplace_back(std::move(done), std::move(answer));
    }
  }
  for (auto& [done, answer] : failed) done(answer);
  Run(ready_tasks);
}

absl::Status Workspace::Download(DownloadRequest request, DownloadDone done) {
  absl::StatusOr<std::shared_ptr<Buffer>> found = absl::InternalError("not looked up");
  auto task = std::make_shared<Task>();
  ReadyTasks ready_tasks;
  {
    MutexLock lock(&mu_);
    if (closed_) return absl::OkStatus();
    found = FindBuffer(request.handle);
    if (found.ok()) {
      const std::shared_ptr<Buffer>& buffer = *found;
      DependOn(task, buffer->producer);
      AddReader(*buffer, task);
      task->ready = [self = shared_from_this(), request, buffer = *found, task, done]() mutable {
        absl::StatusOr<ReadyBytes> bytes = absl::InternalError("not read");
        const std::shared_ptr<Pin> pin = request.pin ? std::make_shared<Pin>() : nullptr;
        ReadyTasks next;
        {
          MutexLock inner(&self->mu_);
          if (self->closed_ || task->finished) return;
          self->downloads_.erase(request.command.id);
          if (buffer->consumed_by.has_value()) {
            bytes = self->Consumed(*buffer, *buffer->consumed_by);
          } else if (buffer->state == BufferState::kFailed) {
            bytes = ToStatus(*buffer->error);
          } else if (buffer->state == BufferState::kPlaceholder) {
            self->ledger_.Count(&Counters::refused_reads);
            bytes = self->PlaceholderRead(*buffer, "What is read");
          } else if (!InRange(request.offset, request.length, static_cast<uint64_t>(buffer->bytes))) {
            bytes = MakeError(ErrorKind::kArgument,
                              absl::StrFormat("A read of %d bytes at offset %d of buffer %d, which has %d.",
                                              request.length, request.offset, buffer->handle, buffer->bytes));
          } else {
            const int64_t length =
                static_cast<int64_t>(request.length == 0 ? buffer->bytes - request.offset : request.length);
            bytes =
                ReadyBytes{buffer, buffer->shape, buffer->block.data() + request.offset, length, task, pin};
            if (pin != nullptr) {
              ++buffer->pins;
              pin->workspace = self;
              pin->buffer = buffer;
            }
          }
          if (!bytes.ok() || request.pin) Finish(*task, next);
        }
        buffer.reset();  // From here on only `bytes` keeps it.
        done(std::move(bytes));
        Run(next);
      };
      Unwait(task, ready_tasks);
      if (ready_tasks.empty()) downloads_[request.command.id] = {task, done};
    }
  }
  if (!found.ok()) {
    done(found.status());
    return absl::OkStatus();
  }
  Run(ready_tasks);
  return absl::OkStatus();
}

void Workspace::Release(const ReadyBytes& bytes) {
  ReadyTasks ready_tasks;
  {
    MutexLock lock(&mu_);
    Finish(*bytes.task, ready_tasks);
  }
  Run(ready_tasks);
}

}  // namespace hlod::device

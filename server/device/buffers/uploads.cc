// The transfers and pieces that bring the bytes of uploads.
#include "server/device/buffers/uploads.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"

namespace hlod::device {
namespace {

absl::Status NoUpload(uint64_t command) {
  return NotFound("No upload of command %d is under way in this session.", command);
}

}  // namespace

Uploads::Uploads(const Limits& limits, SessionLedger& ledger)
    : limits_(limits),
      ledger_(ledger),
      staging_(limits.staging_bytes_max, "staging_bytes_max", "that are under way"),
      deadlines_(absl::Microseconds(limits.upload_wait_us), absl::Microseconds(limits.grace_us)) {}

PendingUpload* Uploads::Find(uint64_t command) const {
  const auto found = uploads_.find(command);
  return found == uploads_.end() ? nullptr : found->second.get();
}

void Uploads::Add(std::shared_ptr<PendingUpload> upload, absl::Time now) {
  const uint64_t command = upload->command.id;
  uploads_[command] = std::move(upload);
  absl::Cleanup take_back = [&] { uploads_.erase(command); };
  deadlines_.Declare(command, now);
  std::move(take_back).Cancel();
}

std::shared_ptr<PendingUpload> Uploads::Remove(uint64_t command) {
  const auto found = uploads_.find(command);
  if (found == uploads_.end()) return nullptr;
  std::shared_ptr<PendingUpload> upload = std::move(found->second);
  uploads_.erase(found);
  deadlines_.End(command);
  staging_.Release(std::exchange(upload->staged, 0));
  ++upload->generation;
  return upload;
}

std::shared_ptr<PendingUpload> Uploads::RemoveAny() {
  return uploads_.empty() ? nullptr : Remove(uploads_.begin()->first);
}

bool Uploads::ExpectsTransfer(uint64_t command) const {
  const PendingUpload* upload = Find(command);
  return upload != nullptr && !upload->pieces;
}

absl::StatusOr<UploadPart> Uploads::Claim(uint64_t command) {
  if (!ExpectsTransfer(command)) return NoUpload(command);
  Restart(command);
  const std::shared_ptr<PendingUpload>& upload = uploads_.at(command);
  return UploadPart{upload, upload->generation, upload->target};
}

void Uploads::Restart(uint64_t command) {
  PendingUpload* upload = Find(command);
  if (upload == nullptr) return;
  ledger_.Count(&Counters::aborted_bytes, std::exchange(upload->received, 0));
  ++upload->generation;
}

absl::StatusOr<UploadPart> Uploads::NextPiece(uint64_t command, uint64_t offset, uint64_t length) {
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

bool Uploads::Owns(uint64_t command, uint64_t generation) const {
  const PendingUpload* upload = Find(command);
  return upload != nullptr && upload->generation == generation;
}

Uploads::Progress Uploads::AddReceived(uint64_t command, uint64_t generation, int64_t bytes, absl::Time now) {
  if (!Owns(command, generation)) return Progress::kStale;
  if (bytes > 0) deadlines_.Progress(command, now);
  PendingUpload& upload = *Find(command);
  upload.received += bytes;
  return upload.received < static_cast<int64_t>(upload.target.size()) ? Progress::kIncomplete
                                                                      : Progress::kComplete;
}

absl::Status Uploads::LateError(uint64_t command) const {
  const PendingUpload* upload = Find(command);
  if (upload == nullptr) return NoUpload(command);
  return MakeError(ErrorKind::kPending,
                   absl::StrFormat("Its bytes did not come within upload_wait_us (%d): %d of %d are here.",
                                   limits_.upload_wait_us, upload->received, upload->target.size()));
}

}  // namespace hlod::device

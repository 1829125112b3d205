// Looks up handles, and defines handles of failed commands.
#include "server/device/session_state.h"

#include <utility>

#include "common/base/errors/status.h"

namespace hlod::device {

SessionState::SessionState(uint64_t session, Devices& devices, std::shared_ptr<MemoryShare> share,
                           std::shared_ptr<engine::AssemblyUser> assembly, LaunchClient client)
    : session(session),
      devices(devices),
      limits(devices.limits()),
      share(std::move(share)),
      assembly(std::move(assembly)),
      client(std::move(client)),
      account(std::make_shared<MemoryAccount>()),
      ledger(this->share),
      kept(KeptBudget(limits.session_bytes_max, this->share)),
      channels(limits, this->share),
      failed(devices.failed(), session),
      table(limits.reasons_kept, this->share),
      errors(limits, kept) {}

absl::StatusOr<std::shared_ptr<Buffer>> SessionState::FindBuffer(Handle handle) {
  const Entry* entry = table.Find(handle);
  if (entry == nullptr) return errors.Dead(table, handle);
  if (entry->buffer == nullptr) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("Handle %d names an executable, where a buffer is expected.", handle));
  }
  return entry->buffer;
}

absl::StatusOr<std::shared_ptr<SessionExecutable>> SessionState::FindExecutable(Handle handle) {
  const Entry* entry = table.Find(handle);
  if (entry == nullptr) return errors.Dead(table, handle);
  if (entry->executable == nullptr) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("Handle %d names a buffer, where an executable is expected.", handle));
  }
  return entry->executable;
}

absl::StatusOr<std::shared_ptr<Buffer>> SessionState::FindPlaceholder(Handle handle) {
  ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, FindBuffer(handle));
  if (buffer->state != BufferState::kPlaceholder) {
    return MakeError(
        ErrorKind::kArgument,
        absl::StrFormat("Handle %d is not a placeholder: only a placeholder can be filled.", handle));
  }
  // The answer does not depend on whether the execute has begun, which would be a matter of timing.
  if (buffer->abstract_donor.has_value()) return errors.Consumed(*buffer, *buffer->abstract_donor);
  return buffer;
}

absl::Status SessionState::CheckUsable(const Buffer& buffer) const {
  if (buffer.consumed_by.has_value()) return errors.Consumed(buffer, *buffer.consumed_by);
  if (buffer.state == BufferState::kFailed) return ToStatus(*buffer.error);
  return absl::OkStatus();
}

absl::Status SessionState::CheckHandles(int64_t more) const {
  if (more <= limits.handles_per_session_max - table.size())
    return share->Check(more * BufferTable::kHandleBytes, "A handle's definition");
  return MakeError(ErrorKind::kLimit,
                   absl::StrFormat("This session has %d live handles, and %d more are too many: the limit "
                                   "handles_per_session_max is %d.",
                                   table.size(), more, limits.handles_per_session_max));
}

void SessionState::DefineFailed(Handle handle, uint32_t device, const hlo::Shape& shape,
                                const CommandRef& command, const ErrorDetails& error) {
  // With this many handles, texts and lines are not kept, because they may have thousands of bytes each.
  std::shared_ptr<const ErrorDetails> kept =
      table.size() >= limits.reasons_kept ? errors.KeepShort(error) : errors.Keep(error);
  if (table.size() >= limits.handles_per_session_max) {
    table.RecordDeath(handle, {error.kind, command, std::move(kept)});
    return;
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->handle = handle;
  buffer->device = device;
  // A tuple cannot be a buffer, and its elements could be as large as a message.
  if (!shape.IsTuple()) buffer->shape = shape;
  buffer->made_by = command;
  buffer->state = BufferState::kFailed;
  buffer->error = std::move(kept);
  table.Put(handle, {std::move(buffer), nullptr});
}

}  // namespace hlod::device

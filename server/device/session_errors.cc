// Lines of the program and the texts of errors.
#include "server/device/session_errors.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"

namespace hlod::device {
namespace {

constexpr size_t kProgramNameMax = 1024;  // The length beyond which paths and function names are truncated.
// The number of lines, more than ordinary programs have, beyond which lines are truncated to kShortNameMax.
constexpr size_t kOriginsInFull = 16384;
constexpr size_t kShortNameMax = 128;
constexpr size_t kErrorTextMax = 4096;  // The length beyond which messages are truncated.
// The maximum number of handles that an out-of-memory error examines: a session may have a million handles,
// and get such an error for each of as many commands.
constexpr size_t kLookedAtMax = 1000;

int64_t BytesOf(const Origin& origin) {
  return static_cast<int64_t>(sizeof(Origin) + origin.file.size() + origin.function.size());
}

int64_t BytesOf(const ErrorDetails& error) {
  return static_cast<int64_t>(sizeof(ErrorDetails) + error.shape.size() + error.text.size()) +
         BytesOf(error.origin) + BytesOf(error.root_origin);
}

}  // namespace

std::shared_ptr<ByteBudget> KeptBudget(int64_t max, std::shared_ptr<MemoryShare> share) {
  return std::make_shared<ByteBudget>(max, "session_bytes_max",
                                      "of programs, lines and errors that are kept for this session",
                                      std::move(share));
}

std::string ShapeText(const hlo::Shape& shape) {
  std::string text = ToStringNoLayout(shape);
  ClipWithDots(text, kProgramNameMax);
  return text;
}

Violation SessionErrors::DefineOrigin(uint32_t id, Origin origin, absl::Status& refused, std::string name) {
  if (id != last_origin_ + 1)
    return Violation(absl::StrFormat("Origin %d is not the one after the last (%d).", id, last_origin_));
  last_origin_ = id;
  if (static_cast<int64_t>(origins_.size()) >= limits_.origins_per_session_max) {
    refused = MakeError(ErrorKind::kLimit,
                        absl::StrFormat("Source line %d is one too many: the limit origins_per_session_max "
                                        "is %d.",
                                        id, limits_.origins_per_session_max));
    return Violation();
  }
  const size_t name_max = origins_.size() < kOriginsInFull ? kProgramNameMax : kShortNameMax;
  // Copies, because a clipped string keeps its memory.
  origin.file = std::string(ClipUtf8(origin.file, name_max));
  origin.function = std::string(ClipUtf8(origin.function, name_max));
  if (origins_.size() + 1 < id) {
    refused =
        MakeError(ErrorKind::kLimit,
                  absl::StrFormat("Source line %d is not kept, as those since line %d are not: the limit "
                                  "session_bytes_max is %d.",
                                  id, origins_.size() + 1, limits_.session_bytes_max));
    return Violation();
  }
  name = std::string(ClipUtf8(name, name_max));
  refused = kept_->Reserve(BytesOf(origin) + static_cast<int64_t>(name.size()), "A source line");
  if (!refused.ok()) return Violation();
  origins_.push_back(std::move(origin));
  if (!name.empty()) names_.emplace(id, std::move(name));
  return Violation();
}

std::string SessionErrors::NameOf(uint32_t id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? "" : found->second;
}

Origin SessionErrors::OriginOf(uint32_t id) const {
  return id == 0 || id > origins_.size() ? Origin{} : origins_[id - 1];
}

ErrorDetails SessionErrors::Root(std::string_view what, const absl::Status& status,
                                 const CommandRef& command) const {
  ErrorDetails error = ErrorOf(status);
  ClipWithDots(error.shape, kProgramNameMax);
  ClipWithDots(error.text, kErrorTextMax);
  if (error.root_command != 0) return error;  // The root cause is an earlier error.
  if (error.kind == ErrorKind::kNone) error.kind = ErrorKind::kFailed;
  error.root_command = command.id;
  error.root_origin = OriginOf(command.origin);
  error.text =
      absl::StrFormat("%s failed: %s (command %d, %s)", what, error.text, command.id, Line(command.origin));
  return error;
}

std::shared_ptr<const ErrorDetails> SessionErrors::Keep(ErrorDetails error) const {
  absl::StatusOr<ByteCharge> charge = ByteCharge::Take(kept_, BytesOf(error), "An error");
  if (!charge.ok()) return KeepShort(error);
  struct Kept {
    ErrorDetails error;
    ByteCharge charge;
  };
  const auto kept = std::make_shared<const Kept>(Kept{std::move(error), *std::move(charge)});
  return {kept, &kept->error};
}

std::shared_ptr<const ErrorDetails> SessionErrors::KeepShort(const ErrorDetails& error) const {
  ErrorDetails kept{.code = error.code, .kind = error.kind, .root_command = error.root_command};
  kept.text = absl::StrFormat("Command %d failed; it was answered why.", error.root_command);
  return std::make_shared<const ErrorDetails>(std::move(kept));
}

absl::Status SessionErrors::Dead(const BufferTable& table, Handle handle) const {
  const DeadReason* reason = table.Reason(handle);
  ErrorDetails error;
  error.handle = handle;
  if (reason == nullptr) {
    error.kind = ErrorKind::kUnknownHandle;
    error.text = handle > table.last() ? absl::StrFormat("This session has no handle %d.", handle)
                                       : absl::StrFormat("This session has no handle %d any more.", handle);
    return ToStatus(std::move(error));
  }
  if (reason->error != nullptr) return ToStatus(*reason->error);
  error.kind = reason->kind;
  error.root_command = reason->by.id;
  error.root_origin = OriginOf(reason->by.origin);
  const std::string line = Line(reason->by.origin);
  error.text = reason->kind == ErrorKind::kDonated
                   ? absl::StrFormat("Buffer %d was donated to an execute (command %d, %s).", handle,
                                     reason->by.id, line)
                   : absl::StrFormat("Handle %d was freed (command %d, %s).", handle, reason->by.id, line);
  return ToStatus(std::move(error));
}

absl::Status SessionErrors::Consumed(const Buffer& buffer, const CommandRef& by) const {
  ErrorDetails error;
  error.kind = ErrorKind::kDonated;
  error.handle = buffer.handle;
  error.shape = ShapeText(buffer.shape);
  error.origin = OriginOf(buffer.made_by.origin);
  error.root_command = by.id;
  error.root_origin = OriginOf(by.origin);
  error.text = absl::StrFormat("Buffer %d was donated to an execute (command %d, %s).", buffer.handle, by.id,
                               Line(by.origin));
  return ToStatus(std::move(error));
}

absl::Status SessionErrors::PlaceholderRead(const Buffer& buffer, std::string_view what) const {
  ErrorDetails error;
  error.kind = ErrorKind::kPlaceholder;
  error.handle = buffer.handle;
  error.shape = ShapeText(buffer.shape);
  error.origin = OriginOf(buffer.made_by.origin);
  error.text = absl::StrFormat("%s is a placeholder (handle %d, %s, made at %s): it has no value.", what,
                               buffer.handle, error.shape, Line(buffer.made_by.origin));
  return ToStatus(std::move(error));
}

absl::Status SessionErrors::WithLargestBuffers(absl::Status status, const BufferTable& table) const {
  if (KindOf(status) != ErrorKind::kNoMemory) return status;
  std::vector<const Buffer*> largest;
  size_t looked_at = 0;
  for (const auto& [handle, entry] : table.live()) {
    if (++looked_at > kLookedAtMax) break;
    if (entry.buffer != nullptr && entry.buffer->block.bytes() > 0) largest.push_back(entry.buffer.get());
  }
  const size_t shown = std::min<size_t>(3, largest.size());
  std::partial_sort(largest.begin(), largest.begin() + shown, largest.end(),
                    [](const Buffer* a, const Buffer* b) {
                      return a->block.bytes() != b->block.bytes() ? a->block.bytes() > b->block.bytes()
                                                                  : a->handle < b->handle;
                    });
  ErrorDetails error = ErrorOf(status);
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppend(
        &error.text,
        i > 0                      ? ", "
        : looked_at > kLookedAtMax ? " Buffers of this session: "
                                   : " This session's largest buffers: ",
        absl::StrFormat("handle %d, %s, %d bytes (%s)", largest[i]->handle, ShapeText(largest[i]->shape),
                        largest[i]->block.bytes(), Line(largest[i]->made_by.origin)));
  }
  if (shown < largest.size()) {
    int64_t rest = 0;
    for (size_t i = shown; i < largest.size(); ++i) rest += largest[i]->block.bytes();
    absl::StrAppend(&error.text, looked_at > kLookedAtMax ? ", and at least " : ", and ",
                    absl::StrFormat("%d more of %d bytes", largest.size() - shown, rest));
  }
  if (shown > 0) error.text += '.';
  return ToStatus(std::move(error));
}

}  // namespace hlod::device

// Reads numbers of variable length, counts, indices and parts.
#include "client/import/bytecode/stream.h"

#include <bit>

namespace hlod::stablehlo::bytecode {

absl::Status Stream::ErrorAt(size_t position, const absl::Status& status) const {
  // The limit on names in a message, which come from the artifact and may have any length.
  constexpr size_t kLongest = 400;
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrFormat("byte %d, section %s: %s", position, section_,
                                                     status.message().substr(0, kLongest)));
}

absl::StatusOr<uint8_t> Stream::Byte() {
  if (AtEnd()) return Error("the section ends here; expected a byte");
  return static_cast<uint8_t>(bytes_[at_++]);
}

absl::StatusOr<uint64_t> Stream::Number() {
  if (AtEnd()) return Error("the section ends here; expected a number");
  const uint8_t first = static_cast<uint8_t>(bytes_[at_]);
  const size_t more = first == 0 ? 8 : static_cast<size_t>(std::countr_zero(first));
  if (left() < more + 1)
    return Error("expected a number of %d bytes, but only %d are left", more + 1, left());
  uint64_t value = 0;
  for (size_t i = first == 0 ? 1 : 0; i <= more; ++i) {
    value |= uint64_t{static_cast<uint8_t>(bytes_[at_ + i])} << (8 * (first == 0 ? i - 1 : i));
  }
  at_ += more + 1;
  return first == 0 ? value : value >> (more + 1);
}

absl::StatusOr<int64_t> Stream::Signed() {
  ASSIGN_OR_RETURN(const uint64_t value, Number());
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

absl::StatusOr<Stream::Flagged> Stream::NumberAndFlag() {
  ASSIGN_OR_RETURN(const uint64_t value, Number());
  return Flagged{.value = value >> 1, .flag = (value & 1) != 0};
}

absl::StatusOr<size_t> Stream::Count(std::string_view what) {
  ASSIGN_OR_RETURN(const uint64_t count, Number());
  RETURN_IF_ERROR(CheckCount(count, what));
  return static_cast<size_t>(count);
}

absl::Status Stream::CheckCount(uint64_t count, std::string_view what) const {
  if (count <= left()) return absl::OkStatus();
  return Error("the section states %d %s, but has only %d bytes left", count, what, left());
}

absl::StatusOr<size_t> Stream::Index(size_t size, std::string_view what) {
  const Stream before = *this;
  ASSIGN_OR_RETURN(const uint64_t index, Number());
  RETURN_IF_ERROR(before.CheckIndex(index, size, what));
  return static_cast<size_t>(index);
}

absl::Status Stream::CheckIndex(uint64_t index, size_t size, std::string_view what) const {
  if (index < size) return absl::OkStatus();
  return Error("%s %d does not exist; there are %d", what, index, size);
}

absl::StatusOr<std::string_view> Stream::Bytes(uint64_t count, std::string_view what) {
  if (count > left()) return Error("%s takes %d bytes, but only %d are left", what, count, left());
  const std::string_view bytes = bytes_.substr(at_, count);
  at_ += count;
  return bytes;
}

absl::StatusOr<std::string_view> Stream::NullTerminated(std::string_view what) {
  const size_t end = bytes_.find('\0', at_);
  if (end == std::string_view::npos) return Error("%s does not end with a byte 0", what);
  const std::string_view text = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return text;
}

absl::StatusOr<Stream> Stream::Part(uint64_t count, std::string_view section) {
  const size_t at = position();
  ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(count, section));
  return Stream(bytes, at, section);
}

absl::Status Stream::End(std::string_view what) const {
  if (AtEnd()) return absl::OkStatus();
  return Error("%d bytes are left over after %s", left(), what);
}

}  // namespace hlod::stablehlo::bytecode

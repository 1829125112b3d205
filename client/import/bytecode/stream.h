// Reads the bytes of an artifact, or of a part of it. Every count and index is checked before it is used.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/errors/status.h"

namespace hlod::stablehlo::bytecode {

// Reads one part, front to back. The bytes must outlive it.
class Stream {
 public:
  Stream() = default;
  // `begin` is the offset of `bytes` in the artifact. `section` names them in errors and must outlive the
  // stream.
  Stream(std::string_view bytes, size_t begin, std::string_view section)
      : bytes_(bytes), begin_(begin), section_(section) {}

  size_t left() const { return bytes_.size() - at_; }
  bool AtEnd() const { return left() == 0; }
  // Returns the offset of the next byte in the artifact.
  size_t position() const { return begin_ + at_; }

  absl::StatusOr<uint8_t> Byte();
  // Reads a number of 1 to 9 bytes: the trailing zero bits of the first byte say how many follow.
  absl::StatusOr<uint64_t> Number();
  // Reads a number whose last bit is its sign.
  absl::StatusOr<int64_t> Signed();
  // Reads a number whose last bit is a flag.
  struct Flagged {
    uint64_t value = 0;
    bool flag = false;
  };
  absl::StatusOr<Flagged> NumberAndFlag();
  // Reads the number of items that follow, and checks it: each item has at least one byte. `what` names them.
  absl::StatusOr<size_t> Count(std::string_view what);
  absl::Status CheckCount(uint64_t count, std::string_view what) const;
  // Reads an index below `size`. `what` names the indexed things in errors.
  absl::StatusOr<size_t> Index(size_t size, std::string_view what);
  absl::Status CheckIndex(uint64_t index, size_t size, std::string_view what) const;
  absl::StatusOr<std::string_view> Bytes(uint64_t count, std::string_view what);
  absl::StatusOr<std::string_view> NullTerminated(std::string_view what);
  // Returns the next `count` bytes as a stream.
  absl::StatusOr<Stream> Part(uint64_t count, std::string_view section);
  // Returns an error unless everything was read.
  absl::Status End(std::string_view what) const;

  // An error such as "byte 17, section Dialect: ...".
  template <typename... Args>
  absl::Status Error(const absl::FormatSpec<Args...>& format, const Args&... args) const {
    return ErrorAt(position(), absl::InvalidArgumentError(absl::StrFormat(format, args...)));
  }
  // An error for well-formed input that is not supported.
  template <typename... Args>
  absl::Status Refused(const absl::FormatSpec<Args...>& format, const Args&... args) const {
    return ErrorAt(position(), absl::UnimplementedError(absl::StrFormat(format, args...)));
  }
  absl::Status ErrorAt(size_t position, const absl::Status& status) const;

 private:
  std::string_view bytes_;
  size_t begin_ = 0, at_ = 0;
  std::string_view section_;
};

}  // namespace hlod::stablehlo::bytecode

// Uses file descriptors, because streams do not report why something failed, and read a folder as an empty
// file.
#include "common/base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/ascii.h"
#include "common/base/errors/status.h"

namespace hlod {
namespace {

constexpr size_t kPiece = 1 << 16;

// Returns the error for `error`, an errno. `done` is "read" or "written".
absl::Status Failed(const std::string& path, const char* done, int error) {
  const std::string text = absl::StrFormat("File %s cannot be %s: %s.", path, done, std::strerror(error));
  switch (error) {
    case ENOENT: return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS: return absl::PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT: return absl::ResourceExhaustedError(text);
    default: return absl::InvalidArgumentError(text);
  }
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed(path, "read", errno);
  std::string bytes;
  int error = 0;
  for (;;) {
    const size_t size = bytes.size();
    bytes.resize(size + kPiece);
    const ssize_t n = read(fd, bytes.data() + size, kPiece);
    bytes.resize(size + static_cast<size_t>(n > 0 ? n : 0));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n <= 0) break;
  }
  close(fd);
  if (error != 0) return Failed(path, "read", error);
  return bytes;
}

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  struct stat file = {};
  // Opening a pipe for reading would block, and a device may have no end.
  if (stat(path.c_str(), &file) == 0 && !S_ISREG(file.st_mode))
    return InvalidArgument("%s holds a secret, and is not a regular file.", path);
  constexpr off_t kSecretBytesMax = 1 << 20;
  if (file.st_size > kSecretBytesMax)
    return InvalidArgument("File %s holds a secret, and has %d bytes; the limit is %d.", path, file.st_size,
                           kSecretBytesMax);
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if ((file.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    return InvalidArgument(
        "File %s holds a secret, and its mode is %04o: others than its owner may %s it; "
        "`chmod 600` it, or 640 for a group that may read it.",
        path, static_cast<int>(file.st_mode & 07777),
        (file.st_mode & (S_IWGRP | S_IWOTH)) != 0 ? "write" : "read");
  }
  std::string text(absl::StripAsciiWhitespace(bytes));
  if (text.empty()) return InvalidArgument("The file %s is empty.", path);
  return text;
}

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Failed(path, "written", errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(fd) != 0 && error == 0) error = errno;
  return error == 0 ? absl::OkStatus() : Failed(path, "written", error);
}

}  // namespace hlod

// Folders that are locked as long as their process lives.
#include "common/base/system/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/errors/status.h"

namespace hlod {
namespace {

constexpr char kPattern[] = "XXXXXX";
constexpr int kAttempts = 100;

// Opens and locks the folder. Returns -1 when another process has locked it, when it belongs to another user,
// or when it is gone.
int OpenLocked(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat opened = {}, named = {};
  const bool ours = fstat(fd, &opened) == 0 && opened.st_uid == geteuid() &&
                    flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                    // The path still names this folder: it was not removed before it was locked.
                    lstat(path.c_str(), &named) == 0 && named.st_ino == opened.st_ino;
  if (ours) return fd;
  close(fd);
  return -1;
}

void RemoveLeftBehind(const std::filesystem::path& parent, const std::string& start) {
  std::error_code error, ignored;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() != start.size() + std::strlen(kPattern) || !name.starts_with(start)) continue;
    const int fd = OpenLocked(entry->path().string());
    if (fd < 0) continue;
    std::filesystem::remove_all(entry->path(), ignored);
    close(fd);
  }
}

}  // namespace

absl::StatusOr<TemporaryFolder> TemporaryFolder::Make(std::string_view prefix) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return Unavailable("No temporary folder: $TMPDIR: %s.", error.message());
  const std::string start = std::string(prefix) + "-";
  RemoveLeftBehind(parent, start);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string path = (parent / (start + kPattern)).string();
    if (mkdtemp(path.data()) == nullptr)
      return Unavailable("No temporary folder (%s): %s.", path, std::strerror(errno));
    // Until the folder is locked, another process may think that it was left behind and remove it.
    if (const int fd = OpenLocked(path); fd >= 0) return TemporaryFolder(std::move(path), fd, getpid());
    rmdir(path.c_str());
  }
  return Unavailable("No temporary folder in %s: none of %d could be locked.", parent.string(), kAttempts);
}

TemporaryFolder::TemporaryFolder(std::string path, int fd, pid_t owner)
    : path_(std::move(path)), fd_(fd), owner_(owner) {}
TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), fd_(std::exchange(other.fd_, -1)), owner_(other.owner_) {}
TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(owner_, other.owner_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty() && owner_ == getpid()) std::filesystem::remove_all(path_, ignored);
  if (fd_ >= 0) close(fd_);
}

}  // namespace hlod

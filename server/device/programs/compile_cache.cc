// The files in a folder, accessed by its descriptor. The layout of a file: Header, key, optimised module.
#include "server/device/programs/compile_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/status.h"
#include "common/base/sha256.h"

namespace hlod::device {
namespace {

constexpr char kMagic[8] = {'h', 'l', 'o', 'd', 'c', 'c', '0', '1'};
constexpr std::string_view kSuffix = ".hlo", kUnfinishedSuffix = ".tmp";
// The age from which on a file that was begun is assumed not to be written any more.
constexpr int64_t kUnfinishedSeconds = 3600;
constexpr int64_t kStoresBetweenCounts = 64;

struct Header {
  char magic[sizeof(kMagic)];
  uint64_t key_bytes, module_bytes;
  Digest checksum;  // The checksum over the key and the module.
};

Digest Checksum(std::string_view key, std::string_view module) {
  const Digest of_module = Sha256(module);
  return Sha256(std::string(key) + std::string(of_module.begin(), of_module.end()));
}

// Returns an error unless only this user can have written the file (and read it, if `forbidden` includes
// that).
absl::Status CheckOwn(const struct stat& file, mode_t forbidden) {
  if (file.st_uid != geteuid()) {
    return FailedPrecondition("it belongs to user %d, and this daemon runs as user %d", file.st_uid,
                              geteuid());
  }
  if ((file.st_mode & forbidden) != 0)
    return FailedPrecondition("its mode %04o lets other users in: chmod go= it", file.st_mode & 07777);
  return absl::OkStatus();
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "writing");
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompileCache>> CompileCache::Open(Options options) {
  const std::string& path = options.directory;
  const auto failed = [&path](std::string_view why) {
    return FailedPrecondition("The folder %s cannot keep compiled programs: %s.", path, why);
  };
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed(std::strerror(errno));
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return failed(std::strerror(errno));
  std::unique_ptr<CompileCache> cache(new CompileCache(std::move(options), folder));
  struct stat file = {};
  if (fstat(folder, &file) != 0) return failed(std::strerror(errno));
  if (const absl::Status own = CheckOwn(file, 077); !own.ok()) {
    return FailedPrecondition("The folder %s cannot keep compiled programs: %s.", cache->options_.directory,
                              FromAbsl(own.message()));
  }
  return cache;
}

CompileCache::~CompileCache() { close(folder_); }

CompileCache::Key CompileCache::KeyOf(std::string_view module) const {
  Key key;
  key.text = absl::StrCat(options_.build, "\n", options_.cpu, "\n", ToHex(Sha256(module)), "\n");
  key.file = absl::StrCat(ToHex(Sha256(key.text)), ToAbsl(kSuffix));
  return key;
}

std::string CompileCache::PathOf(std::string_view file) const {
  return absl::StrCat(options_.directory, "/", ToAbsl(file));
}

std::optional<std::string> CompileCache::Find(const Key& key) {
  const int fd = openat(folder_, key.file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT) Reject(key, absl::ErrnoToStatus(errno, "opening it"));
    return std::nullopt;
  }
  const absl::Cleanup close_it = [fd] { close(fd); };
  absl::StatusOr<std::string> optimised = Read(key, fd);
  if (!optimised.ok()) {
    Reject(key, optimised.status());
    return std::nullopt;
  }
  futimens(fd, nullptr);  // Records that the file was just used.
  return *std::move(optimised);
}

absl::StatusOr<std::string> CompileCache::Read(const Key& key, int fd) const {
  struct stat file = {};
  if (fstat(fd, &file) != 0) return absl::ErrnoToStatus(errno, "looking at it");
  if (!S_ISREG(file.st_mode)) return FailedPrecondition("it is not a file");
  RETURN_IF_ERROR(CheckOwn(file, 022));
  const auto size = static_cast<uint64_t>(file.st_size);
  Header header;
  if (size < sizeof(header) || size > INT32_MAX) return DataLoss("it has %d bytes", size);
  std::string bytes(size, '\0');
  for (size_t at = 0; at < size;) {
    const ssize_t n = pread(fd, bytes.data() + at, size - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::ErrnoToStatus(errno, "reading it");
    if (n == 0) return DataLoss("it ends after %d of %d bytes", at, size);
    at += static_cast<size_t>(n);
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  const uint64_t rest = size - sizeof(header);
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return DataLoss("it does not begin as one");
  if (header.key_bytes > rest || header.module_bytes != rest - header.key_bytes) {
    return DataLoss("it has %d bytes instead of %d", rest, header.key_bytes + header.module_bytes);
  }
  const std::string_view all = bytes, text = all.substr(sizeof(header), header.key_bytes),
                         module = all.substr(sizeof(header) + header.key_bytes);
  if (Checksum(text, module) != header.checksum) return DataLoss("its checksum is wrong");
  if (text != key.text) return DataLoss("it holds another program");
  bytes.erase(0, sizeof(header) + header.key_bytes);
  return bytes;
}

void CompileCache::Reject(const Key& key, const absl::Status& why) {
  spdlog::warn("The compiled program in {} cannot be used ({}): it is compiled again.", PathOf(key.file),
               std::string(why.message()));
  unlinkat(folder_, key.file.c_str(), 0);
}

void CompileCache::Store(const Key& key, std::string_view optimised) {
  const auto bytes = static_cast<int64_t>(sizeof(Header) + key.text.size() + optimised.size());
  if (bytes > options_.bytes_max) return;
  const absl::Status written = Write(key, optimised);
  MutexLock lock(&mu_);
  if (!written.ok()) {
    if (!std::exchange(warned_, true)) {
      spdlog::warn("Compiled programs cannot be kept in {}: {}.", options_.directory,
                   std::string(written.message()));
    }
    return;
  }
  bytes_ += bytes;
  if (--stores_until_count_ < 0 || bytes_ > options_.bytes_max) Collect();
}

absl::Status CompileCache::Write(const Key& key, std::string_view optimised) {
  thread_local std::random_device random;
  const std::string name =
      absl::StrFormat("%d-%08x%08x%s", getpid(), random(), random(), ToAbsl(kUnfinishedSuffix));
  const int fd = openat(folder_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, name);
  Header header = {.key_bytes = key.text.size(),
                   .module_bytes = optimised.size(),
                   .checksum = Checksum(key.text, optimised)};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  absl::Status status = WriteAll(fd, {reinterpret_cast<const char*>(&header), sizeof(header)});
  if (status.ok()) status = WriteAll(fd, key.text);
  if (status.ok()) status = WriteAll(fd, optimised);
  if (close(fd) != 0 && status.ok()) status = absl::ErrnoToStatus(errno, "closing");
  if (status.ok() && renameat(folder_, name.c_str(), folder_, key.file.c_str()) != 0)
    status = absl::ErrnoToStatus(errno, "renaming");
  if (!status.ok()) unlinkat(folder_, name.c_str(), 0);
  return status;
}

void CompileCache::Collect() {
  struct File {
    timespec used;
    int64_t bytes;
    std::string name;
  };
  std::vector<File> files;
  // Opens a new descriptor, because reading a folder moves the position of the descriptor.
  const int fd = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const folder = fd < 0 ? nullptr : fdopendir(fd);
  if (folder == nullptr) {
    if (fd >= 0) close(fd);
    return;
  }
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  bytes_ = 0;
  while (const dirent* const entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    const bool unfinished = name.ends_with(kUnfinishedSuffix);
    struct stat file = {};
    if (!unfinished && !name.ends_with(kSuffix)) continue;
    if (fstatat(folder_, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (unfinished && file.st_mtim.tv_sec < now.tv_sec - kUnfinishedSeconds) {
      unlinkat(folder_, entry->d_name, 0);
      continue;
    }
    bytes_ += file.st_size;
    if (!unfinished) files.push_back({file.st_mtim, file.st_size, std::string(name)});
  }
  closedir(folder);
  stores_until_count_ = kStoresBetweenCounts;
  if (bytes_ <= options_.bytes_max) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  // Leaves some room, so that the next store does not count the files again.
  const int64_t enough = options_.bytes_max - options_.bytes_max / 8;
  for (const File& file : files) {
    if (bytes_ <= enough) break;
    if (unlinkat(folder_, file.name.c_str(), 0) == 0) bytes_ -= file.bytes;
  }
}

}  // namespace hlod::device

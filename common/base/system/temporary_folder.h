// A folder for one process's files, removed with the object. If its process is killed, it is removed when
// another folder with the same prefix is made.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod {

class TemporaryFolder {
 public:
  // Makes "PREFIX-XXXXXX" in $TMPDIR or /tmp, for this user alone. UNAVAILABLE when it cannot.
  static absl::StatusOr<TemporaryFolder> Make(std::string_view prefix);

  TemporaryFolder() = default;  // Holds no folder.
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  // Removes the folder with its contents. Does nothing in a forked child, because the folder is its parent's.
  ~TemporaryFolder();

  const std::string& path() const { return path_; }  // Empty when the object has no folder.

 private:
  TemporaryFolder(std::string path, int fd, pid_t owner);

  std::string path_;
  int fd_ = -1;  // The lock. A folder that is not locked by a living process was left behind.
  pid_t owner_ = 0;
};

}  // namespace hlod

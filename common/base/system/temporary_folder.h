// A folder for one process's files, removed with the object. A folder whose process was killed is removed
// when the next one with the same prefix is made.
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

  const std::string& path() const { return path_; }  // Empty without a folder.

 private:
  TemporaryFolder(std::string path, int fd, pid_t owner);

  std::string path_;
  int fd_ = -1;  // Locked. A folder that no living process has locked was left behind.
  pid_t owner_ = 0;
};

}  // namespace hlod

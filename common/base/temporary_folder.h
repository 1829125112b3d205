// A folder for one process's files, gone with the object. One that was left behind, because its process was
// killed, goes when the next with the same prefix is made.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod {

class TemporaryFolder {
 public:
  // "PREFIX-XXXXXX" in $TMPDIR or /tmp, for this user alone. UNAVAILABLE when that cannot be.
  static absl::StatusOr<TemporaryFolder> Make(std::string_view prefix);

  TemporaryFolder() = default;  // None.
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  // Removes it with all that is in it; not in a forked child, whose parent's it is.
  ~TemporaryFolder();

  const std::string& path() const { return path_; }  // Empty: none.

 private:
  TemporaryFolder(std::string path, int fd, pid_t owner);

  std::string path_;
  int fd_ = -1;  // Locked: what no living process has locked was left behind.
  pid_t owner_ = 0;
};

}  // namespace hlod

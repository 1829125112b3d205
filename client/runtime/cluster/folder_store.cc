// A store of files: each value is written under another name and then gets its own, so that no process reads
// a part of it.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "common/base/errors/status.h"
#include "hlod/runtime/group.h"

namespace hlod {
namespace {

constexpr absl::Duration kLookPause = absl::Milliseconds(20);

// Returns the file of a key, which may have any characters.
std::string FileOf(const std::string& folder, const std::string& key) {
  return folder + "/" + absl::WebSafeBase64Escape(key);
}

}  // namespace

absl::Status FolderStore::Put(const std::string& key, const std::string& value) {
  const std::string file = FileOf(folder_, key), draft = file + "." + std::to_string(getpid());
  std::ofstream out(draft, std::ios::binary);
  out << value;
  out.close();
  if (!out) {
    unlink(draft.c_str());
    return Unavailable("The value of the key \"%s\" cannot be written to the folder %s.", key, folder_);
  }
  // Unlike a rename, a link does not replace what another process has written.
  const int linked = link(draft.c_str(), file.c_str());
  const int error = errno;
  unlink(draft.c_str());
  if (linked == 0) return absl::OkStatus();
  if (error == EEXIST)
    return absl::AlreadyExistsError(absl::StrFormat("The key \"%s\" has a value in %s.", key, folder_));
  return Unavailable("The key \"%s\" cannot be written to the folder %s: %s.", key, folder_,
                     std::strerror(error));
}

absl::StatusOr<std::string> FolderStore::Get(const std::string& key, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    if (std::ifstream file(FileOf(folder_, key), std::ios::binary); file)
      return std::string(std::istreambuf_iterator<char>(file), {});
    if (absl::Now() >= deadline)
      return absl::DeadlineExceededError(absl::StrFormat("The key \"%s\" has no value in %s.", key, folder_));
    absl::SleepFor(kLookPause);
  }
}

}  // namespace hlod

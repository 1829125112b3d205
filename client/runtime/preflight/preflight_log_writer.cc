// Appends events to a file.
#include "client/runtime/preflight/preflight_log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/errors/status.h"

namespace hlod::runtime {

PreflightLogWriter::~PreflightLogWriter() {
  if (file_ >= 0) close(file_);
}

absl::Status PreflightLogWriter::Open(const std::string& folder) {
  std::string path = absl::StrCat(folder, "/", getpid(), "-XXXXXX");
  file_ = mkostemp(path.data(), O_CLOEXEC | O_APPEND);
  if (file_ >= 0) return absl::OkStatus();
  return Unavailable("No record can be written in the folder %s: %s.", folder, std::strerror(errno));
}

void PreflightLogWriter::Write(const v1::PreflightEvent& event) {
  if (file_ < 0) return;
  std::string bytes(4, '\0');
  if (!event.AppendToString(&bytes)) return;
  const auto length = static_cast<uint32_t>(bytes.size() - 4);
  for (int i = 0; i < 4; ++i) bytes[static_cast<size_t>(i)] = static_cast<char>(length >> (8 * i));
  const absl::MutexLock lock(&mu_);
  for (size_t done = 0; done < bytes.size() && !failed_;) {
    const ssize_t written = write(file_, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    failed_ = written <= 0;
    done += static_cast<size_t>(std::max<ssize_t>(written, 0));
  }
}

}  // namespace hlod::runtime

// Writes the preflight record of an abstract session (proto/hlod/v1/preflight_log.proto).
#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/hlod/v1/preflight_log.pb.h"

namespace hlod::runtime {

// A file to which each event is appended at once, so that the file is valid however the process ends.
// Thread-safe; does not call other code while it holds its lock.
class PreflightLogWriter {
 public:
  PreflightLogWriter() = default;  // Discards events until Open().
  ~PreflightLogWriter();
  PreflightLogWriter(const PreflightLogWriter&) = delete;
  PreflightLogWriter& operator=(const PreflightLogWriter&) = delete;

  // Creates a new file in `folder`.
  absl::Status Open(const std::string& folder);
  bool is_open() const { return file_ >= 0; }
  void Write(const v1::PreflightEvent& event);

 private:
  int file_ = -1;  // Constant after Open.
  absl::Mutex mu_;
  // True after a failed write, which a reader could not read past.
  bool failed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hlod::runtime

// Writes the preflight record of an abstract session (proto/hlod/v1/record.proto).
#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/hlod/v1/record.pb.h"

namespace hlod::internal {

// A file to which each event is appended at once, so that the file stays valid however the process ends.
// Thread-safe; calls nothing while it holds its lock.
class Recorder {
 public:
  Recorder() = default;  // Discards events until Open().
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Creates a new file in `folder`.
  absl::Status Open(const std::string& folder);
  bool is_open() const { return file_ >= 0; }
  void Write(const v1::RecordEvent& event);

 private:
  int file_ = -1;  // Constant after Open.
  absl::Mutex mu_;
  bool failed_ ABSL_GUARDED_BY(mu_) = false;  // True after a failed write: a reader would not get past it.
};

}  // namespace hlod::internal

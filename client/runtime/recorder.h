// Writes the record of a session (proto/hlod/v1/record.proto).
#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/hlod/v1/record.pb.h"

namespace hlod::internal {

// A file that events are appended to, each at once, so that what was written holds however the process ends.
// Thread-safe; calls nothing while it holds its lock.
class Recorder {
 public:
  Recorder() = default;  // Writes nothing.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // A file of its own in `folder`.
  absl::Status Open(const std::string& folder);
  bool is_open() const { return file_ >= 0; }
  void Write(const v1::RecordEvent& event);

 private:
  int file_ = -1;  // Constant after Open.
  absl::Mutex mu_;
  bool failed_ ABSL_GUARDED_BY(mu_) = false;  // A write failed: what follows would not be read.
};

}  // namespace hlod::internal

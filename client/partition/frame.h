// Frames on the worker's socket, as client/python/hlod/partitioning/frames.py states them: the length of a
// JSON header (4 bytes, little-endian), that of a body (8 bytes), the header, the body.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hlod::partition {

struct Frame {
  nlohmann::json header;
  std::string body;
};

// Writes a frame to a socket. DEADLINE_EXCEEDED, or ABORTED when the other side is gone.
absl::Status WriteFrame(int socket, const Frame& frame, absl::Time deadline);
// Reads a frame. Errors as above; DATA_LOSS when the bytes are not a frame.
absl::StatusOr<Frame> ReadFrame(int socket, absl::Time deadline);

}  // namespace hlod::partition

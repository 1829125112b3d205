// The checksum at the end of each message of a session's stream (session.proto, CHECKSUMS), on gRPC's
// buffers.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace hlod::rpc {

// The size of the field `crc32c` in a message, tag and value.
inline constexpr size_t kChecksumBytes = 5;

// Writes the field `crc32c` with the CRC-32C of all preceding bytes of the message.
void WriteChecksum(uint32_t crc32c, uint8_t* to);

// Checks the messages of one stream, in order. Not thread-safe.
class ChecksumReader {
 public:
  // Returns true when the last message ended with its checksum.
  bool seen() const { return seen_; }
  // Returns DATA_LOSS when the message ends with a wrong checksum, or without one although an earlier message
  // had one. The first message may lack it; the caller knows whether that is allowed (seen()).
  absl::Status Check(const grpc::ByteBuffer& message);

 private:
  bool first_ = true, seen_ = false;
};

}  // namespace hlod::rpc

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

// Of the field `crc32c`, tag and value: what it adds to a message.
inline constexpr size_t kChecksumBytes = 5;

// Writes the field that says that the message's other bytes, all before it, have this CRC-32C.
void WriteChecksum(uint32_t crc32c, uint8_t* to);

// Looks at the messages that come on one stream, in order. Not thread-safe.
class ChecksumReader {
 public:
  // Whether the last message ended with its checksum.
  bool seen() const { return seen_; }
  // DATA_LOSS when the message ends with a checksum that does not fit, or with none although one before did.
  // The first message may have none: its reader knows whether it had to (seen()).
  absl::Status Check(const grpc::ByteBuffer& message);

 private:
  bool first_ = true, seen_ = false;
};

}  // namespace hlod::rpc

// Bulk chunks as raw gRPC byte buffers: the wire format of hlod.v1.Chunk, written and read without copying
// the payload.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/hlod/v1/bulk.pb.h"

namespace hlod::rpc {

// Returns a serialized Chunk whose data slice refers to `data`, which must stay valid until the write has
// completed.
grpc::ByteBuffer EncodeChunk(const v1::TransferId* transfer, absl::Span<const std::byte> data);
// Does the same for a slice that owns its data.
grpc::ByteBuffer EncodeChunkSlice(const v1::TransferId* transfer, const grpc::Slice& data);

// A received chunk: its header, and its payload as slices of the received buffer.
struct ReceivedChunk {
  v1::TransferId transfer;
  bool has_transfer = false;
  uint32_t crc32c = 0;
  int64_t size = 0;
};

// Parses a chunk, and copies its payload to `out` while checking the checksum. INVALID_ARGUMENT, with both
// sizes, when the payload does not fit; DATA_LOSS when the checksum is wrong. `out` is called when the size
// is known, before the first byte is copied.
absl::StatusOr<ReceivedChunk> DecodeChunk(
    grpc::ByteBuffer& buffer,
    const std::function<absl::StatusOr<absl::Span<std::byte>>(const ReceivedChunk&)>& out);

}  // namespace hlod::rpc
